#pragma once

#include <cstdint>

namespace ebb::cuda {

/// What a kernel writes when it meets an index that is out of range: one per device, in pinned host
/// memory, so that the host can look at it after any synchronisation without a copy.
struct IndexReport {
  uint32_t claimed;   ///< 1: somebody writes, or has written, the rest
  uint32_t complete;  ///< 1: the rest is there
  int64_t index;
  int64_t size;
  const char* op;
};

/// What a kernel that indexes takes as an argument, for report_index_error.
struct IndexCheck {
  IndexReport* report;
  const char* op;
};

/// The check for the op that runs on this thread and the device of its kernels. Throws a CUDAError
/// if the device's report cannot be allocated.
[[nodiscard]] IndexCheck index_check();

}  // namespace ebb::cuda
