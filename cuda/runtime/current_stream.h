#pragma once

#include <ebb/cuda/runtime/api.h>
#include <ebb/core/device.h>

namespace ebb::cuda {

namespace detail {
/// The current streams of the calling thread, one per device; null is the default stream.
extern constinit thread_local cudaStream_t current_streams[kMaxDevices];
}  // namespace detail

/// The stream on which the calling thread queues work for `device` (which is not -1).
[[nodiscard]] inline cudaStream_t current_stream(DeviceIndex device) noexcept {
  return detail::current_streams[static_cast<size_t>(device)];
}

}  // namespace ebb::cuda
