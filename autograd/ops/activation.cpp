#include <array>
#include <numbers>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/ops/curvature.h>
#include <ebb/autograd/ops/elementwise.h>

// Activations that are more than a functor and a gradient; the others are elementwise_table.cpp.
// The backward op of each is one pass; its own gradient is written with public ops.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::Keeps;
using autograd::Recorder;
using autograd::UnaryOp;

namespace autograd {

Tensor gelu_curvature(const Tensor& x) {
  const double scale = 1 / std::sqrt(2 * std::numbers::pi);
  const Tensor squared = x.square();
  return (squared * -0.5).exp() * scale * (2 - squared);
}

Tensor gelu_tanh_curvature(const Tensor& x) {
  const double k = std::sqrt(2 / std::numbers::pi);
  const double c = 0.044715;
  const Tensor squared = x.square();
  const Tensor t = (x * (squared * c + 1) * k).tanh();
  const Tensor slope = (squared * (3 * c) + 1) * k;       // u'
  const Tensor half_x_curvature = squared * (3 * k * c);  // x / 2 u''
  return (1 - t.square()) * (slope - x * t * slope.square() + half_x_curvature);
}

Tensor silu_curvature(const Tensor& x) {
  const Tensor s = x.sigmoid();
  return s * (1 - s) * (2 + x * (1 - s * 2));
}

Tensor softplus_curvature(const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  const Tensor scaled = x * beta;
  const Tensor s = scaled.sigmoid();
  return (s * (1 - s) * beta).masked_fill(scaled > threshold, 0);
}

Tensor mish_curvature(const Tensor& x) {
  const Tensor t = softplus(x).tanh();
  const Tensor s = x.sigmoid();
  return s * (1 - t.square()) * (2 + x * (1 - s - s * t * 2));
}

Tensor log_sigmoid_curvature(const Tensor& x) {
  const Tensor s = x.sigmoid();
  return s * (s - 1);
}

}  // namespace autograd

