#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include <ebb/core/error.h>

namespace ebb {

/// A view of a run of elements that somebody else owns: braces, a vector, an array. Valid as long
/// as they are; meant for parameters.
template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(std::nullopt_t) {}  // NOLINT: implicit
  constexpr ArrayRef(const T& element) : data_(&element), size_(1) {}  // NOLINT
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  ArrayRef(const std::vector<T>& vector) : data_(vector.data()), size_(vector.size()) {}  // NOLINT
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& array) : data_(array.data()), size_(N) {}  // NOLINT
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}  // NOLINT
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // borrowed for a call, as the class says
#endif
  constexpr ArrayRef(const std::initializer_list<T>& list)  // NOLINT
      : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  [[nodiscard]] constexpr const T* begin() const { return data_; }
  [[nodiscard]] constexpr const T* end() const { return data_ + size_; }
  [[nodiscard]] constexpr const T* data() const { return data_; }
  [[nodiscard]] constexpr size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  [[nodiscard]] const T& at(size_t i) const {
    EBB_CHECK(i < size_, "ArrayRef: index ", i, " is out of range for ", size_, " elements");
    return data_[i];
  }
  [[nodiscard]] constexpr const T& front() const { return data_[0]; }
  [[nodiscard]] constexpr const T& back() const { return data_[size_ - 1]; }
  [[nodiscard]] ArrayRef slice(size_t start, size_t count) const { return {data_ + start, count}; }
  [[nodiscard]] ArrayRef slice(size_t start) const { return {data_ + start, size_ - start}; }
  [[nodiscard]] std::vector<T> vec() const { return {begin(), end()}; }
  [[nodiscard]] bool equals(ArrayRef other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }
  operator std::vector<T>() const { return vec(); }  // NOLINT

  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
  friend bool operator==(const std::vector<T>& a, ArrayRef b) { return ArrayRef(a).equals(b); }
  friend bool operator==(ArrayRef a, const std::vector<T>& b) { return a.equals(b); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

/// Dimensions that may be absent: `nullopt` is not the same as an empty list.
class OptionalIntArrayRef {
 public:
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(std::nullopt_t) {}  // NOLINT: implicit
  constexpr OptionalIntArrayRef(IntArrayRef values) : values_(values), has_value_(true) {}  // NOLINT
  constexpr OptionalIntArrayRef(const int64_t& value) : values_(value), has_value_(true) {}  // NOLINT
  OptionalIntArrayRef(const std::vector<int64_t>& values) : values_(values), has_value_(true) {}  // NOLINT
  constexpr OptionalIntArrayRef(const std::initializer_list<int64_t>& values)  // NOLINT
      : values_(values), has_value_(true) {}

  [[nodiscard]] constexpr bool has_value() const { return has_value_; }
  [[nodiscard]] constexpr IntArrayRef value() const { return values_; }
  constexpr IntArrayRef operator*() const { return values_; }
  constexpr const IntArrayRef* operator->() const { return &values_; }
  explicit constexpr operator bool() const { return has_value_; }

 private:
  IntArrayRef values_;
  bool has_value_ = false;
};

/// "[2, 3]", as LibTorch prints sizes.
template <typename T>
std::ostream& operator<<(std::ostream& stream, ArrayRef<T> list) {
  stream << '[';
  for (size_t i = 0; i < list.size(); ++i) stream << (i == 0 ? "" : ", ") << list[i];
  return stream << ']';
}

/// Sizes or strides: up to N numbers inline, more on the heap.
template <size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  explicit InlineVector(size_t size, int64_t value = 0) { resize(size, value); }
  InlineVector(IntArrayRef values) { assign(values); }  // NOLINT: implicit
  InlineVector(std::initializer_list<int64_t> values) { assign(values); }
  InlineVector(const InlineVector& other) { assign(other); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  void assign(IntArrayRef values) {
    reserve_discarding(values.size());
    std::copy(values.begin(), values.end(), data());
    size_ = static_cast<uint32_t>(values.size());
  }
  void resize(size_t size, int64_t value = 0) {
    grow(size);
    for (size_t i = size_; i < size; ++i) data()[i] = value;
    size_ = static_cast<uint32_t>(size);
  }
  void push_back(int64_t value) {
    if (size_ == capacity_) grow(2 * static_cast<size_t>(capacity_));
    data()[size_++] = value;
  }
  void insert(size_t at, int64_t value) {
    push_back(value);
    std::rotate(data() + at, data() + size_ - 1, data() + size_);
  }
  void erase(size_t at) {
    std::move(data() + at + 1, data() + size_, data() + at);
    --size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  [[nodiscard]] int64_t* data() { return capacity_ == N ? inline_ : heap_; }
  [[nodiscard]] const int64_t* data() const { return capacity_ == N ? inline_ : heap_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  int64_t& operator[](size_t i) { return data()[i]; }
  const int64_t& operator[](size_t i) const { return data()[i]; }
  [[nodiscard]] int64_t* begin() { return data(); }
  [[nodiscard]] int64_t* end() { return data() + size_; }
  [[nodiscard]] const int64_t* begin() const { return data(); }
  [[nodiscard]] const int64_t* end() const { return data() + size_; }
  [[nodiscard]] int64_t& back() { return data()[size_ - 1]; }
  [[nodiscard]] int64_t back() const { return data()[size_ - 1]; }
  operator IntArrayRef() const { return {data(), size_}; }  // NOLINT: implicit

 private:
  void release() {
    if (capacity_ != N) delete[] heap_;
    capacity_ = N;
    size_ = 0;
  }
  void take(InlineVector& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (capacity_ == N) {
      std::copy(other.inline_, other.inline_ + size_, inline_);
    } else {
      heap_ = other.heap_;
    }
    other.capacity_ = N;
    other.size_ = 0;
  }
  void reserve_discarding(size_t capacity) {
    if (capacity <= capacity_) return;
    auto* fresh = new int64_t[capacity];
    release();
    heap_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void grow(size_t capacity) {
    if (capacity <= capacity_) return;
    auto* fresh = new int64_t[capacity];
    std::copy(begin(), end(), fresh);
    if (capacity_ != N) delete[] heap_;
    heap_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  union {
    int64_t inline_[N];
    int64_t* heap_;
  };
};

using DimVector = InlineVector<5>;

template <size_t N>
std::ostream& operator<<(std::ostream& stream, const InlineVector<N>& list) {
  return stream << IntArrayRef(list);
}

}  // namespace ebb
