#pragma once

#include <cmath>

#include <ebb/core/ops/functors/functor.h>

namespace ebb::functors::math {

template <typename T>
EBB_INLINE T exp(T x) {
  return std::exp(x);
}
template <typename T>
EBB_INLINE T log(T x) {
  return std::log(x);
}
template <typename T>
EBB_INLINE T tanh(T x) {
  return std::tanh(x);
}
template <typename T>
EBB_INLINE T erf(T x) {
  return std::erf(x);
}
template <typename T>
EBB_INLINE T sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

}  // namespace ebb::functors::math
