#pragma once

#include <cstddef>
#include <cstdint>

#include <ebb/cuda/runtime/cublas_api.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/kernel_device.h>

namespace ebb::cuda {

/// The cuBLAS handle of this thread for a device and its current stream, with a workspace of its own
/// for that stream: a product is then the same bit for bit whatever other streams do. The host gives
/// the scalars (CUBLAS_POINTER_MODE_HOST). Valid until the next call on this thread. Throws a
/// CUDAError, or OutOfMemoryError if there is no room for the workspace.
[[nodiscard]] cublasHandle_t blas_handle(const KernelDevice& device);

/// Throws the CUDAError of a failed call of cuBLAS.
[[noreturn]] void raise_blas_error(cublasStatus_t status, const CallSite& site);

inline void check_blas_call(cublasStatus_t status, const CallSite& site) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]] raise_blas_error(status, site);
}

}  // namespace ebb::cuda

/// Runs a call of cuBLAS and throws a CUDAError that names it if it fails.
#define EBB_CUBLAS_CHECK(call) \
  ::ebb::cuda::check_blas_call((call), ::ebb::cuda::CallSite{#call, __FILE__, __LINE__})
