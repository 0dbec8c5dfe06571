#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <ebb/core/memory/block_record.h>

namespace ebb::memory::detail {

/// Free blocks of the default small pool that are not merged yet: asked for again in the same size
/// and on the same stream, they are handed out without a search. A table of short lists, one size
/// and stream each. Whatever needs the true state of the pools flushes it first.
class FrontCache {
 public:
  static constexpr int kSlots = 64;
  static constexpr uint32_t kMaxPerSlot = 32;

  /// A block of exactly this size on this stream, or null.
  [[nodiscard]] BlockRecord* take(size_t size, StreamId stream) noexcept {
    Slot& slot = slots_[index(size)];
    BlockRecord* block = slot.head;
    if (block == nullptr || block->size != size || block->stream != stream) return nullptr;
    slot.head = block->right;
    --slot.count;
    bytes_ -= size;
    return block;
  }

  /// Whether put() has a place for the block.
  [[nodiscard]] bool accepts(const BlockRecord* block) const noexcept {
    const Slot& slot = slots_[index(block->size)];
    return slot.head == nullptr || (slot.head->size == block->size && slot.count < kMaxPerSlot &&
                                    slot.head->stream == block->stream);
  }
  void put(BlockRecord* block) noexcept {
    const size_t i = index(block->size);
    block->right = slots_[i].head;
    slots_[i].head = block;
    ++slots_[i].count;
    used_ |= uint64_t{1} << i;
    bytes_ += block->size;
  }

  /// Empties the list that keeps the block out; its blocks are chained by `right`.
  [[nodiscard]] BlockRecord* evict_for(const BlockRecord* block) noexcept {
    return clear(index(block->size));
  }
  /// Empties some list; null once all are empty.
  [[nodiscard]] BlockRecord* evict_any() noexcept {
    while (used_ != 0) {
      const auto i = static_cast<size_t>(std::countr_zero(used_));
      used_ &= used_ - 1;
      if (BlockRecord* head = clear(i); head != nullptr) return head;
    }
    return nullptr;
  }

  [[nodiscard]] size_t bytes() const noexcept { return bytes_; }

 private:
  struct Slot {
    BlockRecord* head = nullptr;
    uint32_t count = 0;
  };

  [[nodiscard]] static size_t index(size_t size) noexcept {
    return static_cast<size_t>(((size >> 9) * 0x9e3779b97f4a7c15ULL) >> 58);
  }
  [[nodiscard]] BlockRecord* clear(size_t i) noexcept {
    BlockRecord* head = slots_[i].head;
    for (BlockRecord* b = head; b != nullptr; b = b->right) bytes_ -= b->size;
    slots_[i] = {};
    return head;
  }

  std::array<Slot, kSlots> slots_{};
  uint64_t used_ = 0;  ///< a bit for each list that may have blocks
  size_t bytes_ = 0;
};

}  // namespace ebb::memory::detail
