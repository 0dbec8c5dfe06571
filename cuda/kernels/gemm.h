#pragma once

#include <ebb/core/ops/matmul_kernels.h>
#include <ebb/cuda/runtime/kernel_device.h>

namespace ebb::cuda {

/// The product that MatmulArguments describe, on the stream of `device`. `c` and `addend` are of
/// `result_dtype`: that of the factors, or float32 for 16-bit factors, so that products can be
/// added up without rounding. Floating-point factors go through cuBLAS, which gets copies of those
/// that it cannot read by their strides. Nothing may be empty but k.
void multiply(const KernelDevice& device, const MatmulArguments& arguments,
              ScalarType result_dtype);

}  // namespace ebb::cuda
