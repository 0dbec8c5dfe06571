#pragma once

#include <ebb/core/device.h>
#include <ebb/core/memory/stream.h>
#include <ebb/cuda/runtime/api.h>

namespace ebb::cuda {

/// The streams of one device, as its caching allocator sees them. None of the calls can fail: where
/// no event can be made, the host waits for the stream instead.
class AllocatorStreams final : public memory::Streams {
 public:
  explicit AllocatorStreams(DeviceIndex device) noexcept : device_(device) {}

  [[nodiscard]] memory::StreamId current() const noexcept override;
  [[nodiscard]] Event record(memory::StreamId stream) noexcept override;
  [[nodiscard]] bool query(Event event) noexcept override;
  void wait(Event event) noexcept override;
  void destroy(Event event) noexcept override;

 private:
  DeviceIndex device_;
};

/// An event of `device` behind all that `stream` holds; null where all that has passed already.
[[nodiscard]] cudaEvent_t record_event(DeviceIndex device, cudaStream_t stream) noexcept;
/// Whether the event has passed; null has.
[[nodiscard]] bool has_passed(cudaEvent_t event) noexcept;
/// Waits for the event; null has passed.
void wait_for_event(cudaEvent_t event) noexcept;

}  // namespace ebb::cuda
