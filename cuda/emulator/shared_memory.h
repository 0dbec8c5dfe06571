#pragma once

#include <cstddef>

namespace ebb::cuda::emulator {

/// Empties the arena of shared memory for a launch with so many bytes of dynamic shared memory.
void begin_shared_memory(size_t dynamic_bytes, size_t limit);
/// Gives the next block its own: all is NaN again.
void begin_block_of_shared_memory();

}  // namespace ebb::cuda::emulator
