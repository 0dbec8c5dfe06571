#pragma once

#include <ebb/core/thread_state.h>
#include <ebb/cuda/runtime/current_stream.h>
#include <ebb/cuda/runtime/device.h>

namespace ebb::cuda {

/// What a kernel entry begins with: the device of the running op (core/ops/kernels.h) becomes the
/// current CUDA device until the end of the scope. Throws a CUDAError if that fails.
class KernelDevice {
 public:
  KernelDevice() : guard_(thread_state().kernel_device) {}

  [[nodiscard]] DeviceIndex index() const { return guard_.current_device().index(); }
  [[nodiscard]] Device device() const { return guard_.current_device(); }
  /// The stream that the op's kernels go to.
  [[nodiscard]] cudaStream_t stream() const { return current_stream(index()); }

 private:
  DeviceGuard guard_;
};

}  // namespace ebb::cuda
