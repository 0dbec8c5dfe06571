// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <numbers>

#include <ebb/autograd/ops/curvature.h>
#include <ebb/autograd/ops/elementwise.h>

namespace ebb {

using namespace autograd;

namespace {

constexpr UnaryOp k_abs = {"abs", "abs_", "AbsBackward0",
    ElementwiseOp::Abs, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * self.sign(); }};
constexpr UnaryOp k_exp = {"exp", "exp_", "ExpBackward0",
    ElementwiseOp::Exp, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad * result; }, autocast_of("exp")};
constexpr UnaryOp k_expm1 = {"expm1", "expm1_", "Expm1Backward0",
    ElementwiseOp::Expm1, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad * (result + 1); }, autocast_of("expm1")};
constexpr UnaryOp k_log = {"log", "log_", "LogBackward0",
    ElementwiseOp::Log, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / self; }, autocast_of("log")};
constexpr UnaryOp k_log2 = {"log2", "log2_", "Log2Backward0",
    ElementwiseOp::Log2, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / (self * std::numbers::ln2); }, autocast_of("log2")};
constexpr UnaryOp k_log10 = {"log10", "log10_", "Log10Backward0",
    ElementwiseOp::Log10, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / (self * std::numbers::ln10); }, autocast_of("log10")};
constexpr UnaryOp k_log1p = {"log1p", "log1p_", "Log1PBackward0",
    ElementwiseOp::Log1p, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / (self + 1); }, autocast_of("log1p")};
constexpr UnaryOp k_sqrt = {"sqrt", "sqrt_", "SqrtBackward0",
    ElementwiseOp::Sqrt, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad / (result * 2); }};
constexpr UnaryOp k_rsqrt = {"rsqrt", "rsqrt_", "RsqrtBackward0",
    ElementwiseOp::Rsqrt, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad * -0.5 * result.pow(3); }, autocast_of("rsqrt")};
constexpr UnaryOp k_square = {"square", "square_", "PowBackward0",
    ElementwiseOp::Square, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * (self * 2); }};
constexpr UnaryOp k_reciprocal = {"reciprocal", "reciprocal_", "ReciprocalBackward0",
    ElementwiseOp::Reciprocal, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return -grad * (result * result); }, autocast_of("reciprocal")};
constexpr UnaryOp k_sin = {"sin", "sin_", "SinBackward0",
    ElementwiseOp::Sin, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * self.cos(); }};
constexpr UnaryOp k_cos = {"cos", "cos_", "CosBackward0",
    ElementwiseOp::Cos, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * -self.sin(); }};
constexpr UnaryOp k_tan = {"tan", "tan_", "TanBackward0",
    ElementwiseOp::Tan, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad * (result.square() + 1); }, autocast_of("tan")};
constexpr UnaryOp k_erf = {"erf", "erf_", "ErfBackward0",
    ElementwiseOp::Erf, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * ((-self.square()).exp() * (2 * std::numbers::inv_sqrtpi)); }};
constexpr UnaryOp k_floor = {"floor", "floor_", "FloorBackward0",
    ElementwiseOp::Floor, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return zero(grad); }};
constexpr UnaryOp k_ceil = {"ceil", "ceil_", "CeilBackward0",
    ElementwiseOp::Ceil, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return zero(grad); }};
constexpr UnaryOp k_round = {"round", "round_", "RoundBackward0",
    ElementwiseOp::Round, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return zero(grad); }};
constexpr UnaryOp k_trunc = {"trunc", "trunc_", "TruncBackward0",
    ElementwiseOp::Trunc, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return zero(grad); }};
constexpr UnaryOp k_sign = {"sign", "sign_", "SignBackward0",
    ElementwiseOp::Sign, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return zero(grad); }};
constexpr UnaryOp k_asin = {"asin", "asin_", "AsinBackward0",
    ElementwiseOp::Asin, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * (1 - self.square()).rsqrt(); }, autocast_of("asin")};
constexpr UnaryOp k_acos = {"acos", "acos_", "AcosBackward0",
    ElementwiseOp::Acos, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return -grad * (1 - self.square()).rsqrt(); }, autocast_of("acos")};
