#pragma once

#include <cstddef>
#include <cstdint>

#include <ebb/core/device.h>
#include <ebb/core/export.h>

namespace ebb::memory {

/// A stream of a device, as the device names it. 0 is the default stream; the host has no other.
using StreamId = uint64_t;

/// What the allocator must know of a device's streams. Work on one stream runs in order; an event
/// marks a place in a stream. Calls come under the allocator's lock.
class EBB_API Streams {
 public:
  using Event = void*;

  virtual ~Streams() = default;

  /// The stream on which work of the calling thread is queued.
  [[nodiscard]] virtual StreamId current() const noexcept = 0;
  /// An event behind all that `stream` has been given so far.
  [[nodiscard]] virtual Event record(StreamId stream) noexcept = 0;
  /// Whether the stream has passed the event.
  [[nodiscard]] virtual bool query(Event event) noexcept = 0;
  /// Blocks until the stream has passed the event.
  virtual void wait(Event event) noexcept = 0;
  /// Ends an event that was recorded.
  virtual void destroy(Event event) noexcept = 0;
};

/// What a device does to memory for those who hunt faults, in the order of the stream that the block
/// belongs to. A null pointer means: nothing.
struct MemoryHooks {
  /// Nobody may touch the range until `unpoison`. May be called for a range that is poisoned.
  void (*poison)(const void* data, size_t bytes, Device device, StreamId stream) = nullptr;
  void (*unpoison)(const void* data, size_t bytes, Device device, StreamId stream) = nullptr;
  /// Sets all bytes of the range to 0xff, which is NaN in every floating-point dtype.
  void (*fill)(void* data, size_t bytes, Device device, StreamId stream) = nullptr;
};

/// The host's hooks: AddressSanitizer's poisoning where the library is built with it.
[[nodiscard]] EBB_API MemoryHooks host_hooks() noexcept;

}  // namespace ebb::memory
