#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/tensor_literal.h>
#include <ebb/testing/gradcheck.h>

#include "catch.h"

// What the tests of elementwise ops share: tensors from doubles and back, by plain loops.

namespace elementwise_tests {

using namespace ebb;
using Catch::Matchers::ContainsSubstring;

using Doubles = std::vector<double>;

inline constexpr ScalarType kAllDtypes[] = {kUInt8, kInt8,  kInt16,  kInt32, kInt64,
                                            kHalf,  kFloat, kDouble, kBool,  kBFloat16};
inline constexpr ScalarType kFloatDtypes[] = {kHalf, kBFloat16, kFloat, kDouble};

/// A contiguous tensor of these elements.
inline Tensor of(const Doubles& values, IntArrayRef sizes, ScalarType dtype = kDouble) {
  Tensor result = empty(sizes, TensorOptions(dtype).device(kCPU));
  REQUIRE(result.numel() == static_cast<int64_t>(values.size()));
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* data = result.data_ptr<T>();
    for (size_t i = 0; i < values.size(); ++i) data[i] = Scalar(values[i]).to<T>();
  });
  return result.to(get_default_device());
}

/// The elements in row-major order.
inline Doubles values(const Tensor& given) {
  const Tensor tensor = given.detach().cpu();
  Doubles result;
  dispatch(tensor.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = tensor.data_ptr<T>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      int64_t offset = 0;
      int64_t rest = i;
      for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
        offset += rest % tensor.size(dim) * tensor.stride(dim);
        rest /= tensor.size(dim);
      }
      result.push_back(static_cast<double>(data[offset]));
    }
  });
  return result;
}

/// n numbers from low to high, both included, in an order that is not sorted.
inline Doubles spread(int64_t n, double low, double high) {
  Doubles result;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * 7919 % n;
    result.push_back(
        n == 1 ? low : low + (high - low) * static_cast<double>(at) / static_cast<double>(n - 1));
  }
  return result;
}

/// The relative error of one rounding, doubled: what a result of that dtype may be off by, given
/// exact inputs.
inline double tolerance(ScalarType dtype) {
  return dtype == kHalf ? 1e-3 : dtype == kBFloat16 ? 8e-3 : dtype == kFloat ? 1e-6 : 1e-14;
}

/// Checks each element; NaN equals NaN. `slack` multiplies the tolerance of the dtype, which is
/// relative down to magnitudes of `scale`.
inline void check_values(const Tensor& tensor, const Doubles& expected, double slack = 1,
                         double scale = 1e-3) {
  const Doubles got = values(tensor);
  REQUIRE(got.size() == expected.size());
  const double relative = slack * tolerance(tensor.scalar_type());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(got[i])) continue;
    if (got[i] == expected[i]) continue;
    const bool is_close =
        std::fabs(got[i] - expected[i]) <= relative * (std::fabs(expected[i]) + scale);
    if (is_close) continue;
    INFO("element " << i << ": got " << got[i] << ", expected " << expected[i] << ", dtype "
                    << tensor.scalar_type());
    REQUIRE(is_close);
  }
}

/// f of each element.
template <typename F>
Doubles map(const Doubles& x, F&& f) {
  Doubles result;
  for (const double value : x) result.push_back(f(value));
  return result;
}

/// The message of the ebb::Error that f throws.
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// A float64 leaf with those elements.
inline Tensor leaf(const Doubles& values, IntArrayRef sizes) {
  return of(values, sizes).requires_grad_();
}

}  // namespace elementwise_tests
