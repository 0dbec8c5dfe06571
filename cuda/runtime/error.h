#pragma once

#include <string>

#include <ebb/cuda/runtime/api.h>
#include <ebb/cuda/runtime/exception.h>

// Checks of runtime calls. Every call goes through EBB_CUDA_CHECK, or says why it need not.

namespace ebb::cuda {

/// Where a call stands in the source.
struct CallSite {
  const char* call;
  const char* file;
  int line;
};

/// "cudaStreamSynchronize(stream) at cuda/runtime/stream.cpp:42".
[[nodiscard]] EBB_API std::string describe(const CallSite& site);

/// Whether an error spoils the CUDA context: every later call of the process returns it too.
[[nodiscard]] bool is_sticky(cudaError_t error) noexcept;

/// Throws a CUDAError for what failed, a call or a launch, and clears the runtime's last error. The
/// first sticky fault comes with advice; later ones refer to it.
[[noreturn]] EBB_API void raise_cuda_error(cudaError_t error, const std::string& what);
[[noreturn]] EBB_API void raise_cuda_error(cudaError_t error, const CallSite& site);

/// Forgets that a sticky fault was reported, for an emulated device that is set up anew.
void forget_sticky_fault() noexcept;

/// CUDA_LAUNCH_BLOCKING: each launch waits for its kernel, so that a fault is reported where the
/// kernel was launched. The driver heeds it natively; launch() does when emulated.
[[nodiscard]] bool launch_blocking() noexcept;

/// Throws unless `error` is cudaSuccess.
inline void check_call(cudaError_t error, const CallSite& site) {
  if (error != cudaSuccess) [[unlikely]] raise_cuda_error(error, site);
}

/// For calls that must not throw (in destructors and under noexcept): clears the runtime's last
/// error and says whether the call succeeded. A sticky fault shows again at the next checked call.
inline bool succeeded(cudaError_t error) noexcept {
  if (error == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  return false;
}

}  // namespace ebb::cuda

/// Runs a call of the CUDA runtime and throws a CUDAError that names it if it fails.
#define EBB_CUDA_CHECK(call) \
  ::ebb::cuda::check_call((call), ::ebb::cuda::CallSite{#call, __FILE__, __LINE__})
