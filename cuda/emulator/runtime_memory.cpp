// Memory and copies.

#include <cstring>
#include <memory>
#include <vector>

#include <ebb/cuda/emulator/call.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/runtime_api.h>
#include <ebb/cuda/emulator/streams.h>

using namespace ebb::cuda::emulator;

namespace {

struct Range {
  const void* data;
  size_t pitch;  // from one row to the next
};

/// A copy of `height` rows of `width` bytes.
struct Copy {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch;
  size_t width;
  size_t height;

  [[nodiscard]] size_t extent(size_t pitch) const { return (height - 1) * pitch + width; }
  void run() const {
    for (size_t row = 0; row < height; ++row) {
      std::memmove(static_cast<char*>(to) + row * to_pitch,
                   static_cast<const char*>(from) + row * from_pitch, width);
    }
  }
};

/// Whether the range lies within one allocation, if it begins in one that the device knows.
bool inside(const MemoryInfo& info, const void* data, size_t bytes) {
  if (info.type == cudaMemoryTypeUnregistered) return true;
  return bytes <= info.bytes - static_cast<size_t>(static_cast<const char*>(data) - info.begin);
}

cudaError_t check_kind(cudaMemcpyKind kind, const MemoryInfo& to, const MemoryInfo& from) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool right = to_device == (to.type == cudaMemoryTypeDevice) &&
                     from_device == (from.type == cudaMemoryTypeDevice);
  return right ? cudaSuccess : cudaErrorInvalidValue;
}

/// Queues a copy. It reads pageable memory at once, as CUDA stages it, and waits where it writes to
/// pageable memory or `waits` says so.
cudaError_t queue_copy(Copy copy, cudaMemcpyKind kind, cudaStream_t handle, bool waits) {
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (copy.to_pitch < copy.width || copy.from_pitch < copy.width) return cudaErrorInvalidPitchValue;
  const MemoryInfo to = find_memory(copy.to);
  const MemoryInfo from = find_memory(copy.from);
  if (const cudaError_t error = check_kind(kind, to, from); error != cudaSuccess) return error;
  if (copy.to == nullptr || copy.from == nullptr ||
      !inside(to, copy.to, copy.extent(copy.to_pitch)) ||
      !inside(from, copy.from, copy.extent(copy.from_pitch))) {
    return cudaErrorInvalidValue;
  }
  waits = waits || to.type == cudaMemoryTypeUnregistered;
  if (!waits && from.type == cudaMemoryTypeUnregistered) {
    const char* begin = static_cast<const char*>(copy.from);
    auto staged = std::make_shared<std::vector<char>>(begin, begin + copy.extent(copy.from_pitch));
    copy.from = staged->data();
    push(stream, [copy, staged] { copy.run(); });
  } else {
    push(stream, [copy] { copy.run(); });
  }
  if (waits) {
    count_synchronization();
    run_stream(stream);
  }
  return state().sticky;
}

Copy linear(void* to, const void* from, size_t bytes) { return {to, bytes, from, bytes, bytes, 1}; }

cudaError_t queue_fill(void* data, int value, size_t bytes, cudaStream_t handle) {
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const MemoryInfo info = find_memory(data);
  if (info.type == cudaMemoryTypeUnregistered || !inside(info, data, bytes)) {
    return cudaErrorInvalidValue;
  }
  push(stream, [=] { std::memset(data, value, bytes); });
  return state().sticky;
}

}  // namespace

cudaError_t cudaMalloc(void** data, size_t bytes) {
  const Call call("cudaMalloc");
  if (call.failed()) return call.error();
  if (data == nullptr) return call.end(cudaErrorInvalidValue);
  return call.end(allocate_device(current_device(), data, bytes));
}

