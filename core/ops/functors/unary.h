#pragma once

#include <cmath>
#include <limits>

#include <ebb/core/ops/functors/functor.h>
#include <ebb/core/ops/functors/math.h>

namespace ebb::functors {

using Floating = Elementwise<1, Result::floating, Types::floating>;
using Predicate = Elementwise<1, Result::boolean>;

struct Neg : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return negate(x); }
  };
};

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

struct Exp : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return math::exp(x); }
  };
};

struct Expm1 : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::expm1(x); }
  };
};

struct Log : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return math::log(x); }
  };
};

struct Log2 : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::log2(x); }
  };
};

struct Log10 : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::log10(x); }
  };
};

struct Log1p : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::log1p(x); }
  };
};

struct Sqrt : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::sqrt(x); }
  };
};

struct Rsqrt : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return T{1} / std::sqrt(x); }
  };
};

struct Square : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return multiply(x, x); }
  };
};

struct Reciprocal : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return T{1} / x; }
  };
};

struct Sin : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::sin(x); }
  };
};

struct Cos : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::cos(x); }
  };
};

struct Tan : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return std::tan(x); }
  };
};

struct Erf : Floating {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return math::erf(x); }
  };
};

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
