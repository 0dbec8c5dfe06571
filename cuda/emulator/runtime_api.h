#pragma once

#include <ebb/core/export.h>
#include <ebb/cuda/emulator/types.h>

// The functions of the CUDA runtime that ebb uses, with CUDA's names and meaning. Until
// ebb::cuda::emulator::enable or EBB_CUDA_EMULATOR=1 there is no device.

EBB_API const char* cudaGetErrorName(cudaError_t error);
EBB_API const char* cudaGetErrorString(cudaError_t error);
EBB_API cudaError_t cudaGetLastError();
EBB_API cudaError_t cudaPeekAtLastError();

EBB_API cudaError_t cudaDriverGetVersion(int* version);
EBB_API cudaError_t cudaRuntimeGetVersion(int* version);
EBB_API cudaError_t cudaGetDeviceCount(int* count);
EBB_API cudaError_t cudaGetDevice(int* device);
EBB_API cudaError_t cudaSetDevice(int device);
EBB_API cudaError_t cudaSetDeviceFlags(unsigned flags);
EBB_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
EBB_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
EBB_API cudaError_t cudaDeviceSynchronize();
EBB_API cudaError_t cudaDeviceReset();
EBB_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
EBB_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
EBB_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

EBB_API cudaError_t cudaMalloc(void** data, size_t bytes);
template <typename T>
cudaError_t cudaMalloc(T** data, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(data), bytes);
}
EBB_API cudaError_t cudaFree(void* data);
EBB_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
EBB_API cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags);
EBB_API cudaError_t cudaMallocHost(void** data, size_t bytes);
template <typename T>
cudaError_t cudaMallocHost(T** data, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(data), bytes);
}
EBB_API cudaError_t cudaFreeHost(void* data);
EBB_API cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned flags);
EBB_API cudaError_t cudaHostUnregister(void* data);
EBB_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data);

EBB_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
EBB_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                    cudaStream_t stream = nullptr);
EBB_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                 size_t width, size_t height, cudaMemcpyKind kind);
EBB_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr);
EBB_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                   size_t bytes);
EBB_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                        size_t bytes, cudaStream_t stream = nullptr);
EBB_API cudaError_t cudaMemset(void* data, int value, size_t bytes);
EBB_API cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes,
                                    cudaStream_t stream = nullptr);

EBB_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
EBB_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
EBB_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                 int priority);
EBB_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
EBB_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
EBB_API cudaError_t cudaStreamQuery(cudaStream_t stream);
EBB_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
EBB_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
EBB_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
EBB_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

EBB_API cudaError_t cudaEventCreate(cudaEvent_t* event);
EBB_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
EBB_API cudaError_t cudaEventDestroy(cudaEvent_t event);
EBB_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
EBB_API cudaError_t cudaEventQuery(cudaEvent_t event);
EBB_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
EBB_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

EBB_API cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                         int value);
template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
EBB_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                                  int block_size,
                                                                  size_t shared_bytes);
