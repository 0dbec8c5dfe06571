#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ebb/core/memory/block_record.h>

namespace ebb::memory::detail {

/// The free blocks of a pool, ordered by stream, size and address: a treap whose priorities are
/// hashes of the records' addresses, so that it needs no memory of its own.
/// (Seidel and Aragon, "Randomized search trees", 1996.)
class FreeTree {
 public:
  struct Key {
    StreamId stream;
    size_t size;
    const void* address;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }
  [[nodiscard]] size_t count() const noexcept { return count_; }
  [[nodiscard]] size_t bytes() const noexcept { return bytes_; }

  void insert(BlockRecord* block) noexcept {
    const Key key = key_of(block);
    BlockRecord** link = &root_;
    while (*link != nullptr && priority(*link) >= priority(block)) {
      link = key < key_of(*link) ? &(*link)->left : &(*link)->right;
    }
    split(*link, key, &block->left, &block->right);
    *link = block;
    ++count_;
    bytes_ += block->size;
  }

  void remove(BlockRecord* block) noexcept {
    const Key key = key_of(block);
    BlockRecord** link = &root_;
    while (*link != block) link = key < key_of(*link) ? &(*link)->left : &(*link)->right;
    *link = join(block->left, block->right);
    block->left = block->right = nullptr;
    --count_;
    bytes_ -= block->size;
  }

  /// The first block at or after the key, or null.
  [[nodiscard]] BlockRecord* lower_bound(const Key& key) const noexcept {
    BlockRecord* found = nullptr;
    for (BlockRecord* node = root_; node != nullptr;) {
      if (key_of(node) < key) {
        node = node->right;
      } else {
        found = node;
        node = node->left;
      }
    }
    return found;
  }

  /// The last block before the key, or null.
  [[nodiscard]] BlockRecord* before(const Key& key) const noexcept {
    BlockRecord* found = nullptr;
    for (BlockRecord* node = root_; node != nullptr;) {
      if (key_of(node) < key) {
        found = node;
        node = node->right;
      } else {
        node = node->left;
      }
    }
    return found;
  }

  /// The block after `block`, or null.
  [[nodiscard]] BlockRecord* after(const BlockRecord* block) const noexcept {
    Key key = key_of(block);
    key.address = static_cast<const char*>(key.address) + 1;
    return lower_bound(key);
  }
  [[nodiscard]] BlockRecord* first() const noexcept { return lower_bound({0, 0, nullptr}); }

  [[nodiscard]] static Key key_of(const BlockRecord* block) noexcept {
    return {block->stream, block->size, block->data};
  }

 private:
  [[nodiscard]] static uint64_t priority(const BlockRecord* block) noexcept {
    const auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(block));
    return (bits ^ (bits >> 17)) * 0x9e3779b97f4a7c15ULL;
  }

  /// Divides a tree into the blocks before the key and those after it.
  static void split(BlockRecord* node, const Key& key, BlockRecord** low,
                    BlockRecord** high) noexcept {
    while (node != nullptr) {
      if (key_of(node) < key) {
        *low = node;
        low = &node->right;
        node = node->right;
      } else {
        *high = node;
        high = &node->left;
        node = node->left;
      }
    }
    *low = *high = nullptr;
  }

  /// One tree of two, all blocks of `low` before all of `high`.
  [[nodiscard]] static BlockRecord* join(BlockRecord* low, BlockRecord* high) noexcept {
    BlockRecord* root = nullptr;
    BlockRecord** link = &root;
    while (low != nullptr && high != nullptr) {
      if (priority(low) >= priority(high)) {
        *link = low;
        link = &low->right;
        low = low->right;
      } else {
        *link = high;
        link = &high->left;
        high = high->left;
      }
    }
    *link = low != nullptr ? low : high;
    return root;
  }

  BlockRecord* root_ = nullptr;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace ebb::memory::detail
