#pragma once

#include <cstddef>

namespace ebb::cuda::emulator {

/// How much shared memory a block of the kernel may have: what cudaFuncSetAttribute said, else 48
/// KiB.
size_t shared_memory_limit(const void* kernel);

}  // namespace ebb::cuda::emulator
