#pragma once

// The CUDA runtime: NVIDIA's, or the emulated one, which has the same names.
#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/runtime_api.h>
#else
#include <cuda_runtime.h>
#endif
