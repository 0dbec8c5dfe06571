#pragma once

#include <ebb/core/memory/stream.h>

namespace ebb::cuda {

/// What is done to device memory for those who hunt faults, in the order of the block's stream:
/// EBB_FILL=nan on every device; under AddressSanitizer the emulated device also poisons free
/// blocks and the tail of a block.
[[nodiscard]] memory::MemoryHooks memory_hooks() noexcept;

}  // namespace ebb::cuda
