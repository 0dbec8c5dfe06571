#pragma once

#include <cstddef>

#include <ebb/core/export.h>
#include <ebb/core/memory/caching_allocator.h>

// Pinned (page-locked) host memory, which a device copies from and to while the host goes on. It
// comes from a caching allocator of its own, with statistics of its own; its blocks say that they
// are on the CPU.

namespace ebb::memory {

/// The allocator of pinned memory. Sets the CUDA devices up; throws an Error that names the cause if
/// there is none.
[[nodiscard]] EBB_API CachingAllocator& pinned_allocator();
/// The allocator of pinned memory, or null while no device is set up.
[[nodiscard]] EBB_API CachingAllocator* find_pinned_allocator() noexcept;
/// Whether the block is pinned memory of ebb's own.
[[nodiscard]] EBB_API bool is_pinned(const Block* block) noexcept;

/// Gives ebb pinned memory; called once, when the CUDA devices are set up. `allocator` must live for
/// ever.
EBB_API void register_pinned_allocator(CachingAllocator& allocator) noexcept;

}  // namespace ebb::memory
