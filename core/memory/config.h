#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <ebb/core/export.h>

namespace ebb::memory {

/// The settings of a caching allocator, under the names of PyTorch's.
struct EBB_API Config {
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
  static constexpr int kIntervals = 16;  ///< of sizes, from 1 MiB, each twice the one before

  /// Blocks of this size and more are never split, and serve only requests of this size and more.
  size_t max_split_size = kUnlimited;
  /// How much larger than the request a block that is not split may be.
  size_t max_non_split_rounding = size_t{20} << 20;
  /// The segment for requests above 1 MiB and below 10 MiB.
  size_t large_segment_size = size_t{20} << 20;
  /// Cached segments are freed when reserved bytes pass this share of the limit. 0: never on a
  /// device, 0.8 of the capacity on the host.
  double garbage_collection_threshold = 0;
  /// The limit on reserved bytes as a share of the device's capacity. 1: none.
  double per_process_memory_fraction = 1;
  /// Segments that grow. Accepted; the host's pages are mapped on first touch anyway.
  bool expandable_segments = false;

  /// Per interval of sizes: into how many steps each power of two is divided; 0 and 1: multiples of
  /// 512 bytes.
  std::array<size_t, kIntervals> roundup_power2_divisions{};
  bool divides_powers_of_two = false;

  /// The divisions for a request of `bytes` bytes.
  [[nodiscard]] size_t divisions(size_t bytes) const noexcept;
};

/// What a configuration string says, and what it says in vain.
struct ParsedConfig {
  Config config;
  std::vector<std::string> warnings;
};

/// Reads `key:value,key:[a:b,c:d]`, PyTorch's form and keys; blanks do not matter. Settings that
/// the string does not name stay as in `base`, but for max_split_size, the divisions and the
/// garbage-collection threshold, which go back to their defaults. A key of PyTorch that means
/// nothing here gives a warning. Throws ValueError for an unknown key, with the known ones, and for
/// a bad value, with what is allowed.
[[nodiscard]] EBB_API ParsedConfig parse_config(const std::string& text, const Config& base = {});

}  // namespace ebb::memory
