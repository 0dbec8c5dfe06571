#pragma once

#include <cstddef>
#include <utility>

#include <ebb/core/memory/block.h>

namespace ebb {

/// A shared owner of one block of memory: one pointer wide. Tensors that are views of each other
/// share one.
class Storage {
 public:
  constexpr Storage() noexcept = default;
  /// Takes over the use that the caller holds.
  explicit Storage(memory::Block* block) noexcept : block_(block) {}
  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) memory::retain(block_);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() { reset(); }

  /// Memory of `bytes` bytes from the device's caching allocator. Throws OutOfMemoryError.
  static Storage allocate(size_t bytes, Device device) {
    return Storage(memory::allocate(bytes, device));
  }

  void reset() noexcept {
    if (block_ != nullptr) memory::release(std::exchange(block_, nullptr));
  }

  [[nodiscard]] bool defined() const noexcept { return block_ != nullptr; }
  explicit operator bool() const noexcept { return defined(); }
  [[nodiscard]] memory::Block* block() const noexcept { return block_; }
  [[nodiscard]] void* data() const noexcept { return block_ == nullptr ? nullptr : block_->data; }
  [[nodiscard]] void* mutable_data() const noexcept { return data(); }
  /// Bytes asked for (not the rounded size that is counted).
  [[nodiscard]] size_t nbytes() const noexcept { return block_ == nullptr ? 0 : block_->nbytes; }
  [[nodiscard]] Device device() const noexcept {
    return block_ == nullptr ? Device() : block_->device;
  }
  /// How many tensors and saved tensors share the memory.
  [[nodiscard]] size_t use_count() const noexcept {
    return block_ == nullptr ? 0 : block_->use_count.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_alias_of(const Storage& other) const noexcept {
    return block_ != nullptr && block_ == other.block_;
  }

 private:
  memory::Block* block_ = nullptr;
};

}  // namespace ebb
