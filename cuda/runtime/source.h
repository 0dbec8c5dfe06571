#pragma once

#include <atomic>

#include <ebb/core/device.h>
#include <ebb/core/memory/source.h>

namespace ebb::cuda {

/// The memory of one CUDA device, from cudaMalloc.
class DeviceSource final : public memory::MemorySource {
 public:
  explicit DeviceSource(DeviceIndex device) noexcept : device_(device) {}

  /// Null if the device has no room. Throws a CUDAError for any other fault.
  [[nodiscard]] void* allocate(size_t bytes) override;
  /// cudaFree waits for the device, so that no queued work can still use the piece.
  void free(void* data, size_t bytes) noexcept override;
  [[nodiscard]] size_t capacity() const noexcept override;
  [[nodiscard]] size_t available() const noexcept override;

 private:
  DeviceIndex device_;
  mutable std::atomic<size_t> capacity_{0};  ///< 0: not asked yet
};

/// Free and total bytes of a device as the driver sees them, other processes included. Throws a
/// CUDAError.
struct DeviceMemoryInfo {
  size_t free = 0;
  size_t total = 0;
};
[[nodiscard]] DeviceMemoryInfo device_memory_info(DeviceIndex device);

}  // namespace ebb::cuda
