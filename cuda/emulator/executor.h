#pragma once

#include <ebb/cuda/emulator/launch.h>

namespace ebb::cuda::emulator {

/// Runs all blocks of a launch. False if a fault ended it, which has been reported.
bool execute(const Launch& launch);

/// The shared memory that a block may have: by default, and if the kernel has asked for more.
inline constexpr size_t kSharedBytes = 48 << 10;
inline constexpr size_t kSharedBytesOptIn = 227 << 10;

}  // namespace ebb::cuda::emulator
