#pragma once

#include <cmath>
#include <limits>

#include <ebb/core/ops/functors/functor.h>
#include <ebb/core/ops/functors/math.h>

namespace ebb::functors {

using Floating = Elementwise<1, Result::floating, Types::floating>;
using Predicate = Elementwise<1, Result::boolean>;
using FloatingOnly = Elementwise<1, Result::same, Types::floating>;

EBB_UNARY_FUNCTOR(Neg, Elementwise<1>, negate(x));

struct Abs : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>) {
        return x < 0 ? negate(x) : x;
      } else {
        return std::fabs(x);
      }
    }
  };
};

EBB_UNARY_FUNCTOR(Exp, Floating, math::exp(x));
EBB_UNARY_FUNCTOR(Expm1, Floating, std::expm1(x));
EBB_UNARY_FUNCTOR(Log, Floating, math::log(x));
EBB_UNARY_FUNCTOR(Log2, Floating, std::log2(x));
EBB_UNARY_FUNCTOR(Log10, Floating, std::log10(x));
EBB_UNARY_FUNCTOR(Log1p, Floating, std::log1p(x));
EBB_UNARY_FUNCTOR(Sqrt, Floating, std::sqrt(x));
EBB_UNARY_FUNCTOR(Rsqrt, Floating, T{1} / std::sqrt(x));
EBB_UNARY_FUNCTOR(Square, Elementwise<1>, multiply(x, x));
EBB_UNARY_FUNCTOR(Reciprocal, Floating, T{1} / x);
EBB_UNARY_FUNCTOR(Sin, Floating, std::sin(x));
EBB_UNARY_FUNCTOR(Cos, Floating, std::cos(x));
EBB_UNARY_FUNCTOR(Tan, Floating, std::tan(x));
EBB_UNARY_FUNCTOR(Erf, Floating, math::erf(x));

EBB_UNARY_FUNCTOR(Asin, Floating, std::asin(x));
EBB_UNARY_FUNCTOR(Acos, Floating, std::acos(x));
EBB_UNARY_FUNCTOR(Atan, Floating, std::atan(x));
EBB_UNARY_FUNCTOR(Sinh, Floating, std::sinh(x));
EBB_UNARY_FUNCTOR(Cosh, Floating, std::cosh(x));
EBB_UNARY_FUNCTOR(Asinh, Floating, std::asinh(x));
EBB_UNARY_FUNCTOR(Acosh, Floating, std::acosh(x));
EBB_UNARY_FUNCTOR(Atanh, Floating, std::atanh(x));
EBB_UNARY_FUNCTOR(Erfc, Floating, std::erfc(x));
EBB_UNARY_FUNCTOR(Exp2, Floating, std::exp2(x));

/// The sign is that of x.
EBB_UNARY_FUNCTOR(Frac, FloatingOnly, x - std::trunc(x));

// Rounding leaves integers as they are.

struct Floor : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return x;
      else
        return std::floor(x);
    }
  };
};

struct Ceil : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return x;
      else
        return std::ceil(x);
    }
  };
};

struct Round : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return x;
      else
        return std::nearbyint(x);
    }
  };
};

struct Trunc : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return x;
      else
        return std::trunc(x);
    }
  };
};

/// NaN has the sign 0.
struct Sign : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      return static_cast<T>(static_cast<int>(x > T{0}) - static_cast<int>(x < T{0}));
    }
  };
};

struct LogicalNot : Predicate {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T x) const { return x == T{0}; }
  };
};

/// For integers; `not` of a bool is LogicalNot.
struct BitwiseNot : Elementwise<1, Result::same, Types::integral> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return ~x; }
  };
};

struct IsNan : Predicate {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T x) const { return is_nan(x); }
  };
};

struct IsInf : Predicate {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return false;
      else
        return std::fabs(x) == std::numeric_limits<T>::infinity();
    }
  };
};

struct IsFinite : Predicate {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T x) const {
      if constexpr (std::is_integral_v<T>)
        return true;
      else
        return std::fabs(x) <= std::numeric_limits<T>::max();
    }
  };
};

}  // namespace ebb::functors
