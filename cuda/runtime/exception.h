#pragma once

#include <string>

#include <ebb/core/error.h>
#include <ebb/core/export.h>

namespace ebb::cuda {

/// A call of the CUDA runtime or of cuBLAS failed. what() names the op, the error, the call, its
/// place in the source and, for a launch, the kernel. Running out of memory is an OutOfMemoryError.
class EBB_API CUDAError : public Error {
 public:
  CUDAError(const std::string& message, int code) : Error(message), code_(code) {}
  /// The number of the error: a cudaError_t, or a cublasStatus_t for calls of cuBLAS.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace ebb::cuda
