#pragma once

#include <optional>
#include <utility>

#include <ebb/cuda/runtime/stream.h>

namespace ebb::cuda {

/// A place in a stream: passed when all that the stream held at `record` is done. Made on the first
/// record, on the device of that stream. Moves, but does not copy. LibTorch's at::cuda::CUDAEvent.
class EBB_API Event {
 public:
  /// Flags, with the values of cudaEventDefault and its like.
  static constexpr unsigned kTiming = 0;
  static constexpr unsigned kBlockingSync = 1;
  static constexpr unsigned kDisableTiming = 2;

  /// Only events with kTiming know when they were passed.
  explicit Event(unsigned flags = kDisableTiming) noexcept : flags_(flags) {}
  ~Event();
  Event(Event&& other) noexcept { swap(other); }
  Event& operator=(Event&& other) noexcept {
    swap(other);
    return *this;
  }

  /// The cudaEvent_t; null before the first record.
  [[nodiscard]] EventHandle event() const noexcept { return event_; }
  operator EventHandle() const noexcept { return event_; }  // NOLINT: implicit, as in LibTorch
  [[nodiscard]] bool isCreated() const noexcept { return event_ != nullptr; }
  /// Nothing before the first record.
  [[nodiscard]] std::optional<Device> device() const noexcept {
    return isCreated() ? std::optional(Device(kCUDA, device_)) : std::nullopt;
  }
  [[nodiscard]] DeviceIndex device_index() const noexcept { return device_; }

  /// Marks the place behind all that the current stream, or `stream`, holds by now. Throws an Error
  /// for a stream of another device than before.
  void record() { record(getCurrentCUDAStream()); }
  void record(const Stream& stream);
  /// Records the first time only.
  void recordOnce(const Stream& stream);
  /// What `stream`, of any device, is given from now on runs after the event. The host does not wait.
  void block(const Stream& stream) const;
  /// Whether the event has passed; an event that was never recorded has.
  [[nodiscard]] bool query() const;
  /// Waits until the event has passed, then throws what went wrong before it, as
  /// Stream::synchronize does.
  void synchronize() const;
  /// Milliseconds from this event to `end`, which must both have passed and have kTiming.
  [[nodiscard]] float elapsed_time(const Event& end) const;

 private:
  void swap(Event& other) noexcept {
    std::swap(flags_, other.flags_);
    std::swap(device_, other.device_);
    std::swap(recorded_, other.recorded_);
    std::swap(event_, other.event_);
  }

  unsigned flags_ = kDisableTiming;
  DeviceIndex device_ = -1;
  bool recorded_ = false;
  EventHandle event_ = nullptr;
};

/// LibTorch's name.
using CUDAEvent = Event;

}  // namespace ebb::cuda
