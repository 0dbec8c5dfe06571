#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>

namespace ebb::memory {

using ForeignDeleter = void (*)(void* context);

/// The record of one piece of memory that tensors may share: a block of the caching allocator,
/// foreign memory, or nothing at all (zero bytes). A Storage is a counted pointer to it, so that a
/// warm allocation needs no other record. The fields here are what owners may read; the allocator
/// keeps more behind them (caching_allocator.cpp).
struct Block {
  void* data = nullptr;
  size_t nbytes = 0;  ///< bytes asked for
  std::atomic<uint32_t> use_count{1};
  Device device{};
};

/// A block of at least `bytes` bytes on `device`, for the current stream, with use_count 1. Zero
/// bytes: a record with a null pointer that counts nowhere. Throws OutOfMemoryError.
[[nodiscard]] EBB_API Block* allocate(size_t bytes, Device device);

/// A record for memory that ebb does not own: `deleter(context)` runs when the last owner lets go.
/// It counts nowhere and has no category.
[[nodiscard]] EBB_API Block* adopt(void* data, size_t bytes, Device device, ForeignDeleter deleter,
                                   void* context);

namespace detail {
EBB_API void release_last(Block* block) noexcept;
}  // namespace detail

inline void retain(Block* block) noexcept {
  block->use_count.fetch_add(1, std::memory_order_relaxed);
}

/// Gives up one use; the last one returns the memory. May be called on any thread.
inline void release(Block* block) noexcept {
  if (block->use_count.load(std::memory_order_acquire) == 1 ||
      block->use_count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    detail::release_last(block);
  }
}

/// Gives the block a sticky category (parameter, buffer, optimizer_state, gradient, input); the
/// one ranked higher wins when it has one already. `temporary` clears it.
EBB_API void set_category(Block* block, Category category) noexcept;
/// The category in force.
[[nodiscard]] EBB_API Category category(const Block* block) noexcept;

/// A node of the tape holds the block for backward, or lets go of it. Counted.
EBB_API void hold_saved(Block* block) noexcept;
EBB_API void unhold_saved(Block* block) noexcept;

/// Scratch of a running op: counted as `workspace`, freed at the end of the scope.
class EBB_API Workspace {
 public:
  Workspace(size_t bytes, Device device);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  [[nodiscard]] void* data() const { return block_->data; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(block_->data);
  }

 private:
  Block* block_;
};

}  // namespace ebb::memory