constexpr UnaryOp k_atan = {"atan", "atan_", "AtanBackward0",
    ElementwiseOp::Atan, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / (self.square() + 1); }};
constexpr UnaryOp k_sinh = {"sinh", "sinh_", "SinhBackward0",
    ElementwiseOp::Sinh, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * self.cosh(); }, autocast_of("sinh")};
constexpr UnaryOp k_cosh = {"cosh", "cosh_", "CoshBackward0",
    ElementwiseOp::Cosh, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * self.sinh(); }, autocast_of("cosh")};
constexpr UnaryOp k_asinh = {"asinh", "asinh_", "AsinhBackward0",
    ElementwiseOp::Asinh, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * (self.square() + 1).rsqrt(); }};
constexpr UnaryOp k_acosh = {"acosh", "acosh_", "AcoshBackward0",
    ElementwiseOp::Acosh, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * (self.square() - 1).rsqrt(); }};
constexpr UnaryOp k_atanh = {"atanh", "atanh_", "AtanhBackward0",
    ElementwiseOp::Atanh, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad / (1 - self.square()); }};
constexpr UnaryOp k_erfc = {"erfc", "erfc_", "ErfcBackward0",
    ElementwiseOp::Erfc, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * ((-self.square()).exp() * (-2 * std::numbers::inv_sqrtpi)); }};
constexpr UnaryOp k_exp2 = {"exp2", "exp2_", "Exp2Backward0",
    ElementwiseOp::Exp2, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad * (result * std::numbers::ln2); }};
constexpr UnaryOp k_frac = {"frac", "frac_", "FracBackward0",
    ElementwiseOp::Frac, Keeps::nothing,
    [](const Tensor& grad, const Tensor&, const Scalar*) -> Tensor { return grad; }};
constexpr UnaryOp k_relu = {"relu", "relu_", "ReluBackward0",
    ElementwiseOp::Relu, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return threshold_backward(grad, result, 0); }};
constexpr UnaryOp k_tanh = {"tanh", "tanh_", "TanhBackward0",
    ElementwiseOp::Tanh, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return tanh_backward(grad, result); }};
constexpr UnaryOp k_sigmoid = {"sigmoid", "sigmoid_", "SigmoidBackward0",
    ElementwiseOp::Sigmoid, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return sigmoid_backward(grad, result); }};
constexpr UnaryOp k_silu = {"silu", "silu_", "SiluBackward0",
    ElementwiseOp::Silu, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return silu_backward(grad, self); }};
constexpr UnaryOp k_hardtanh = {"hardtanh", "hardtanh_", "HardtanhBackward0",
    ElementwiseOp::Hardtanh, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar* numbers) -> Tensor { const Scalar& min_val = numbers[0]; const Scalar& max_val = numbers[1]; return hardtanh_backward(grad, result, min_val, max_val); }};
constexpr UnaryOp k_hardsigmoid = {"hardsigmoid", "hardsigmoid_", "HardsigmoidBackward0",
    ElementwiseOp::Hardsigmoid, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return hardsigmoid_backward(grad, self); }};
constexpr UnaryOp k_hardswish = {"hardswish", "hardswish_", "HardswishBackward0",
    ElementwiseOp::Hardswish, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return hardswish_backward(grad, self); }};
constexpr UnaryOp k_softplus = {"softplus", nullptr, "SoftplusBackward0",
    ElementwiseOp::Softplus, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar* numbers) -> Tensor { const Scalar& beta = numbers[0]; const Scalar& threshold = numbers[1]; return softplus_backward(grad, self, beta, threshold); }};
constexpr UnaryOp k_mish = {"mish", "mish_", "MishBackward0",
    ElementwiseOp::Mish, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return mish_backward(grad, self); }};
constexpr UnaryOp k_log_sigmoid = {"log_sigmoid", nullptr, "LogSigmoidBackward0",
    ElementwiseOp::LogSigmoid, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return log_sigmoid_backward(grad, self); }};
constexpr UnaryOp k_softsign = {"softsign", nullptr, "SoftsignBackward0",
    ElementwiseOp::Softsign, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return softsign_backward(grad, self); }};