cudaError_t cudaFree(void* data) {
  const Call call("cudaFree");
  if (call.failed()) return call.error();
  if (data == nullptr) return call.end(cudaSuccess);
  const MemoryInfo info = find_memory(data);
  if (info.type != cudaMemoryTypeDevice) return call.end(cudaErrorInvalidValue);
  count_synchronization();
  run_device(info.device);
  if (state().sticky != cudaSuccess) return call.end(state().sticky);
  return call.end(free_device(data));
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const Call call("cudaMemGetInfo");
  if (call.failed()) return call.error();
  const int device = current_device();
  const size_t allocated = allocated_bytes(device);
  *total = state().memory[device];
  *free = *total > allocated ? *total - allocated : 0;
  return call.end(cudaSuccess);
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  const Call call("cudaHostAlloc");
  if (call.failed()) return call.error();
  if (data == nullptr) return call.end(cudaErrorInvalidValue);
  return call.end(allocate_pinned(data, bytes));
}

cudaError_t cudaMallocHost(void** data, size_t bytes) {
  const Call call("cudaMallocHost");
  if (call.failed()) return call.error();
  if (data == nullptr) return call.end(cudaErrorInvalidValue);
  return call.end(allocate_pinned(data, bytes));
}

cudaError_t cudaFreeHost(void* data) {
  const Call call("cudaFreeHost");
  if (call.failed()) return call.error();
  if (data == nullptr) return call.end(cudaSuccess);
  count_synchronization();
  run_everything();
  if (state().sticky != cudaSuccess) return call.end(state().sticky);
  return call.end(free_pinned(data));
}

cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned) {
  const Call call("cudaHostRegister");
  return call.failed() ? call.error() : call.end(register_pinned(data, bytes));
}

cudaError_t cudaHostUnregister(void* data) {
  const Call call("cudaHostUnregister");
  if (call.failed()) return call.error();
  count_synchronization();
  run_everything();
  if (state().sticky != cudaSuccess) return call.end(state().sticky);
  return call.end(unregister_pinned(data));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  const Call call("cudaPointerGetAttributes");
  if (call.failed()) return call.error();
  if (attributes == nullptr) return call.end(cudaErrorInvalidValue);
  const MemoryInfo info = find_memory(data);
  void* address = const_cast<void*>(data);
  const bool host = info.type != cudaMemoryTypeDevice;
  const bool known = info.type != cudaMemoryTypeUnregistered;
  *attributes = {info.type, known ? info.device : -1, known ? address : nullptr,
                 host ? address : nullptr};
  return call.end(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Call call("cudaMemcpy");
  if (call.failed()) return call.error();
  return call.end(queue_copy(linear(to, from, bytes), kind, nullptr, true));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Call call("cudaMemcpyAsync");
  if (call.failed()) return call.error();
  return call.end(queue_copy(linear(to, from, bytes), kind, stream, false));
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const Call call("cudaMemcpy2D");
  if (call.failed()) return call.error();
  return call.end(queue_copy({to, to_pitch, from, from_pitch, width, height}, kind, nullptr, true));
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const Call call("cudaMemcpy2DAsync");
  if (call.failed()) return call.error();
  return call.end(queue_copy({to, to_pitch, from, from_pitch, width, height}, kind, stream, false));
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  const Call call("cudaMemcpyPeer");
  if (call.failed()) return call.error();
  return call.end(queue_copy(linear(to, from, bytes), cudaMemcpyDeviceToDevice, nullptr, true));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  const Call call("cudaMemcpyPeerAsync");
  if (call.failed()) return call.error();
  if (bytes > 0 &&
      (find_memory(to).device != to_device || find_memory(from).device != from_device)) {
    return call.end(cudaErrorInvalidValue);
  }
  return call.end(queue_copy(linear(to, from, bytes), cudaMemcpyDeviceToDevice, stream, false));
}

cudaError_t cudaMemset(void* data, int value, size_t bytes) {
  const Call call("cudaMemset");
  if (call.failed()) return call.error();
  return call.end(queue_fill(data, value, bytes, nullptr));
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  const Call call("cudaMemsetAsync");
  if (call.failed()) return call.error();
  return call.end(queue_fill(data, value, bytes, stream));
}
