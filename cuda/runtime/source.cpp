#include <ebb/cuda/runtime/source.h>

#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>

namespace ebb::cuda {

DeviceMemoryInfo device_memory_info(DeviceIndex device) {
  const DeviceGuard guard(device);
  DeviceMemoryInfo info;
  EBB_CUDA_CHECK(cudaMemGetInfo(&info.free, &info.total));
  return info;
}

void* DeviceSource::allocate(size_t bytes) {
  const DeviceGuard guard(device_);
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (succeeded(error)) return data;
  if (error == cudaErrorMemoryAllocation) return nullptr;
  raise_cuda_error(error, {"cudaMalloc", __FILE__, __LINE__});
}

void DeviceSource::free(void* data, size_t) noexcept {
  try {
    const DeviceGuard guard(device_);
    // A second try: the first may return a fault of earlier work instead of freeing.
    if (!succeeded(cudaFree(data))) static_cast<void>(succeeded(cudaFree(data)));
  } catch (const Error&) {
    static_cast<void>(succeeded(cudaFree(data)));  // the device is known by the address
  }
}

size_t DeviceSource::capacity() const noexcept {
  size_t bytes = capacity_.load(std::memory_order_relaxed);
  if (bytes != 0) return bytes;
  try {
    bytes = device_memory_info(device_).total;
    capacity_.store(bytes, std::memory_order_relaxed);
  } catch (const Error&) {
  }
  return bytes;
}

size_t DeviceSource::available() const noexcept {
  try {
    return device_memory_info(device_).free;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace ebb::cuda
