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

/// x, or slope x where x is not above zero. Parameter: slope.
struct LeakyRelu : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : slope(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return x > T{0} ? x : x * slope; }
    T slope;
  };
};
struct LeakyReluBackward : ActivationBackward {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : slope(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T grad, T x) const { return x > T{0} ? grad : grad * slope; }
    T slope;
  };
};

/// scale x, or scale alpha (e^(input_scale x) - 1) where x is not above zero. Parameters: alpha,
/// scale, input_scale.
struct Elu : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : negative(parameters[0].to<T>() * parameters[1].to<T>()),
          scale(parameters[1].to<T>()),
          input_scale(parameters[2].to<T>()) {}
    EBB_INLINE T operator()(T x) const {
      return x > T{0} ? scale * x : negative * std::expm1(x * input_scale);
    }
    T negative;
    T scale;
    T input_scale;
  };
};
/// Parameters: alpha, scale, input_scale, whether y is the result of Elu and not its input.
struct EluBackward : ActivationBackward {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : negative(parameters[0].to<T>() * parameters[1].to<T>()),
          scale(parameters[1].to<T>()),
          input_scale(parameters[2].to<T>()),
          is_result(parameters[3].to<bool>()) {}
    EBB_INLINE T operator()(T grad, T y) const {
      const T below = is_result ? y + negative : negative * math::exp(y * input_scale);
      return grad * (y > T{0} ? scale : input_scale * below);
    }
    T negative;
    T scale;
    T input_scale;
    bool is_result;
  };
};

/// Parameters: the least and the largest result. NaN stays NaN.
struct Hardtanh : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : low(parameters[0].to<T>()), high(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return x < low ? low : x > high ? high : x; }
    T low;
    T high;
  };
};
struct HardtanhBackward : ActivationBackward {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : low(parameters[0].to<T>()), high(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T grad, T x) const { return x <= low || x >= high ? T{0} : grad; }
    T low;
    T high;
  };
};

namespace detail {
/// min(max(x, 0), 6); NaN stays NaN.
template <typename T>
EBB_INLINE T relu6(T x) {
  return x < T{0} ? T{0} : x > T{6} ? T{6} : x;
}
/// log(1 + e^x) without overflow.
template <typename T>
EBB_INLINE T softplus(T x) {
  return (x > T{0} ? x : T{0}) + std::log1p(math::exp(-std::fabs(x)));
}
}  // namespace detail

EBB_UNARY_FUNCTOR(Hardsigmoid, Activation, detail::relu6(x + T{3}) / T{6});
EBB_BINARY_FUNCTOR(HardsigmoidBackward, ActivationBackward,
                   b > T{-3} && b < T{3} ? a / T{6} : T{0});
EBB_UNARY_FUNCTOR(Hardswish, Activation, x * detail::relu6(x + T{3}) / T{6});
EBB_BINARY_FUNCTOR(HardswishBackward, ActivationBackward,
                   b <= T{-3}  ? T{0}
                   : b >= T{3} ? a
                               : a * (b / T{3} + T(0.5)));

/// log(1 + e^(beta x)) / beta, or x where beta x is above the threshold. Parameters: beta,
/// threshold.
struct Softplus : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : beta(parameters[0].to<T>()), threshold(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T x) const {
      return x * beta > threshold ? x : detail::softplus(x * beta) / beta;
    }
    T beta;
    T threshold;
  };
};
struct SoftplusBackward : ActivationBackward {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : beta(parameters[0].to<T>()), threshold(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T grad, T x) const {
      return x * beta > threshold ? grad : grad * math::sigmoid(x * beta);
    }
    T beta;
    T threshold;
  };
};

EBB_UNARY_FUNCTOR(Mish, Activation, x * math::tanh(detail::softplus(x)));
struct MishBackward : ActivationBackward {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T grad, T x) const {
      const T tanh = math::tanh(detail::softplus(x));
      return grad * (tanh + x * math::sigmoid(x) * (T{1} - tanh * tanh));
    }
  };
};

EBB_UNARY_FUNCTOR(LogSigmoid, Activation, -detail::softplus(-x));
EBB_BINARY_FUNCTOR(LogSigmoidBackward, ActivationBackward, a * math::sigmoid(-b));
EBB_UNARY_FUNCTOR(Softsign, Activation, x / (T{1} + std::fabs(x)));
EBB_BINARY_FUNCTOR(SoftsignBackward, ActivationBackward,
                   a / ((T{1} + std::fabs(b)) * (T{1} + std::fabs(b))));
EBB_UNARY_FUNCTOR(Tanhshrink, Activation, x - math::tanh(x));

/// x moved towards zero, which it does not pass. Parameter: by how much.
struct Softshrink : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : lambda(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const {
      return x > lambda ? x - lambda : x < -lambda ? x + lambda : x * T{0};
    }
    T lambda;
  };
};

/// x, or zero near zero. Parameter: how near.
struct Hardshrink : Activation {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : lambda(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return x >= -lambda && x <= lambda ? T{0} : x; }
    T lambda;
  };
};

/// x above the threshold, else the value. Parameters: threshold, value.
struct Threshold : Elementwise<1> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters)
        : threshold(parameters[0].to<T>()), value(parameters[1].to<T>()) {}
    EBB_INLINE T operator()(T x) const { return x <= threshold ? value : x; }
    T threshold;
    T value;
  };
};

/// log(x / (1 - x)) of x cut off to [eps, 1 - eps]. Parameter: eps, negative for none.
struct Logit : Elementwise<1, Result::floating, Types::floating> {
  template <typename T>
  struct Op {
    EBB_INLINE explicit Op(const Scalar* parameters) : eps(parameters[0].to<T>()) {}
    EBB_INLINE T operator()(T x) const {
      const T high = T{1} - eps;
      const T cut = eps < T{0} ? x : x < eps ? eps : x > high ? high : x;
      return math::log(cut / (T{1} - cut));
    }
    T eps;
  };
};

EBB_BINARY_FUNCTOR(Prelu, ActivationBackward, a > T{0} ? a : a * b);

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
