#pragma once

#include <cmath>
#include <limits>

#include <ebb/core/ops/functors/functor.h>

namespace ebb::functors {

/// a + alpha b. Subtraction is alpha = -1, which gives the same bits.
struct Add : Elementwise<2> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : alpha(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T a, T b) const { return add(a, multiply(alpha, b)); }
    T alpha;
  };
};

/// max(a + b, 0); NaN stays NaN.
struct AddRelu : Elementwise<2, Result::same, Types::floating> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return a + b <= T{0} ? T{0} : a + b; }
  };
};

struct Mul : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return multiply(a, b); }
  };
};

struct Div : Elementwise<2, Result::floating, Types::floating> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return a / b; }
  };
};

namespace detail {
/// a / b towards zero. The one quotient that does not fit wraps around; a zero divisor, which ops
/// refuse, gives 0.
EBB_INLINE int64_t divide(int64_t a, int64_t b) {
  if (b == -1) return negate(a);
  return b == 0 ? 0 : a / b;
}
EBB_INLINE int64_t modulo(int64_t a, int64_t b) { return b == -1 || b == 0 ? 0 : a % b; }
}  // namespace detail

/// floor(a / b), exact: a / b rounded may be an integer above it.
struct DivFloor : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const {
      if constexpr (std::is_integral_v<T>) {
        const T quotient = detail::divide(a, b);
        const T rest = detail::modulo(a, b);
        return quotient - (rest != 0 && (rest < 0) != (b < 0));
      } else {
        if (b == T{0}) return a / b;
        const T rest = std::fmod(a, b);
        T quotient = (a - rest) / b;
        if (rest != T{0} && (rest < T{0}) != (b < T{0})) quotient -= T{1};
        if (quotient == T{0}) return std::copysign(T{0}, a / b);
        const T floor = std::floor(quotient);
        return quotient - floor > T(0.5) ? floor + T{1} : floor;
      }
    }
  };
};

/// a / b towards zero.
struct DivTrunc : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const {
      if constexpr (std::is_integral_v<T>)
        return detail::divide(a, b);
      else
        return std::trunc(a / b);
    }
  };
};

/// a - b floor(a / b): it has the sign of b.
struct Remainder : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const {
      if constexpr (std::is_integral_v<T>) {
        const T rest = detail::modulo(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      } else {
        const T rest = std::fmod(a, b);
        return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
      }
    }
  };
};

/// a to the power of b. An integer to a negative power is 0 unless it is 1 or -1.
struct Pow : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const {
      if constexpr (std::is_integral_v<T>) {
        if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
        T result = 1;
        for (; b != 0; b /= 2) {
          if (b % 2 != 0) result = multiply(result, a);
          a = multiply(a, a);
        }
        return result;
      } else {
        return std::pow(a, b);
      }
    }
  };
};

namespace detail {
template <typename T>
EBB_INLINE T maximum(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <typename T>
EBB_INLINE T minimum(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}
/// A bound of clamp: its number, or the widest one if it is absent (given as NaN or by a flag).
template <typename T>
EBB_INLINE T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min();
  else
    return -std::numeric_limits<T>::infinity();
}
template <typename T>
EBB_INLINE T highest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else
    return std::numeric_limits<T>::infinity();
}
}  // namespace detail

/// The larger number; NaN wins.
struct Maximum : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return detail::maximum(a, b); }
  };
};

/// The smaller number; NaN wins.
struct Minimum : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return detail::minimum(a, b); }
  };
};

/// min(max(x, low), high). Parameters: low, high.
struct Clamp : Elementwise<1> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : low(parameters[0].to<T>()), high(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return detail::minimum(detail::maximum(x, low), high); }
    T low;
    T high;
  };
};

/// min(max(x, low), high).
struct ClampTensor : Elementwise<3> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x, T low, T high) const {
      return detail::minimum(detail::maximum(x, low), high);
    }
  };
};

/// max(x, low). Parameter: low.
struct ClampMin : Elementwise<1> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : low(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return detail::maximum(x, low); }
    T low;
  };
};

/// min(x, high). Parameter: high.
struct ClampMax : Elementwise<1> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : high(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return detail::minimum(x, high); }
    T high;
  };
};

struct Where : Elementwise<3> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T condition, T a, T b) const { return condition != T{0} ? a : b; }
  };
};

struct MaskedFill : Elementwise<3> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x, T mask, T value) const { return mask != T{0} ? value : x; }
  };
};

/// x + value a b.
struct Addcmul : Elementwise<3> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : value(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x, T a, T b) const { return add(x, multiply(multiply(value, a), b)); }
    T value;
  };
};

/// x + value a / b.
struct Addcdiv : Elementwise<3, Result::same, Types::floating> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : value(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x, T a, T b) const { return x + value * a / b; }
    T value;
  };
};

/// The rest of a / b rounded towards zero: it has the sign of a.
struct Fmod : Elementwise<2> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const {
      if constexpr (std::is_integral_v<T>)
        return detail::modulo(a, b);
      else
        return std::fmod(a, b);
    }
  };
};

using ElementwisePair = Elementwise<2>;
// The other number wins over NaN.
EBB_BINARY_FUNCTOR(Fmax, ElementwisePair, is_nan(b) || a > b ? a : b);
EBB_BINARY_FUNCTOR(Fmin, ElementwisePair, is_nan(b) || a < b ? a : b);

using FloatingPair = Elementwise<2, Result::floating, Types::floating>;
using FloatingPairOnly = Elementwise<2, Result::same, Types::floating>;
EBB_BINARY_FUNCTOR(Atan2, FloatingPair, std::atan2(a, b));
EBB_BINARY_FUNCTOR(Hypot, FloatingPairOnly, std::hypot(a, b));

/// Parameters: what stands for NaN, infinity and -infinity.
struct NanToNum : Elementwise<1> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : nan(parameters[0].to<T>()), high(parameters[1].to<T>()), low(parameters[2].to<T>()) {}
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>) {
        return x;
      } else {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        return is_nan(x) ? nan : x == infinity ? high : x == -infinity ? low : x;
      }
    }
    T nan;
    T high;
    T low;
  };
};

namespace detail {
/// Exact at both ends, whichever is nearer is the base.
template <typename T>
EBB_INLINE T lerp(T a, T b, T weight) {
  return std::fabs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (T{1} - weight);
}
}  // namespace detail

/// a + weight (b - a). Parameter: weight.
struct Lerp : Elementwise<2, Result::same, Types::floating> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : weight(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T a, T b) const { return detail::lerp(a, b, weight); }
    T weight;
  };
};

/// a + weight (b - a).
struct LerpTensor : Elementwise<3, Result::same, Types::floating> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b, T weight) const { return detail::lerp(a, b, weight); }
  };
};

}  // namespace ebb::functors
