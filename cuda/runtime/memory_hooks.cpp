#include <ebb/cuda/runtime/memory_hooks.h>

#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>

namespace ebb::cuda {

memory::MemoryHooks memory_hooks() noexcept {
  memory::MemoryHooks hooks;
  hooks.fill = [](void* data, size_t bytes, Device device, memory::StreamId stream) {
    try {
      const DeviceGuard guard(device);
      static_cast<void>(
          succeeded(cudaMemsetAsync(data, 0xff, bytes, reinterpret_cast<cudaStream_t>(stream))));
    } catch (const Error&) {  // a fault of the device shows at the next checked call
    }
  };
  return hooks;
}

}  // namespace ebb::cuda
