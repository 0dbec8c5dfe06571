#pragma once

// For programs that call the CUDA runtime themselves: needs the headers of the CUDA toolkit.

#include <torch/torch.h>

#include <ebb/cuda/runtime/error.h>

#define C10_CUDA_CHECK(call) EBB_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() EBB_CUDA_CHECK(cudaGetLastError())
