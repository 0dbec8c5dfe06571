#pragma once

// What kernels are written with, for both builds. A kernel is an ordinary CUDA kernel with five
// rules: shared memory is declared by EBB_SHARED or taken from dynamic_shared<T>(); lanes exchange
// values by the functions of warp.h; it is launched by launch() of launch.h; its parameters are
// trivially copyable; and it uses no inline PTX, textures, clusters or grid-wide barriers.

#include <ebb/core/export.h>

#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/device_code.h>
#else
#include <ebb/cuda/runtime/native_device_code.h>
#endif
