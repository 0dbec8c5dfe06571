#include <numbers>

#include <ebb/autograd/ops/elementwise.h>

// Activations. The backward op of each is one pass; its own gradient is written with public ops.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::ElementwiseNames;
using autograd::Recorder;
using autograd::unary;
using autograd::unary_;

namespace {

constexpr ElementwiseNames kRelu = {"relu", "relu_", "ReluBackward0", ElementwiseOp::Relu};
constexpr ElementwiseNames kTanh = {"tanh", "tanh_", "TanhBackward0", ElementwiseOp::Tanh};
constexpr ElementwiseNames kSigmoid = {"sigmoid", "sigmoid_", "SigmoidBackward0",
                                       ElementwiseOp::Sigmoid};
constexpr ElementwiseNames kSilu = {"silu", "silu_", "SiluBackward0", ElementwiseOp::Silu};

auto relu_formula(Recorder& r, const Tensor&) {
  r.keep_result();
  return [](Backward& b) { b.set(0, threshold_backward(b.grad(), b.result(), 0)); };
}
auto tanh_formula(Recorder& r, const Tensor&) {
  r.keep_result();
  return [](Backward& b) { b.set(0, tanh_backward(b.grad(), b.result())); };
}
auto sigmoid_formula(Recorder& r, const Tensor&) {
  r.keep_result();
  return [](Backward& b) { b.set(0, sigmoid_backward(b.grad(), b.result())); };
}
auto silu_formula(Recorder& r, const Tensor& self) {
  return [self = r.save(self)](Backward& b) { b.set(0, silu_backward(b.grad(), b.get(self))); };
}

/// Whether GELU is the approximation with tanh.
bool is_tanh_gelu(std::string_view approximate) {
  EBB_CHECK(approximate == "none" || approximate == "tanh",
            "approximate argument must be either none or tanh, got \"", approximate, "\"");
  return approximate == "tanh";
}

/// The second derivative of x Phi(x): phi(x) (2 - x^2).
Tensor gelu_curvature(const Tensor& x) {
  const double scale = 1 / std::sqrt(2 * std::numbers::pi);
  const Tensor squared = x.square();
  return (squared * -0.5).exp() * scale * (2 - squared);
}

/// The second derivative of x / 2 (1 + tanh u) with u = k (x + c x^3).
Tensor gelu_tanh_curvature(const Tensor& x) {
  const double k = std::sqrt(2 / std::numbers::pi);
  const double c = 0.044715;
  const Tensor squared = x.square();
  const Tensor t = (x * (squared * c + 1) * k).tanh();
  const Tensor slope = (squared * (3 * c) + 1) * k;       // u'
  const Tensor half_x_curvature = squared * (3 * k * c);  // x / 2 u''
  return (1 - t.square()) * (slope - x * t * slope.square() + half_x_curvature);
}

/// The second derivative of x sigmoid(x).
Tensor silu_curvature(const Tensor& x) {
  const Tensor s = x.sigmoid();
  return s * (1 - s) * (2 + x * (1 - s * 2));
}

}  // namespace

Tensor relu(const Tensor& self) { return unary(kRelu, self, relu_formula); }
const Tensor& relu_(const Tensor& self) { return unary_(kRelu, self, relu_formula); }
Tensor tanh(const Tensor& self) { return unary(kTanh, self, tanh_formula); }
const Tensor& tanh_(const Tensor& self) { return unary_(kTanh, self, tanh_formula); }
Tensor sigmoid(const Tensor& self) { return unary(kSigmoid, self, sigmoid_formula); }
const Tensor& sigmoid_(const Tensor& self) { return unary_(kSigmoid, self, sigmoid_formula); }
Tensor silu(const Tensor& self) { return unary(kSilu, self, silu_formula); }
const Tensor& silu_(const Tensor& self) { return unary_(kSilu, self, silu_formula); }

