#pragma once

#include <cstddef>

#include <ebb/core/export.h>

namespace ebb::memory {

/// Where a caching allocator gets its segments from: the memory of one device, in large pieces.
/// Calls come under the allocator's lock, one at a time per allocator.
class EBB_API MemorySource {
 public:
  virtual ~MemorySource() = default;

  /// A piece of `bytes` bytes, aligned to 512 at least, or null if there is no room. `bytes` is a
  /// multiple of 512. May throw if the device is out of order.
  [[nodiscard]] virtual void* allocate(size_t bytes) = 0;
  /// Takes back a piece of the size that it was asked with.
  virtual void free(void* data, size_t bytes) noexcept = 0;
  /// How many bytes the device can give in all.
  [[nodiscard]] virtual size_t capacity() const noexcept = 0;
  /// How many bytes the device could give now, as far as it can tell; for messages only.
  [[nodiscard]] virtual size_t available() const noexcept = 0;
};

}  // namespace ebb::memory
