#pragma once

#include <mutex>
#include <vector>

#include <ebb/cuda/runtime/api.h>
#include <ebb/core/device.h>

namespace ebb::cuda {

/// Events without timing that are used again and again, one pool per device. Thread-safe.
class EventPool {
 public:
  /// An event of `device`. Throws a CUDAError if none can be made.
  [[nodiscard]] cudaEvent_t take(DeviceIndex device);
  /// The same; null if none can be made.
  [[nodiscard]] cudaEvent_t try_take(DeviceIndex device) noexcept;
  /// Takes an event back, passed or not.
  void give(cudaEvent_t event) noexcept;

 private:
  std::mutex mutex_;
  std::vector<cudaEvent_t> spare_;
};

/// The pool of a device; never destroyed.
[[nodiscard]] EventPool& event_pool(DeviceIndex device) noexcept;

/// What `stream` is given from now on runs after all that `awaited` holds by now. Throws a CUDAError.
void wait_for_stream(DeviceIndex device, cudaStream_t stream, DeviceIndex awaited_device,
                     cudaStream_t awaited);

}  // namespace ebb::cuda
