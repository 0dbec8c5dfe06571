#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb {

namespace detail {

/// What braces may hold in `tensor({{1, 2}, {3, 4}})`: a number, or a list of such. All lists at
/// one depth must have equal lengths and all numbers must be of one kind.
class EBB_API TensorLiteral {
 public:
  /// `{}`: no elements.
  TensorLiteral();
  template <typename T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>) TensorLiteral(T value)  // NOLINT: implicit
      : dtype_(literal_dtype<T>()), values_{Scalar(value)} {}
  TensorLiteral(std::initializer_list<TensorLiteral> list);  // NOLINT: implicit
  template <typename T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>)
      TensorLiteral(ArrayRef<T> list)  // NOLINT: implicit
      : TensorLiteral(literal_dtype<T>(), list.begin(), list.end()) {}
  template <typename T>
  requires(std::is_arithmetic_v<T> || ReducedFloat<T>)
      TensorLiteral(const std::vector<T>& list)  // NOLINT: implicit
      : TensorLiteral(literal_dtype<T>(), list.begin(), list.end()) {}

  /// The numbers as a tensor, of the dtype that their kind gives unless `options` does: bool,
  /// int64, or the default floating-point type.
  [[nodiscard]] Tensor to_tensor(const TensorOptions& options) const;

 private:
  template <typename Iterator>
  TensorLiteral(ScalarType dtype, Iterator begin, Iterator end)
      : dtype_(dtype), sizes_{static_cast<int64_t>(end - begin)} {
    values_.reserve(static_cast<size_t>(end - begin));
    using T = typename std::iterator_traits<Iterator>::value_type;
    for (; begin != end; ++begin) values_.emplace_back(static_cast<T>(*begin));
  }

  template <typename T>
  static ScalarType literal_dtype() {
    if constexpr (std::is_same_v<T, bool>)
      return kBool;
    else if constexpr (std::is_integral_v<T>)
      return kLong;
    else if constexpr (std::is_floating_point_v<T>)
      return get_default_dtype();
    else
      return scalar_type_of<T>;
  }

  ScalarType dtype_;
  DimVector sizes_;
  std::vector<Scalar> values_;
};

}  // namespace detail

/// A tensor of the given numbers: `tensor(3.5)` (no dimensions), `tensor({1, 2})`,
/// `tensor({{1., 2.}, {3., 4.}}, kDouble)`, `tensor(std::vector<float>{...})`. Without a dtype in
/// `options` integers give int64, bools bool, and float and double the default floating-point type.
/// Throws an Error if nested lists differ in length or in the kind of number.
[[nodiscard]] EBB_API Tensor tensor(const detail::TensorLiteral& values,
                                    const TensorOptions& options = {});

}  // namespace ebb
