#pragma once

#include <cstddef>
#include <string>

#include <ebb/cuda/emulator/types.h>

namespace ebb::cuda::emulator {

/// What an address is.
struct MemoryInfo {
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  int device = -1;
  /// The allocation that holds it.
  char* begin = nullptr;
  size_t bytes = 0;
};
MemoryInfo find_memory(const void* data);

/// Where a fault happened: "16 bytes past the end of 4096 bytes of device memory allocated ...", or
/// "" if no allocation is near.
std::string describe_address(const void* address);

cudaError_t allocate_device(int device, void** data, size_t bytes);
cudaError_t free_device(void* data);
size_t allocated_bytes(int device);
/// Whether the host may touch device memory, from now on: while work runs, and unless the setting
/// `protect` forbids it.
void let_host_touch_device_memory(bool allowed);
cudaError_t allocate_pinned(void** data, size_t bytes);
cudaError_t free_pinned(void* data);
cudaError_t register_pinned(void* data, size_t bytes);
cudaError_t unregister_pinned(void* data);

}  // namespace ebb::cuda::emulator
