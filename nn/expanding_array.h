#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

#include <ebb/core/error.h>
#include <ebb/core/tensor/array_ref.h>

namespace ebb {

/// D numbers, one for each dimension of a window, say; a single number stands for D equal ones.
/// Throws an Error when given another count.
template <size_t D, typename T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}  // NOLINT
  ExpandingArray(ArrayRef<T> values) {  // NOLINT: implicit
    EBB_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(T value) { values_.fill(value); }                     // NOLINT
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}  // NOLINT

  std::array<T, D>& operator*() noexcept { return values_; }
  const std::array<T, D>& operator*() const noexcept { return values_; }
  std::array<T, D>* operator->() noexcept { return &values_; }
  const std::array<T, D>* operator->() const noexcept { return &values_; }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }
  operator ArrayRef<T>() const noexcept { return values_; }  // NOLINT
  [[nodiscard]] size_t size() const noexcept { return D; }

 private:
  std::array<T, D> values_;
};

/// "[3, 3]", or "3" for one dimension.
template <size_t D, typename T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D, T>& array) {
  if constexpr (D == 1) return stream << array[0];
  return stream << ArrayRef<T>(array);
}

}  // namespace ebb
