#pragma once

#include <ebb/core/memory/stream.h>

namespace ebb::cuda {

/// What is done to device memory for those who hunt faults: EBB_FILL=nan, in the order of the
/// block's stream.
[[nodiscard]] memory::MemoryHooks memory_hooks() noexcept;

}  // namespace ebb::cuda