constexpr UnaryOp k_softshrink = {"softshrink", nullptr, "SoftshrinkBackward0",
    ElementwiseOp::Softshrink, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad.masked_fill(result == 0, 0); }};
constexpr UnaryOp k_hardshrink = {"hardshrink", nullptr, "HardshrinkBackward0",
    ElementwiseOp::Hardshrink, Keeps::result,
    [](const Tensor& grad, const Tensor& result, const Scalar*) -> Tensor { return grad.masked_fill(result == 0, 0); }};
constexpr UnaryOp k_tanhshrink = {"tanhshrink", nullptr, "TanhshrinkBackward0",
    ElementwiseOp::Tanhshrink, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar*) -> Tensor { return grad * self.tanh().square(); }};
constexpr UnaryOp k_threshold = {"threshold", "threshold_", "ThresholdBackward0",
    ElementwiseOp::Threshold, Keeps::self,
    [](const Tensor& grad, const Tensor& self, const Scalar* numbers) -> Tensor { const Scalar& threshold = numbers[0]; return threshold_backward(grad, self, threshold); }};
constexpr ActivationBackward k_threshold_backward = {"threshold_backward", "ThresholdBackwardBackward0",
    ElementwiseOp::ThresholdBackward, nullptr};
constexpr ActivationBackward k_tanh_backward = {"tanh_backward", "TanhBackwardBackward0",
    ElementwiseOp::TanhBackward, [](const Tensor& result, const Scalar*) -> Tensor { return result * -2; }};
constexpr ActivationBackward k_sigmoid_backward = {"sigmoid_backward", "SigmoidBackwardBackward0",
    ElementwiseOp::SigmoidBackward, [](const Tensor& result, const Scalar*) -> Tensor { return 1 - result * 2; }};
constexpr ActivationBackward k_silu_backward = {"silu_backward", "SiluBackwardBackward0",
    ElementwiseOp::SiluBackward, [](const Tensor& self, const Scalar*) -> Tensor { return silu_curvature(self); }};
constexpr ActivationBackward k_leaky_relu_backward = {"leaky_relu_backward", "LeakyReluBackwardBackward0",
    ElementwiseOp::LeakyReluBackward, nullptr};
constexpr ActivationBackward k_hardtanh_backward = {"hardtanh_backward", "HardtanhBackwardBackward0",
    ElementwiseOp::HardtanhBackward, nullptr};
constexpr ActivationBackward k_hardsigmoid_backward = {"hardsigmoid_backward", "HardsigmoidBackwardBackward0",
    ElementwiseOp::HardsigmoidBackward, nullptr};
constexpr ActivationBackward k_hardswish_backward = {"hardswish_backward", "HardswishBackwardBackward0",
    ElementwiseOp::HardswishBackward, [](const Tensor& self, const Scalar*) -> Tensor { return self.abs().lt(3) / 3.0; }};
constexpr ActivationBackward k_softplus_backward = {"softplus_backward", "SoftplusBackwardBackward0",
    ElementwiseOp::SoftplusBackward, [](const Tensor& self, const Scalar* numbers) -> Tensor { const Scalar& beta = numbers[0]; const Scalar& threshold = numbers[1]; return softplus_curvature(self, beta, threshold); }};
constexpr ActivationBackward k_mish_backward = {"mish_backward", "MishBackwardBackward0",
    ElementwiseOp::MishBackward, [](const Tensor& self, const Scalar*) -> Tensor { return mish_curvature(self); }};
constexpr ActivationBackward k_log_sigmoid_backward = {"log_sigmoid_backward", "LogSigmoidBackwardBackward0",
    ElementwiseOp::LogSigmoidBackward, [](const Tensor& self, const Scalar*) -> Tensor { return log_sigmoid_curvature(self); }};
constexpr ActivationBackward k_softsign_backward = {"softsign_backward", "SoftsignBackwardBackward0",
    ElementwiseOp::SoftsignBackward, [](const Tensor& self, const Scalar*) -> Tensor { return self.sign() * -2 / (self.abs() + 1).pow(3); }};

}  // namespace

