#pragma once

#include <cstdint>
#include <type_traits>

#include <ebb/core/export.h>
#include <ebb/core/tensor/scalar.h>

// The arithmetic of the elementwise ops, once, for the host and for devices. A functor says how
// many inputs it has, which dtype its result gets, in which types it can compute, and holds the
// arithmetic as
//
//   template <typename T> struct Op { explicit Op(const Scalar* parameters); T operator()(T...); };
//
// where T is float, double or int64: other dtypes are converted to one of these and back.

namespace ebb::functors {

/// The dtype of a result: that of the promoted inputs; for integers the default floating-point
/// type instead; or bool.
enum class Result : uint8_t { same, floating, boolean };

/// The types that a functor can compute in.
enum class Types : uint8_t { all, floating, integral };

/// The facts of a functor.
template <int Arity, Result R = Result::same, Types U = Types::all>
struct Elementwise {
  static constexpr int arity = Arity;
  static constexpr Result result = R;
  static constexpr Types types = U;
};

template <typename F, typename T>
inline constexpr bool computes_in = F::types == Types::all ||
                                    (F::types == Types::floating) == std::is_floating_point_v<T>;

/// The base of an Op that takes no numbers.
struct NoParameters {
  EBB_INLINE explicit NoParameters(const Scalar*) {}
};

/// A functor of one number `x` (of type T) without parameters: its name, its facts, what it gives.
#define EBB_UNARY_FUNCTOR(Name, Facts, ...)                          \
  struct Name : Facts {                                             \
    template <typename T>                                           \
    struct Op : NoParameters {                                      \
      using NoParameters::NoParameters;                             \
      EBB_INLINE auto operator()(T x) const { return __VA_ARGS__; } \
    };                                                              \
  }
/// A functor of two numbers `a` and `b` without parameters.
#define EBB_BINARY_FUNCTOR(Name, Facts, ...)                              \
  struct Name : Facts {                                                  \
    template <typename T>                                                \
    struct Op : NoParameters {                                           \
      using NoParameters::NoParameters;                                  \
      EBB_INLINE auto operator()(T a, T b) const { return __VA_ARGS__; } \
    };                                                                   \
  }

// Integers wrap around, as in NumPy and LibTorch.

template <typename T>
EBB_INLINE T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename T>
EBB_INLINE T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else {
    return a - b;
  }
}
template <typename T>
EBB_INLINE T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
template <typename T>
EBB_INLINE T negate(T a) {
  if constexpr (std::is_integral_v<T>) {
    return subtract(T{0}, a);
  } else {
    return -a;
  }
}
template <typename T>
EBB_INLINE bool is_nan(T a) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return a != a;
  }
}

}  // namespace ebb::functors
