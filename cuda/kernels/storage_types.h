#pragma once

#include <cstdint>
#include <type_traits>

#include <ebb/core/half.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb::cuda {

/// Calls f(T{}) with the C++ type of a floating-point dtype; others are an error. For kernels that
/// are compiled for each type.
template <typename F>
void dispatch_floating_storage(ScalarType dtype, F&& f) {
  switch (dtype) {
    case ScalarType::Half:
      return f(Half{});
    case ScalarType::Float:
      return f(float{});
    case ScalarType::Double:
      return f(double{});
    case ScalarType::BFloat16:
      return f(BFloat16{});
    default:
      ebb::detail::raise_unsupported(dtype);
  }
}

/// The same for integers.
template <typename F>
void dispatch_integer_storage(ScalarType dtype, F&& f) {
  switch (dtype) {
    case ScalarType::Byte:
      return f(uint8_t{});
    case ScalarType::Char:
      return f(int8_t{});
    case ScalarType::Short:
      return f(int16_t{});
    case ScalarType::Int:
      return f(int32_t{});
    case ScalarType::Long:
      return f(int64_t{});
    default:
      ebb::detail::raise_unsupported(dtype);
  }
}

/// The same for both, but not for bool.
template <typename F>
void dispatch_storage(ScalarType dtype, F&& f) {
  if (is_floating_point(dtype)) return dispatch_floating_storage(dtype, f);
  dispatch_integer_storage(dtype, f);
}

/// What elements of type S are added up in.
template <typename S>
using Sum = std::conditional_t<ReducedFloat<S>, float, S>;

}  // namespace ebb::cuda
