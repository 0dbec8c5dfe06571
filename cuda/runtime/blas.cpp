#include <ebb/cuda/runtime/blas.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <ebb/core/memory/registry.h>
#include <ebb/core/thread_state.h>
#include <ebb/cuda/runtime/blas_settings.h>
#include <ebb/cuda/runtime/source.h>

namespace ebb::cuda {

namespace {

// PyTorch's sizes: Hopper's kernels use more.
constexpr size_t kWorkspaceBytes = size_t{8} << 20;
constexpr size_t kHopperWorkspaceBytes = size_t{32} << 20;

struct BlasWorkspace {
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  size_t bytes = 0;
};

/// A handle that one thread at a time uses, and the workspaces that it has on the streams so far.
struct BlasHandle {
  cublasHandle_t handle = nullptr;
  DeviceIndex device = 0;
  cudaStream_t stream = nullptr;
  bool has_stream = false;
  std::vector<BlasWorkspace> workspaces;
};

/// All handles of one device. Never destroyed: the driver may be gone before the statics.
struct DeviceHandles {
  std::mutex mutex;
  std::vector<std::unique_ptr<BlasHandle>> all;
  std::vector<BlasHandle*> spare;
  std::atomic<int64_t> workspace_bytes{0};
};

DeviceHandles& handles_of(DeviceIndex device) {
  static auto* handles = new std::array<DeviceHandles, kMaxDevices>;
  return (*handles)[static_cast<size_t>(device)];
}

/// What a thread holds, and gives back when it ends.
struct ThreadHandles {
  std::array<BlasHandle*, kMaxDevices> handles{};
  ~ThreadHandles() {
    for (BlasHandle* handle : handles) {
      if (handle == nullptr) continue;
      DeviceHandles& of_device = handles_of(handle->device);
      std::lock_guard lock(of_device.mutex);
      of_device.spare.push_back(handle);  // has room: see take_handle
    }
  }
};

BlasHandle* take_handle(DeviceIndex device) {
  DeviceHandles& of_device = handles_of(device);
  std::lock_guard lock(of_device.mutex);
  if (!of_device.spare.empty()) {
    BlasHandle* handle = of_device.spare.back();
    of_device.spare.pop_back();
    return handle;
  }
  of_device.spare.reserve(of_device.all.size() + 1);
  auto& made = of_device.all.emplace_back(std::make_unique<BlasHandle>());
  made->device = device;
  const cublasStatus_t status = cublasCreate(&made->handle);
  if (status != CUBLAS_STATUS_SUCCESS) {
    of_device.all.pop_back();
    raise_blas_error(status, {"cublasCreate", __FILE__, __LINE__});
  }
  // Sums of 16-bit products stay in float32, also where cuBLAS splits them.
  EBB_CUBLAS_CHECK(
      cublasSetMathMode(made->handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
  return made.get();
}

size_t workspace_size(DeviceIndex device) {
  int major = 0;
  EBB_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9 ? kHopperWorkspaceBytes : kWorkspaceBytes;
}

BlasWorkspace& workspace_of(BlasHandle& handle, cudaStream_t stream) {
  DeviceHandles& of_device = handles_of(handle.device);
  std::lock_guard lock(of_device.mutex);
  for (BlasWorkspace& known : handle.workspaces) {
    if (known.stream == stream) return known;
  }
  const size_t bytes = workspace_size(handle.device);
  handle.workspaces.reserve(handle.workspaces.size() + 1);
  DeviceSource source(handle.device);
  void* data = source.allocate(bytes);
  if (data == nullptr) {
    memory::empty_cache(Device(kCUDA, handle.device));
    data = source.allocate(bytes);
  }
  if (data == nullptr) {
    memory::OutOfMemoryInfo info;
    info.device = Device(kCUDA, handle.device);
    info.requested = info.segment = bytes;
    info.capacity = source.capacity();
    info.available = source.available();
    info.reserved = static_cast<size_t>(memory::memory_reserved(info.device));
    info.allocated = static_cast<size_t>(memory::memory_allocated(info.device));
    throw OutOfMemoryError("no room for a workspace of cuBLAS: " + memory::describe(info), info);
  }
  of_device.workspace_bytes += static_cast<int64_t>(bytes);
  return handle.workspaces.emplace_back(BlasWorkspace{stream, data, bytes});
}

constinit std::atomic<bool> tf32_allowed{false};

}  // namespace

cublasHandle_t blas_handle(const KernelDevice& device) {
  thread_local ThreadHandles of_thread;
  BlasHandle*& handle = of_thread.handles[static_cast<size_t>(device.index())];
  if (handle == nullptr) handle = take_handle(device.index());
  const cudaStream_t stream = device.stream();
  if (handle->has_stream && handle->stream == stream) return handle->handle;

  const BlasWorkspace& workspace = workspace_of(*handle, stream);
  handle->has_stream = false;
  EBB_CUBLAS_CHECK(cublasSetStream(handle->handle, stream));
  // After the stream, which takes the workspace away.
  EBB_CUBLAS_CHECK(cublasSetWorkspace(handle->handle, workspace.data, workspace.bytes));
  handle->stream = stream;
  handle->has_stream = true;
  return handle->handle;
}

void raise_blas_error(cublasStatus_t status, const CallSite& site) {
  static_cast<void>(cudaGetLastError());
  const char* op = thread_state().op_name;
  throw CUDAError((op == nullptr ? "" : std::string(op) + ": ") + "CUDA error: " +
                      cublasGetStatusName(status) + " (" + cublasGetStatusString(status) +
                      ") in " + describe(site),
                  static_cast<int>(status));
}

bool allow_tf32_matmul() noexcept { return tf32_allowed.load(std::memory_order_relaxed); }

void set_allow_tf32_matmul(bool allow) noexcept {
  tf32_allowed.store(allow, std::memory_order_relaxed);
}

int64_t blas_workspace_bytes(int64_t device) {
  const auto index = device < 0 ? memory::current_device_index(kCUDA) : device;
  return handles_of(static_cast<DeviceIndex>(index)).workspace_bytes.load();
}

void clear_blas_workspaces() {
  for (int i = 0; i < kMaxDevices; ++i) {
    DeviceHandles& of_device = handles_of(static_cast<DeviceIndex>(i));
    std::lock_guard lock(of_device.mutex);
    DeviceSource source(static_cast<DeviceIndex>(i));
    for (auto& handle : of_device.all) {
      handle->has_stream = false;
      for (const BlasWorkspace& workspace : std::exchange(handle->workspaces, {})) {
        source.free(workspace.data, workspace.bytes);  // waits for the device
        of_device.workspace_bytes -= static_cast<int64_t>(workspace.bytes);
      }
    }
  }
}

}  // namespace ebb::cuda
