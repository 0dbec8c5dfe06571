#pragma once

#include <ebb/core/tensor/tensor_base.h>

namespace ebb::cuda {

/// Kernels::transfer for the CUDA devices: host to device, device to host, and between two devices,
/// on the current streams of the devices. See docs/cuda.md for what waits for what. Throws a
/// CUDAError, or for a copy to the host what went wrong in the work that it waited for.
void transfer(const TensorBase& to, const TensorBase& from, bool non_blocking);

}  // namespace ebb::cuda
