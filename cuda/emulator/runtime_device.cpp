// Devices, errors, functions: the part of the runtime that queues nothing.

#include <cstring>
#include <map>

#include <ebb/cuda/emulator/block.h>
#include <ebb/cuda/emulator/call.h>
#include <ebb/cuda/emulator/executor.h>
#include <ebb/cuda/emulator/function_attributes.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/report.h>
#include <ebb/cuda/emulator/runtime_api.h>
#include <ebb/cuda/emulator/streams.h>

using namespace ebb::cuda::emulator;

namespace {

// The limits of sm_90, and a small chip.
constexpr int kMaxThreads = 1024;
constexpr unsigned kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 0x7fffffff;
constexpr unsigned kMaxGridYZ = 65535;
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr size_t kSharedPerMultiprocessor = 228 << 10;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText* find_text(cudaError_t error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

bool is_device(int device) { return device >= 0 && device < state().devices; }

std::map<const void*, size_t>& shared_limits() {
  static auto& limits = *new std::map<const void*, size_t>;
  return limits;
}

cudaError_t check(const Launch& launch) {
  const dim3 block = launch.block;
  const dim3 grid = launch.grid;
  const uint64_t threads = uint64_t{1} * block.x * block.y * block.z;
  if (threads == 0 || block.x > kMaxThreads || block.y > kMaxThreads || block.z > kMaxBlockZ ||
      threads > kMaxThreads) {
    return cudaErrorInvalidConfiguration;
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMaxGridX || grid.y > kMaxGridYZ ||
      grid.z > kMaxGridYZ) {
    return cudaErrorInvalidConfiguration;
  }
  const bool fits = launch.shared_bytes <= shared_memory_limit(launch.kernel->address());
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}

int attribute(cudaDeviceAttr name) {
  switch (name) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kMaxThreads;
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockZ;
    case cudaDevAttrMaxGridDimX:
      return kMaxGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(kSharedBytes);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(kSharedBytesOptIn);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(kSharedPerMultiprocessor);
    case cudaDevAttrWarpSize:
      return warpSize;
    case cudaDevAttrMaxRegistersPerBlock:
      return 65536;
    case cudaDevAttrClockRate:
      return 1000000;
    case cudaDevAttrMultiProcessorCount:
      return kMultiprocessors;
    case cudaDevAttrUnifiedAddressing:
      return 1;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kThreadsPerMultiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrComputeCapabilityMinor:
      return 0;
    case cudaDevAttrMemoryPoolsSupported:
      return 0;
  }
  return -1;
}

}  // namespace

namespace ebb::cuda::emulator {

size_t shared_memory_limit(const void* kernel) {
  const auto found = shared_limits().find(kernel);
  return found == shared_limits().end() ? kSharedBytes : found->second;
}

cudaError_t launch(Launch what, cudaStream_t handle) {
  const Call call("launch");
  if (call.failed()) return call.error();
  if (const cudaError_t error = check(what); error != cudaSuccess) return call.end(error);
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr || device_of(stream) != current_device()) {
    return call.end(cudaErrorInvalidResourceHandle);
  }
  push(stream, [launch = std::make_shared<const Launch>(std::move(what))] { execute(*launch); });
  return call.end(state().sticky);
}

}  // namespace ebb::cuda::emulator

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* text = find_text(error);
  return text == nullptr ? "unrecognized error code" : text->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* text = find_text(error);
  return text == nullptr ? "unrecognized error code" : text->text;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error() = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(mutex());
  return state().sticky != cudaSuccess ? state().sticky : last_error();
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = state().enabled ? CUDART_VERSION : 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  const Call call("cudaGetDeviceCount");
  *count = 0;
  if (call.failed()) return call.error();
  *count = state().devices;
  return call.end(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  const Call call("cudaGetDevice");
  if (call.failed()) return call.error();
  *device = current_device();
  return call.end(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  const Call call("cudaSetDevice");
  if (call.failed()) return call.error();
  if (!is_device(device)) return call.end(cudaErrorInvalidDevice);
  current_device() = device;
  return call.end(cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned) {
  const Call call("cudaSetDeviceFlags");
  return call.failed() ? call.error() : call.end(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Call call("cudaGetDeviceProperties");
  if (call.failed()) return call.error();
  if (!is_device(device)) return call.end(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "ebb emulated CUDA device");
  properties->totalGlobalMem = state().memory[device];
  properties->sharedMemPerBlock = kSharedBytes;
  properties->sharedMemPerBlockOptin = kSharedBytesOptIn;
  properties->sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  properties->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
  properties->warpSize = warpSize;
  properties->maxThreadsPerBlock = kMaxThreads;
  properties->maxThreadsDim[0] = kMaxThreads;
  properties->maxThreadsDim[1] = kMaxThreads;
  properties->maxThreadsDim[2] = kMaxBlockZ;
  properties->maxGridSize[0] = kMaxGridX;
  properties->maxGridSize[1] = kMaxGridYZ;
  properties->maxGridSize[2] = kMaxGridYZ;
  properties->totalConstMem = 64 << 10;
  properties->major = 9;
  properties->minor = 0;
  properties->multiProcessorCount = kMultiprocessors;
  properties->maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  properties->asyncEngineCount = 2;
  properties->concurrentKernels = 1;
  properties->unifiedAddressing = 1;
  properties->pciDeviceID = device;
  return call.end(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
  const Call call("cudaDeviceGetAttribute");
  if (call.failed()) return call.error();
  if (!is_device(device)) return call.end(cudaErrorInvalidDevice);
  *value = attribute(name);
  return call.end(*value < 0 ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  const Call call("cudaDeviceSynchronize");
  if (call.failed()) return call.error();
  count_synchronization();
  run_device(current_device());
  return call.end(state().sticky);
}

cudaError_t cudaDeviceReset() {
  const Call call("cudaDeviceReset");
  drop_everything();
  state().sticky = cudaSuccess;
  state().fault.clear();
  last_error() = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const Call call("cudaDeviceCanAccessPeer");
  if (call.failed()) return call.error();
  if (!is_device(device) || !is_device(peer)) return call.end(cudaErrorInvalidDevice);
  *can = device == peer ? 0 : 1;
  return call.end(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  const Call call("cudaDeviceEnablePeerAccess");
  if (call.failed()) return call.error();
  return call.end(is_device(peer) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const Call call("cudaFuncSetAttribute");
  if (call.failed()) return call.error();
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return call.end(cudaSuccess);
  if (value < 0 || static_cast<size_t>(value) > kSharedBytesOptIn) {
    return call.end(cudaErrorInvalidValue);
  }
  shared_limits()[kernel] = static_cast<size_t>(value);
  return call.end(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size,
                                                          size_t) {
  const Call call("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (call.failed()) return call.error();
  if (block_size < 1 || block_size > kMaxThreads) return call.end(cudaErrorInvalidValue);
  *blocks = kThreadsPerMultiprocessor / block_size;
  return call.end(cudaSuccess);
}