Tensor abs(const Tensor& self) { return unary(k_abs, self); }
const Tensor& abs_(const Tensor& self) {
  return unary_(k_abs, self);
}
Tensor exp(const Tensor& self) { return unary(k_exp, self); }
const Tensor& exp_(const Tensor& self) {
  return unary_(k_exp, self);
}
Tensor expm1(const Tensor& self) { return unary(k_expm1, self); }
const Tensor& expm1_(const Tensor& self) {
  return unary_(k_expm1, self);
}
Tensor log(const Tensor& self) { return unary(k_log, self); }
const Tensor& log_(const Tensor& self) {
  return unary_(k_log, self);
}
Tensor log2(const Tensor& self) { return unary(k_log2, self); }
const Tensor& log2_(const Tensor& self) {
  return unary_(k_log2, self);
}
Tensor log10(const Tensor& self) { return unary(k_log10, self); }
const Tensor& log10_(const Tensor& self) {
  return unary_(k_log10, self);
}
Tensor log1p(const Tensor& self) { return unary(k_log1p, self); }
const Tensor& log1p_(const Tensor& self) {
  return unary_(k_log1p, self);
}
Tensor sqrt(const Tensor& self) { return unary(k_sqrt, self); }
const Tensor& sqrt_(const Tensor& self) {
  return unary_(k_sqrt, self);
}
Tensor rsqrt(const Tensor& self) { return unary(k_rsqrt, self); }
const Tensor& rsqrt_(const Tensor& self) {
  return unary_(k_rsqrt, self);
}
Tensor square(const Tensor& self) { return unary(k_square, self); }
const Tensor& square_(const Tensor& self) {
  return unary_(k_square, self);
}
Tensor reciprocal(const Tensor& self) { return unary(k_reciprocal, self); }
const Tensor& reciprocal_(const Tensor& self) {
  return unary_(k_reciprocal, self);
}
Tensor sin(const Tensor& self) { return unary(k_sin, self); }
const Tensor& sin_(const Tensor& self) {
  return unary_(k_sin, self);
}
Tensor cos(const Tensor& self) { return unary(k_cos, self); }
const Tensor& cos_(const Tensor& self) {
  return unary_(k_cos, self);
}
Tensor tan(const Tensor& self) { return unary(k_tan, self); }
const Tensor& tan_(const Tensor& self) {
  return unary_(k_tan, self);
}
Tensor erf(const Tensor& self) { return unary(k_erf, self); }
const Tensor& erf_(const Tensor& self) {
  return unary_(k_erf, self);
}
Tensor floor(const Tensor& self) { return unary(k_floor, self); }
const Tensor& floor_(const Tensor& self) {
  return unary_(k_floor, self);
}
Tensor ceil(const Tensor& self) { return unary(k_ceil, self); }
const Tensor& ceil_(const Tensor& self) {
  return unary_(k_ceil, self);
}
Tensor round(const Tensor& self) { return unary(k_round, self); }
const Tensor& round_(const Tensor& self) {
  return unary_(k_round, self);
}
Tensor trunc(const Tensor& self) { return unary(k_trunc, self); }
const Tensor& trunc_(const Tensor& self) {
  return unary_(k_trunc, self);
}
Tensor sign(const Tensor& self) { return unary(k_sign, self); }
const Tensor& sign_(const Tensor& self) {
  return unary_(k_sign, self);
}
Tensor asin(const Tensor& self) { return unary(k_asin, self); }
const Tensor& asin_(const Tensor& self) {
  return unary_(k_asin, self);
}
Tensor acos(const Tensor& self) { return unary(k_acos, self); }
const Tensor& acos_(const Tensor& self) {
  return unary_(k_acos, self);
}
Tensor atan(const Tensor& self) { return unary(k_atan, self); }
const Tensor& atan_(const Tensor& self) {
  return unary_(k_atan, self);
}
Tensor sinh(const Tensor& self) { return unary(k_sinh, self); }
const Tensor& sinh_(const Tensor& self) {
  return unary_(k_sinh, self);
}
Tensor cosh(const Tensor& self) { return unary(k_cosh, self); }
const Tensor& cosh_(const Tensor& self) {
  return unary_(k_cosh, self);
}
Tensor asinh(const Tensor& self) { return unary(k_asinh, self); }
const Tensor& asinh_(const Tensor& self) {
  return unary_(k_asinh, self);
}
Tensor acosh(const Tensor& self) { return unary(k_acosh, self); }
const Tensor& acosh_(const Tensor& self) {
  return unary_(k_acosh, self);
}
Tensor atanh(const Tensor& self) { return unary(k_atanh, self); }
const Tensor& atanh_(const Tensor& self) {
  return unary_(k_atanh, self);
}
Tensor erfc(const Tensor& self) { return unary(k_erfc, self); }
const Tensor& erfc_(const Tensor& self) {
  return unary_(k_erfc, self);
}
Tensor exp2(const Tensor& self) { return unary(k_exp2, self); }
const Tensor& exp2_(const Tensor& self) {
  return unary_(k_exp2, self);
}
Tensor frac(const Tensor& self) { return unary(k_frac, self); }
const Tensor& frac_(const Tensor& self) {
  return unary_(k_frac, self);
}
Tensor relu(const Tensor& self) { return unary(k_relu, self); }
const Tensor& relu_(const Tensor& self) {
  return unary_(k_relu, self);
}
Tensor tanh(const Tensor& self) { return unary(k_tanh, self); }
const Tensor& tanh_(const Tensor& self) {
  return unary_(k_tanh, self);
}
Tensor sigmoid(const Tensor& self) { return unary(k_sigmoid, self); }
const Tensor& sigmoid_(const Tensor& self) {
  return unary_(k_sigmoid, self);
}
Tensor silu(const Tensor& self) { return unary(k_silu, self); }
const Tensor& silu_(const Tensor& self) {
  return unary_(k_silu, self);
}
Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) { return unary(k_hardtanh, self, {min_val, max_val}); }
const Tensor& hardtanh_(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return unary_(k_hardtanh, self, {min_val, max_val});
}
Tensor hardsigmoid(const Tensor& self) { return unary(k_hardsigmoid, self); }
const Tensor& hardsigmoid_(const Tensor& self) {
  return unary_(k_hardsigmoid, self);
}
Tensor hardswish(const Tensor& self) { return unary(k_hardswish, self); }
const Tensor& hardswish_(const Tensor& self) {
  return unary_(k_hardswish, self);
}
Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) { return unary(k_softplus, self, {beta, threshold}); }
Tensor mish(const Tensor& self) { return unary(k_mish, self); }
const Tensor& mish_(const Tensor& self) {
  return unary_(k_mish, self);
}
Tensor log_sigmoid(const Tensor& self) { return unary(k_log_sigmoid, self); }
Tensor softsign(const Tensor& self) { return unary(k_softsign, self); }
Tensor softshrink(const Tensor& self, const Scalar& lambd) { return unary(k_softshrink, self, {lambd}); }
Tensor hardshrink(const Tensor& self, const Scalar& lambd) { return unary(k_hardshrink, self, {lambd}); }
Tensor tanhshrink(const Tensor& self) { return unary(k_tanhshrink, self); }
Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) { return unary(k_threshold, self, {threshold, value}); }
const Tensor& threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  return unary_(k_threshold, self, {threshold, value});
}
Tensor threshold_backward(const Tensor& grad_output, const Tensor& result, const Scalar& threshold) {
  return activation_backward(k_threshold_backward, grad_output, result, {threshold});
}
Tensor tanh_backward(const Tensor& grad_output, const Tensor& result) {
  return activation_backward(k_tanh_backward, grad_output, result);
}
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& result) {
  return activation_backward(k_sigmoid_backward, grad_output, result);
}
Tensor silu_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_silu_backward, grad_output, self);
}
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope) {
  return activation_backward(k_leaky_relu_backward, grad_output, self, {negative_slope});
}
Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return activation_backward(k_hardtanh_backward, grad_output, self, {min_val, max_val});
}
Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_hardsigmoid_backward, grad_output, self);
}
Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_hardswish_backward, grad_output, self);
}
Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return activation_backward(k_softplus_backward, grad_output, self, {beta, threshold});
}
Tensor mish_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_mish_backward, grad_output, self);
}
Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_log_sigmoid_backward, grad_output, self);
}
Tensor softsign_backward(const Tensor& grad_output, const Tensor& self) {
  return activation_backward(k_softsign_backward, grad_output, self);
}

}  // namespace ebb
