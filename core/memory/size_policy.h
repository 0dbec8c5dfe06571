#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include <ebb/core/memory/config.h>

namespace ebb::memory {

/// The sizes of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp).
inline constexpr size_t kMinBlockSize = 512;             ///< sizes are multiples of this
inline constexpr size_t kSmallSize = size_t{1} << 20;    ///< the largest request of the small pool
inline constexpr size_t kSmallBuffer = size_t{2} << 20;  ///< a segment of the small pool
inline constexpr size_t kMinLargeAlloc = size_t{10} << 20;  ///< from here on a segment of its own
inline constexpr size_t kRoundLarge = size_t{2} << 20;      ///< and that is a multiple of this
inline constexpr size_t kMaxRequest = size_t{1} << 60;      ///< requests of this size never succeed

/// What a request of `bytes` bytes counts as: the next multiple of 512; zero bytes count nowhere.
[[nodiscard]] constexpr size_t rounded(size_t bytes) noexcept {
  return (bytes + kMinBlockSize - 1) & ~(kMinBlockSize - 1);
}

/// The size of the block that serves a request: rounded(bytes), or more where the configuration
/// divides powers of two (`roundup_power2_divisions`).
[[nodiscard]] inline size_t block_size(size_t bytes, const Config& config) noexcept {
  const size_t divisions = config.divides_powers_of_two ? config.divisions(bytes) : 0;
  if (divisions <= 1 || bytes <= kMinBlockSize * divisions || std::has_single_bit(bytes)) {
    return rounded(bytes);
  }
  const size_t step = std::bit_floor(bytes) / divisions;
  return rounded((bytes + step - 1) / step * step);
}

/// Whether a block of this size comes from the small pool.
[[nodiscard]] constexpr bool is_small(size_t size) noexcept { return size <= kSmallSize; }

/// The size of the segment that is taken from the device for a block of `size` bytes.
[[nodiscard]] inline size_t segment_size(size_t size, const Config& config) noexcept {
  if (is_small(size)) return kSmallBuffer;
  const size_t whole = (size + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
  return size < kMinLargeAlloc ? std::max(whole, config.large_segment_size) : whole;
}

}  // namespace ebb::memory
