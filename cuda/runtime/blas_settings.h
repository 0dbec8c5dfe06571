#pragma once

#include <cstdint>

#include <ebb/core/export.h>

namespace ebb::cuda {

/// Whether products of float32 matrices may round their inputs to TF32 (10 bits of mantissa), which
/// is several times as fast on GPUs from sm_80 on. Off unless set, as in PyTorch
/// (torch.backends.cuda.matmul.allow_tf32). For all threads.
[[nodiscard]] EBB_API bool allow_tf32_matmul() noexcept;
EBB_API void set_allow_tf32_matmul(bool allow) noexcept;

/// Bytes of the workspaces that cuBLAS holds on a device (-1: the current one). They are not part
/// of memory_allocated or memory_reserved.
[[nodiscard]] EBB_API int64_t blas_workspace_bytes(int64_t device = -1);
/// Gives the workspaces of all devices back, after waiting for the devices. No other thread may run
/// a product meanwhile.
EBB_API void clear_blas_workspaces();

}  // namespace ebb::cuda
