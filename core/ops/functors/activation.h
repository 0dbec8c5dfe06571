#pragma once

#include <cmath>

#include <ebb/core/ops/functors/functor.h>
#include <ebb/core/ops/functors/math.h>

// Activations and the products of their derivatives with grad_output. A backward functor takes
// grad_output first, then what forward kept: its result or its input.

namespace ebb::functors {

using Activation = Elementwise<1, Result::same, Types::floating>;
using ActivationBackward = Elementwise<2, Result::same, Types::floating>;

/// NaN stays NaN.
struct Relu : Elementwise<1> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return x <= T{0} ? T{0} : x; }
  };
};

/// x Phi(x) = x / 2 (1 + erf(x / sqrt(2))).
struct Gelu : Activation {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      return T(0.5) * x * (T{1} + math::erf(x * T(0.70710678118654752440)));
    }
  };
};

namespace detail {
/// sqrt(2 / pi) (x + 0.044715 x^3): the argument of tanh in the approximation of GELU.
template <typename T>
EBB_INLINE T gelu_inner(T x) {
  return T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
}
}  // namespace detail

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, 2016).
struct GeluTanh : Activation {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const {
      return T(0.5) * x * (T{1} + math::tanh(detail::gelu_inner(x)));
    }
  };
};

struct Tanh : Elementwise<1, Result::floating, Types::floating> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return math::tanh(x); }
  };
};

struct Sigmoid : Elementwise<1, Result::floating, Types::floating> {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return math::sigmoid(x); }
  };
};

/// x sigmoid(x).
struct Silu : Activation {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return x * math::sigmoid(x); }
  };
};

/// grad where result > threshold, else 0.
struct ThresholdBackward : Elementwise<2> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : threshold(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T grad, T result) const { return result <= threshold ? T{0} : grad; }
    T threshold;
  };
};

struct TanhBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T result) const { return grad * (T{1} - result * result); }
  };
};

struct SigmoidBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T result) const { return grad * result * (T{1} - result); }
  };
};

/// grad (Phi(x) + x phi(x)).
struct GeluBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T x) const {
      const T cdf = T(0.5) * (T{1} + math::erf(x * T(0.70710678118654752440)));
      const T pdf = T(0.39894228040143267794) * math::exp(T(-0.5) * x * x);
      return grad * (cdf + x * pdf);
    }
  };
};

struct GeluTanhBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T x) const {
      const T tanh = math::tanh(detail::gelu_inner(x));
      const T inner_slope = T(0.79788456080286535588) * (T{1} + T(3 * 0.044715) * x * x);
      return grad * T(0.5) * (T{1} + tanh + x * (T{1} - tanh * tanh) * inner_slope);
    }
  };
};

struct SiluBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T x) const {
      const T sigmoid = math::sigmoid(x);
      return grad * sigmoid * (T{1} + x * (T{1} - sigmoid));
    }
  };
};

}  // namespace ebb::functors
