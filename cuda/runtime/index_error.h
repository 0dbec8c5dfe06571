#pragma once

#include <cstdint>

#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/index_report.h>

namespace ebb::cuda {

/// For kernels: `index` is out of range for `size`. The first report of a device wins; it becomes an
/// ebb::IndexError that names the op at the next synchronisation. The kernel skips the element.
__device__ inline void report_index_error(const IndexCheck& check, int64_t index, int64_t size) {
  if (atomicCAS(&check.report->claimed, 0u, 1u) != 0u) return;
  check.report->index = index;
  check.report->size = size;
  // The host reads the rest once it sees `complete`.
#ifndef EBB_CUDA_EMULATED
  __threadfence_system();
#endif
  check.report->op = check.op;
  atomicExch(&check.report->complete, 1u);
}

}  // namespace ebb::cuda
