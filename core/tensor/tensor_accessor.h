#pragma once

#include <cstddef>
#include <cstdint>

#include <ebb/core/tensor/array_ref.h>

namespace ebb {

/// Unchecked access to the elements of a CPU tensor by N indices: `a[i][j]`. It borrows the
/// tensor's memory and geometry.
template <typename T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  TensorAccessor<T, N - 1> operator[](int64_t i) const {
    return {data_ + i * strides_[0], sizes_ + 1, strides_ + 1};
  }
  [[nodiscard]] int64_t size(int64_t dim) const { return sizes_[dim]; }
  [[nodiscard]] int64_t stride(int64_t dim) const { return strides_[dim]; }
  [[nodiscard]] IntArrayRef sizes() const { return {sizes_, N}; }
  [[nodiscard]] IntArrayRef strides() const { return {strides_, N}; }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

template <typename T>
class TensorAccessor<T, 1> {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  T& operator[](int64_t i) const { return data_[i * strides_[0]]; }
  [[nodiscard]] int64_t size(int64_t dim) const { return sizes_[dim]; }
  [[nodiscard]] int64_t stride(int64_t dim) const { return strides_[dim]; }
  [[nodiscard]] IntArrayRef sizes() const { return {sizes_, 1}; }
  [[nodiscard]] IntArrayRef strides() const { return {strides_, 1}; }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
};

}  // namespace ebb
