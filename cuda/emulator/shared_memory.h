#pragma once

#include <cstddef>

#include <ebb/cuda/emulator/launch.h>

namespace ebb::cuda::emulator {

/// Empties the arena of shared memory for a launch with so many bytes of dynamic shared memory.
void begin_shared_memory(size_t dynamic_bytes, size_t limit);
/// Gives the next block its own: all is NaN again.
void begin_block_of_shared_memory();
/// Looks for writes behind the variables of the block that has ended. False if there was one, which
/// has been reported.
bool check_block_of_shared_memory(const Launch& launch);

}  // namespace ebb::cuda::emulator
