#pragma once

#include <mutex>

#include <ebb/cuda/emulator/state.h>

namespace ebb::cuda::emulator {

/// Begins each function of the runtime and of cuBLAS: takes the lock, counts the call, and says
/// whether it is to fail: because a test wants it, because of an earlier fault, or because there is
/// no device.
class Call {
 public:
  explicit Call(const char* function);

  [[nodiscard]] bool failed() const { return error_ != cudaSuccess; }
  [[nodiscard]] cudaError_t error() const { return error_; }
  /// Ends a call of the runtime: remembers an error for cudaGetLastError. cudaErrorNotReady is
  /// none.
  cudaError_t end(cudaError_t error) const;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  cudaError_t error_;
};

/// Counts a wait of the host for a device.
void count_synchronization();

/// Whether the error stays until the process ends.
bool is_sticky(cudaError_t error);

}  // namespace ebb::cuda::emulator