namespace {

/// Whether GELU is the approximation with tanh.
bool is_tanh_gelu(std::string_view approximate) {
  EBB_CHECK(approximate == "none" || approximate == "tanh",
            "approximate argument must be either none or tanh, got \"", approximate, "\"");
  return approximate == "tanh";
}

// An activation with a negative part keeps its result, which a layer behind it keeps too, where the
// sign of self can be read from it.

Tensor leaky_relu_gradient(const Tensor& grad, const Tensor& kept, const Scalar* numbers) {
  return leaky_relu_backward(grad, kept, numbers[0]);
}
template <Keeps keeps>
constexpr UnaryOp kLeakyRelu = {"leaky_relu",         "leaky_relu_",
                                "LeakyReluBackward0", ElementwiseOp::LeakyRelu,
                                keeps,                &leaky_relu_gradient};

template <Keeps keeps>
Tensor elu_gradient(const Tensor& grad, const Tensor& kept, const Scalar* numbers) {
  return elu_backward(grad, numbers[0], numbers[1], numbers[2], keeps == Keeps::result, kept);
}

/// elu, and its special cases, by their names.
struct EluNames {
  const char* name;
  const char* in_place_name;
};
constexpr EluNames kElu = {"elu", "elu_"};
constexpr EluNames kCelu = {"celu", "celu_"};
constexpr EluNames kSelu = {"selu", "selu_"};

template <const EluNames& names, Keeps keeps>
constexpr UnaryOp kEluOp = {names.name, names.in_place_name, "EluBackward0",
                            ElementwiseOp::Elu, keeps, &elu_gradient<keeps>};

const UnaryOp& leaky_relu_of(const Scalar& negative_slope) {
  return negative_slope.to<double>() >= 0 ? kLeakyRelu<Keeps::result> : kLeakyRelu<Keeps::self>;
}
template <const EluNames& names>
const UnaryOp& elu_of(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const bool keeps_sign =
      alpha.to<double>() >= 0 && scale.to<double>() > 0 && input_scale.to<double>() > 0;
  return keeps_sign ? kEluOp<names, Keeps::result> : kEluOp<names, Keeps::self>;
}

Tensor hardtanh_gradient(const Tensor& grad, const Tensor& result, const Scalar* numbers) {
  return hardtanh_backward(grad, result, numbers[0], numbers[1]);
}
constexpr UnaryOp kRelu6 = {"relu6",       "relu6_", "HardtanhBackward0", ElementwiseOp::Hardtanh,
                            Keeps::result, &hardtanh_gradient};

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

/// alpha, scale and input_scale of elu for celu.
std::array<Scalar, 3> celu_numbers(const Scalar& alpha) {
  EBB_CHECK(alpha.to<double>() != 0, "celu: alpha must not be 0, since x is divided by it");
  return {alpha, 1, 1 / alpha.to<double>()};
}

/// The weight of prelu as it broadcasts with self: one number, or one for each of dimension 1.
Tensor prelu_weight(const Tensor& self, const Tensor& weight) {
  const int64_t channels = self.dim() < 2 ? 1 : self.size(1);
  EBB_CHECK(weight.dim() <= 1 && (weight.numel() == 1 || weight.numel() == channels),
            "prelu: weight is one number, or one for each of the ", channels,
            " channels (dimension 1) of the input of sizes ", self.sizes(), ", got sizes ",
            weight.sizes());
  if (weight.numel() == 1) return weight.reshape(IntArrayRef());
  std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
  sizes[1] = channels;
  return weight.view(sizes);
}

}  // namespace

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  return unary(leaky_relu_of(negative_slope), self, {negative_slope});
}
const Tensor& leaky_relu_(const Tensor& self, const Scalar& negative_slope) {
  return unary_(leaky_relu_of(negative_slope), self, {negative_slope});
}

Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale,
           const Scalar& input_scale) {
  return unary(elu_of<kElu>(alpha, scale, input_scale), self, {alpha, scale, input_scale});
}
const Tensor& elu_(const Tensor& self, const Scalar& alpha, const Scalar& scale,
                   const Scalar& input_scale) {
  return unary_(elu_of<kElu>(alpha, scale, input_scale), self, {alpha, scale, input_scale});
}
Tensor celu(const Tensor& self, const Scalar& alpha) {
  const auto [a, scale, input_scale] = celu_numbers(alpha);
  return unary(elu_of<kCelu>(a, scale, input_scale), self, {a, scale, input_scale});
}
const Tensor& celu_(const Tensor& self, const Scalar& alpha) {
  const auto [a, scale, input_scale] = celu_numbers(alpha);
  return unary_(elu_of<kCelu>(a, scale, input_scale), self, {a, scale, input_scale});
}
Tensor selu(const Tensor& self) {
  return unary(kEluOp<kSelu, Keeps::result>, self, {kSeluAlpha, kSeluScale, 1});
}
const Tensor& selu_(const Tensor& self) {
  return unary_(kEluOp<kSelu, Keeps::result>, self, {kSeluAlpha, kSeluScale, 1});
}
Tensor relu6(const Tensor& self) { return unary(kRelu6, self, {0, 6}); }
const Tensor& relu6_(const Tensor& self) { return unary_(kRelu6, self, {0, 6}); }

Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                    const Scalar& input_scale, bool is_result, const Tensor& self_or_result) {
  const Scalar numbers[] = {alpha, scale, input_scale, is_result};
  return differentiable(
      "elu_backward", "EluBackwardBackward0", {grad_output, self_or_result},
      [&] {
        return ops::elementwise(ElementwiseOp::EluBackward, {grad_output, self_or_result},
                                numbers);
      },
      [&](Recorder& r) {
        return [=, grad_output = r.save_if(r.needs(1), grad_output),
                kept = r.save(self_or_result)](Backward& b) {
          const Tensor at = b.get(kept);
          if (b.needs(0)) {
            b.set(0, elu_backward(b.grad(), alpha, scale, input_scale, is_result, at));
          }
          if (!b.needs(1)) return;
          // Below zero: input_scale (y + scale alpha) from the result y, which is its own gradient
          // over input_scale, or scale alpha input_scale e^(input_scale x) from x.
          const double factor = input_scale.to<double>();
          const double below = scale.to<double>() * alpha.to<double>() * factor * factor;
          const Tensor curvature = is_result ? ones_like(at) * factor
                                             : (at * input_scale).exp() * below;
          b.set(1, b.grad() * b.get(grad_output) * curvature.masked_fill(at > 0, 0));
        };
      });
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  const OpName name("prelu");
  const Tensor slopes = prelu_weight(self, weight);
  return differentiable(
      "prelu", "PreluKernelBackward0", {self, slopes},
      [&] {
        return ops::elementwise(ElementwiseOp::Prelu, {self, slopes});
      },
      [&](Recorder& r) {
        return [self = r.save(self), slopes = r.save_if(r.needs(0), slopes)](Backward& b) {
          const Tensor x = b.get(self);
          const Tensor positive = x > 0;
          if (b.needs(0)) b.set(0, where(positive, b.grad(), b.grad() * b.get(slopes)));
          if (b.needs(1)) b.set(1, (b.grad() * x).masked_fill(positive, 0));
        };
      });
}

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
          const Tensor curvature =
              is_tanh ? autograd::gelu_tanh_curvature(x) : autograd::gelu_curvature(x);
          b.set(1, b.grad() * b.get(grad_output) * curvature);
        };
      });
}

}  // namespace ebb
