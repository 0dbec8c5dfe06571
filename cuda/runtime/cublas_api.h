#pragma once

// cuBLAS: NVIDIA's, or the emulated one, which has the same names.
#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/cublas_api.h>
#else
#include <cublas_v2.h>
#endif