Tensor gelu(const Tensor& self, std::string_view approximate) {
  const OpName name("gelu");
  const bool is_tanh = is_tanh_gelu(approximate);
  return differentiable(
      "gelu", "GeluBackward0", {self},
      [&] {
        return ops::elementwise(is_tanh ? ElementwiseOp::GeluTanh : ElementwiseOp::Gelu, {self});
      },
      [&](Recorder& r) {
        return [is_tanh, self = r.save(self)](Backward& b) {
          b.set(0, gelu_backward(b.grad(), b.get(self), is_tanh ? "tanh" : "none"));
        };
      });
}

Tensor threshold_backward(const Tensor& grad_output, const Tensor& result,
                          const Scalar& threshold) {
  return differentiable(
      "threshold_backward", "ThresholdBackwardBackward0", {grad_output, result},
      [&] {
        return ops::elementwise(ElementwiseOp::ThresholdBackward, {grad_output, result},
                                &threshold);
      },
      [&](Recorder& r) {
        return [threshold, result = r.save(result)](Backward& b) {
          if (b.needs(0)) b.set(0, threshold_backward(b.grad(), b.get(result), threshold));
          if (b.needs(1)) b.set(1, zero(b.grad()));
        };
      });
}

Tensor tanh_backward(const Tensor& grad_output, const Tensor& result) {
  return differentiable(
      "tanh_backward", "TanhBackwardBackward0", {grad_output, result},
      [&] {
        return ops::elementwise(ElementwiseOp::TanhBackward, {grad_output, result});
      },
      [&](Recorder& r) {
        return [grad_output = r.save_if(r.needs(1), grad_output),
                result = r.save(result)](Backward& b) {
          if (b.needs(0)) b.set(0, tanh_backward(b.grad(), b.get(result)));
          if (b.needs(1)) b.set(1, b.grad() * b.get(grad_output) * (b.get(result) * -2));
        };
      });
}

Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& result) {
  return differentiable(
      "sigmoid_backward", "SigmoidBackwardBackward0", {grad_output, result},
      [&] {
        return ops::elementwise(ElementwiseOp::SigmoidBackward, {grad_output, result});
      },
      [&](Recorder& r) {
        return [grad_output = r.save_if(r.needs(1), grad_output),
                result = r.save(result)](Backward& b) {
          if (b.needs(0)) b.set(0, sigmoid_backward(b.grad(), b.get(result)));
          if (b.needs(1)) b.set(1, b.grad() * b.get(grad_output) * (1 - b.get(result) * 2));
        };
      });
}

Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  const OpName name("gelu_backward");
  const bool is_tanh = is_tanh_gelu(approximate);
  return differentiable(
      "gelu_backward", "GeluBackwardBackward0", {grad_output, self},
      [&] {
        return ops::elementwise(
            is_tanh ? ElementwiseOp::GeluTanhBackward : ElementwiseOp::GeluBackward,
            {grad_output, self});
      },
      [&](Recorder& r) {
        return [is_tanh, grad_output = r.save_if(r.needs(1), grad_output),
                self = r.save(self)](Backward& b) {
          const Tensor x = b.get(self);
          if (b.needs(0)) b.set(0, gelu_backward(b.grad(), x, is_tanh ? "tanh" : "none"));
          if (!b.needs(1)) return;
          const Tensor curvature = is_tanh ? gelu_tanh_curvature(x) : gelu_curvature(x);
          b.set(1, b.grad() * b.get(grad_output) * curvature);
        };
      });
}

Tensor silu_backward(const Tensor& grad_output, const Tensor& self) {
  return differentiable(
      "silu_backward", "SiluBackwardBackward0", {grad_output, self},
      [&] {
        return ops::elementwise(ElementwiseOp::SiluBackward, {grad_output, self});
      },
      [&](Recorder& r) {
        return
            [grad_output = r.save_if(r.needs(1), grad_output), self = r.save(self)](Backward& b) {
              const Tensor x = b.get(self);
              if (b.needs(0)) b.set(0, silu_backward(b.grad(), x));
              if (b.needs(1)) b.set(1, b.grad() * b.get(grad_output) * silu_curvature(x));
            };
      });
}

}  // namespace ebb
