#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace ebb::autograd {

/// A list of movable things, the first N of them in place: most nodes have one or two edges, and
/// need no further memory for them.
template <typename T, size_t N>
class InlineList {
 public:
  InlineList() noexcept = default;
  InlineList(InlineList&& other) noexcept { take(other); }
  InlineList& operator=(InlineList&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  InlineList(const InlineList&) = delete;
  InlineList& operator=(const InlineList&) = delete;
  ~InlineList() { release(); }

  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    auto* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    move_to(fresh);
    if (capacity_ != N) ::operator delete(data_);
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T value{
          std::forward<Args>(args)...};  // before growth: an argument may be one of the elements
      reserve(2 * size_t{capacity_});
      return *new (data_ + size_++) T(std::move(value));
    }
    return *new (data_ + size_++) T{std::forward<Args>(args)...};
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void resize(size_t size) {
    reserve(size);
    while (size_ < size) emplace_back();
    while (size_ > size) data_[--size_].~T();
  }
  void clear() noexcept {
    while (size_ > 0) data_[--size_].~T();
  }

  [[nodiscard]] size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

 private:
  [[nodiscard]] T* in_place() noexcept { return reinterpret_cast<T*>(inline_); }
  void move_to(T* to) noexcept {
    for (uint32_t i = 0; i < size_; ++i) {
      new (to + i) T(std::move(data_[i]));
      data_[i].~T();
    }
  }
  void release() noexcept {
    clear();
    if (capacity_ != N) ::operator delete(data_);
    data_ = in_place();
    capacity_ = N;
  }
  void take(InlineList& other) noexcept {
    size_ = other.size_;
    if (other.capacity_ == N) {
      other.move_to(data_);
    } else {
      data_ = std::exchange(other.data_, other.in_place());
      capacity_ = std::exchange(other.capacity_, uint32_t{N});
    }
    other.size_ = 0;
  }

  alignas(T) std::byte inline_[N * sizeof(T)];
  T* data_ = in_place();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
};

}  // namespace ebb::autograd
