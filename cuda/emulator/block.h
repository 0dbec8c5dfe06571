#pragma once

#include <cstddef>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/cuda/emulator/types.h>
#include <ebb/cuda/runtime/place.h>

// Where the running thread stands. Kernels run one at a time in a process, one thread at a time.
EBB_API extern uint3 threadIdx;
EBB_API extern uint3 blockIdx;
EBB_API extern dim3 blockDim;
EBB_API extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace ebb::cuda::emulator {

/// What device code calls. Each function suspends the calling thread of the kernel and returns when
/// all that it waits for have come; a fault ends the kernel with a report, and does not return.

EBB_API void block_barrier(Place place);

/// The last of the lanes or threads to come combines what all brought: `offers` has a place for
/// each lane of the warp (those of the mask are set) or thread of the block, `extent` is the mask
/// or the number of threads.
using Combine = void (*)(void* const* offers, uint32_t extent, const void* state);
EBB_API void warp_exchange(const char* what, void* offer, uint32_t mask, Combine combine,
                           const void* state, Place place);
EBB_API void block_exchange(const char* what, void* offer, Combine combine, const void* state,
                            Place place);
/// Lane `lane` of a shuffle reads from a lane that takes no part.
[[noreturn]] EBB_API void report_source_outside_mask(const char* what, int lane, int source,
                                                     uint32_t mask, Place place);

/// Where a shared variable is in the launch that runs; one for each declaration.
struct SharedVariable {
  const char* name;
  Place place;
  uint64_t block = 0;  // the block that it was last looked up by
  void* data = nullptr;
};
/// The variable's memory in the block that runs, filled with NaN by the block's first look.
EBB_API void* find_shared_memory(SharedVariable& variable, size_t bytes, size_t alignment);
EBB_API extern uint64_t running_block;  // no two blocks of a process have the same
inline void* shared_memory(SharedVariable& variable, size_t bytes, size_t alignment) {
  if (variable.block == running_block) return variable.data;
  return find_shared_memory(variable, bytes, alignment);
}
EBB_API void* dynamic_shared_memory();

}  // namespace ebb::cuda::emulator
