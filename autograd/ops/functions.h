#pragma once

// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <ebb/autograd/tensor.h>
#include <ebb/core/random/generator.h>
#include <ebb/core/ops/reduction.h>

// The public ops as functions. Each records what backward needs; a form whose name ends in an
// underscore changes its first argument and returns it.

namespace ebb {

// --- unary ---

/// -self. Not for bool.
EBB_API Tensor neg(const Tensor& self);
EBB_API const Tensor& neg_(const Tensor& self);
/// The absolute value.
EBB_API Tensor abs(const Tensor& self);
EBB_API const Tensor& abs_(const Tensor& self);
/// e to the power of self.
EBB_API Tensor exp(const Tensor& self);
EBB_API const Tensor& exp_(const Tensor& self);
/// exp(self) - 1, exact near zero.
EBB_API Tensor expm1(const Tensor& self);
EBB_API const Tensor& expm1_(const Tensor& self);
/// The natural logarithm.
EBB_API Tensor log(const Tensor& self);
EBB_API const Tensor& log_(const Tensor& self);
/// The logarithm to base 2.
EBB_API Tensor log2(const Tensor& self);
EBB_API const Tensor& log2_(const Tensor& self);
/// The logarithm to base 10.
EBB_API Tensor log10(const Tensor& self);
EBB_API const Tensor& log10_(const Tensor& self);
/// log(1 + self), exact near zero.
EBB_API Tensor log1p(const Tensor& self);
EBB_API const Tensor& log1p_(const Tensor& self);
/// The square root.
EBB_API Tensor sqrt(const Tensor& self);
EBB_API const Tensor& sqrt_(const Tensor& self);
/// 1 / sqrt(self).
EBB_API Tensor rsqrt(const Tensor& self);
EBB_API const Tensor& rsqrt_(const Tensor& self);
/// self * self.
EBB_API Tensor square(const Tensor& self);
EBB_API const Tensor& square_(const Tensor& self);
/// 1 / self.
EBB_API Tensor reciprocal(const Tensor& self);
EBB_API const Tensor& reciprocal_(const Tensor& self);
/// The sine.
EBB_API Tensor sin(const Tensor& self);
EBB_API const Tensor& sin_(const Tensor& self);
/// The cosine.
EBB_API Tensor cos(const Tensor& self);
EBB_API const Tensor& cos_(const Tensor& self);
/// The tangent.
EBB_API Tensor tan(const Tensor& self);
EBB_API const Tensor& tan_(const Tensor& self);
/// The error function.
EBB_API Tensor erf(const Tensor& self);
EBB_API const Tensor& erf_(const Tensor& self);
/// The largest integer not above self. Its gradient is zero.
EBB_API Tensor floor(const Tensor& self);
EBB_API const Tensor& floor_(const Tensor& self);
/// The least integer not below self. Its gradient is zero.
EBB_API Tensor ceil(const Tensor& self);
EBB_API const Tensor& ceil_(const Tensor& self);
/// The nearest integer, halves to even. Its gradient is zero.
EBB_API Tensor round(const Tensor& self);
EBB_API const Tensor& round_(const Tensor& self);
/// The integer part. Its gradient is zero.
EBB_API Tensor trunc(const Tensor& self);
EBB_API const Tensor& trunc_(const Tensor& self);
/// -1, 0 or 1. Its gradient is zero.
EBB_API Tensor sign(const Tensor& self);
EBB_API const Tensor& sign_(const Tensor& self);
/// The inverse sine.
EBB_API Tensor asin(const Tensor& self);
EBB_API const Tensor& asin_(const Tensor& self);
/// The inverse cosine.
EBB_API Tensor acos(const Tensor& self);
EBB_API const Tensor& acos_(const Tensor& self);
/// The inverse tangent.
EBB_API Tensor atan(const Tensor& self);
EBB_API const Tensor& atan_(const Tensor& self);
/// The hyperbolic sine.
EBB_API Tensor sinh(const Tensor& self);
EBB_API const Tensor& sinh_(const Tensor& self);
/// The hyperbolic cosine.
EBB_API Tensor cosh(const Tensor& self);
EBB_API const Tensor& cosh_(const Tensor& self);
/// The inverse hyperbolic sine.
EBB_API Tensor asinh(const Tensor& self);
EBB_API const Tensor& asinh_(const Tensor& self);
/// The inverse hyperbolic cosine.
EBB_API Tensor acosh(const Tensor& self);
EBB_API const Tensor& acosh_(const Tensor& self);
/// The inverse hyperbolic tangent.
EBB_API Tensor atanh(const Tensor& self);
EBB_API const Tensor& atanh_(const Tensor& self);
/// 1 - erf(self), exact where that is small.
EBB_API Tensor erfc(const Tensor& self);
EBB_API const Tensor& erfc_(const Tensor& self);
/// 2 to the power of self.
EBB_API Tensor exp2(const Tensor& self);
EBB_API const Tensor& exp2_(const Tensor& self);
/// self - trunc(self). Floating point only.
EBB_API Tensor frac(const Tensor& self);
EBB_API const Tensor& frac_(const Tensor& self);
/// Whether self is zero, as bool.
EBB_API Tensor logical_not(const Tensor& self);
EBB_API const Tensor& logical_not_(const Tensor& self);
/// The bits of an integer turned round; `not` for bool.
EBB_API Tensor bitwise_not(const Tensor& self);
EBB_API const Tensor& bitwise_not_(const Tensor& self);
/// Whether each element is NaN, as bool.
EBB_API Tensor isnan(const Tensor& self);
/// Whether each element is infinite, as bool.
EBB_API Tensor isinf(const Tensor& self);
/// Whether each element is neither NaN nor infinite, as bool.
EBB_API Tensor isfinite(const Tensor& self);

// --- activation ---

/// max(self, 0).
EBB_API Tensor relu(const Tensor& self);
EBB_API const Tensor& relu_(const Tensor& self);
/// self times the normal distribution's CDF at self (Hendrycks and Gimpel, 2016); approximate is
/// "none" or "tanh".
EBB_API Tensor gelu(const Tensor& self, std::string_view approximate = "none");
/// The hyperbolic tangent.
EBB_API Tensor tanh(const Tensor& self);
EBB_API const Tensor& tanh_(const Tensor& self);
/// 1 / (1 + exp(-self)).
EBB_API Tensor sigmoid(const Tensor& self);
EBB_API const Tensor& sigmoid_(const Tensor& self);
/// self * sigmoid(self).
EBB_API Tensor silu(const Tensor& self);
EBB_API const Tensor& silu_(const Tensor& self);
/// self where self > 0, else negative_slope * self. Floating point only.
EBB_API Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
EBB_API const Tensor& leaky_relu_(const Tensor& self, const Scalar& negative_slope = 0.01);
/// scale * (self where self > 0, else alpha * (exp(input_scale * self) - 1)) (Clevert et al.,
/// 2016).
EBB_API Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
EBB_API const Tensor& elu_(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
/// elu(self, alpha, 1, 1 / alpha) (Barron, 2017).
EBB_API Tensor celu(const Tensor& self, const Scalar& alpha = 1.0);
EBB_API const Tensor& celu_(const Tensor& self, const Scalar& alpha = 1.0);
/// elu with the two constants that keep mean and variance (Klambauer et al., 2017).
EBB_API Tensor selu(const Tensor& self);
EBB_API const Tensor& selu_(const Tensor& self);
/// self, cut off below min_val and above max_val.
EBB_API Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
EBB_API const Tensor& hardtanh_(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
/// hardtanh(self, 0, 6).
EBB_API Tensor relu6(const Tensor& self);
EBB_API const Tensor& relu6_(const Tensor& self);
/// relu6(self + 3) / 6.
EBB_API Tensor hardsigmoid(const Tensor& self);
EBB_API const Tensor& hardsigmoid_(const Tensor& self);
/// self * relu6(self + 3) / 6 (Howard et al., 2019).
EBB_API Tensor hardswish(const Tensor& self);
EBB_API const Tensor& hardswish_(const Tensor& self);
/// log(1 + exp(beta * self)) / beta, or self where beta * self > threshold.
EBB_API Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
/// self * tanh(softplus(self)) (Misra, 2019).
EBB_API Tensor mish(const Tensor& self);
EBB_API const Tensor& mish_(const Tensor& self);
/// log(sigmoid(self)), exact far from zero.
EBB_API Tensor log_sigmoid(const Tensor& self);
/// self / (1 + |self|).
EBB_API Tensor softsign(const Tensor& self);
/// self moved towards zero by lambd, zero within it.
EBB_API Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5);
/// self, or zero where |self| <= lambd.
EBB_API Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5);
/// self - tanh(self).
EBB_API Tensor tanhshrink(const Tensor& self);
/// self where self > threshold, else value.
EBB_API Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value);
EBB_API const Tensor& threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value);
/// log(self / (1 - self)), self cut off to [eps, 1 - eps] if eps is given.
EBB_API Tensor logit(const Tensor& self, std::optional<double> eps = {});
EBB_API const Tensor& logit_(const Tensor& self, std::optional<double> eps = {});
/// self where self > 0, else weight * self, with one weight or one for each of dimension 1 (He et
/// al., 2015).
EBB_API Tensor prelu(const Tensor& self, const Tensor& weight);
/// grad_output where result > threshold, else 0: the gradient of relu.
EBB_API Tensor threshold_backward(const Tensor& grad_output, const Tensor& result, const Scalar& threshold);
/// grad_output * (1 - result^2).
EBB_API Tensor tanh_backward(const Tensor& grad_output, const Tensor& result);
/// grad_output * result * (1 - result).
EBB_API Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& result);
/// The gradient of gelu.
EBB_API Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate = "none");
/// The gradient of silu.
EBB_API Tensor silu_backward(const Tensor& grad_output, const Tensor& self);
/// The gradient of leaky_relu; self may be its result if negative_slope >= 0.
EBB_API Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope);
/// The gradient of elu, from its result if is_result, else from self.
EBB_API Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& self_or_result);
/// The gradient of hardtanh; self may be its result.
EBB_API Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val);
/// The gradient of hardsigmoid.
EBB_API Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self);
/// The gradient of hardswish.
EBB_API Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self);
/// The gradient of softplus.
EBB_API Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold);
/// The gradient of mish.
EBB_API Tensor mish_backward(const Tensor& grad_output, const Tensor& self);
/// The gradient of log_sigmoid.
EBB_API Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self);
/// The gradient of softsign.
EBB_API Tensor softsign_backward(const Tensor& grad_output, const Tensor& self);

// --- binary ---

/// self + alpha * other.
EBB_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
EBB_API const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
EBB_API Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
EBB_API const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// relu(self + other) in one pass: the end of a residual block. Floating point only.
EBB_API Tensor add_relu(const Tensor& self, const Tensor& other);
EBB_API const Tensor& add_relu_(const Tensor& self, const Tensor& other);
/// self - alpha * other. Not for bool.
EBB_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
EBB_API const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
EBB_API Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
EBB_API const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// other - alpha * self.
EBB_API Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
EBB_API Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// self * other.
EBB_API Tensor mul(const Tensor& self, const Tensor& other);
EBB_API const Tensor& mul_(const Tensor& self, const Tensor& other);
EBB_API Tensor mul(const Tensor& self, const Scalar& other);
EBB_API const Tensor& mul_(const Tensor& self, const Scalar& other);
/// self / other; integers give the default float type, unless rounding_mode is "floor" or
/// "trunc".
EBB_API Tensor div(const Tensor& self, const Tensor& other);
EBB_API const Tensor& div_(const Tensor& self, const Tensor& other);
EBB_API Tensor div(const Tensor& self, const Scalar& other);
EBB_API const Tensor& div_(const Tensor& self, const Scalar& other);
EBB_API Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
EBB_API const Tensor& div_(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
EBB_API Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode);
EBB_API const Tensor& div_(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode);
/// The quotient, rounded down.
EBB_API Tensor floor_divide(const Tensor& self, const Tensor& other);
EBB_API const Tensor& floor_divide_(const Tensor& self, const Tensor& other);
EBB_API Tensor floor_divide(const Tensor& self, const Scalar& other);
EBB_API const Tensor& floor_divide_(const Tensor& self, const Scalar& other);
/// The quotient, rounded towards zero: div with rounding_mode "trunc".
EBB_API Tensor div_trunc(const Tensor& self, const Tensor& other);
EBB_API const Tensor& div_trunc_(const Tensor& self, const Tensor& other);
/// self - other * floor(self / other): it has the sign of other.
EBB_API Tensor remainder(const Tensor& self, const Tensor& other);
EBB_API const Tensor& remainder_(const Tensor& self, const Tensor& other);
EBB_API Tensor remainder(const Tensor& self, const Scalar& other);
EBB_API const Tensor& remainder_(const Tensor& self, const Scalar& other);
/// self to the power of exponent.
EBB_API Tensor pow(const Tensor& self, const Tensor& exponent);
EBB_API const Tensor& pow_(const Tensor& self, const Tensor& exponent);
EBB_API Tensor pow(const Tensor& self, const Scalar& exponent);
EBB_API const Tensor& pow_(const Tensor& self, const Scalar& exponent);
EBB_API Tensor pow(const Scalar& self, const Tensor& exponent);
/// The rest of the quotient rounded towards zero: it has the sign of self.
EBB_API Tensor fmod(const Tensor& self, const Tensor& other);
EBB_API const Tensor& fmod_(const Tensor& self, const Tensor& other);
EBB_API Tensor fmod(const Tensor& self, const Scalar& other);
EBB_API const Tensor& fmod_(const Tensor& self, const Scalar& other);
/// The larger number; NaN only where both are.
EBB_API Tensor fmax(const Tensor& self, const Tensor& other);
/// The smaller number; NaN only where both are.
EBB_API Tensor fmin(const Tensor& self, const Tensor& other);
/// The angle of the point (other, self), in (-pi, pi].
EBB_API Tensor atan2(const Tensor& self, const Tensor& other);
EBB_API const Tensor& atan2_(const Tensor& self, const Tensor& other);
/// sqrt(self^2 + other^2) without overflow. Floating point only.
EBB_API Tensor hypot(const Tensor& self, const Tensor& other);
EBB_API const Tensor& hypot_(const Tensor& self, const Tensor& other);
/// self with NaN and the infinities replaced: by default 0, the largest and the least number of
/// the dtype.
EBB_API Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {});
EBB_API const Tensor& nan_to_num_(const Tensor& self, std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {});
/// The larger element; NaN wins. Where both are equal each gets half of the gradient.
EBB_API Tensor maximum(const Tensor& self, const Tensor& other);
/// The smaller element; NaN wins. Where both are equal each gets half of the gradient.
EBB_API Tensor minimum(const Tensor& self, const Tensor& other);
/// The nearest value in [min, max]. The bounds themselves pass the gradient.
EBB_API Tensor clamp(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {});
EBB_API const Tensor& clamp_(const Tensor& self, const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {});
EBB_API Tensor clamp(const Tensor& self, const std::optional<Tensor>& min = {}, const std::optional<Tensor>& max = {});
EBB_API const Tensor& clamp_(const Tensor& self, const std::optional<Tensor>& min = {}, const std::optional<Tensor>& max = {});
/// max(self, min).
EBB_API Tensor clamp_min(const Tensor& self, const Scalar& min);
EBB_API const Tensor& clamp_min_(const Tensor& self, const Scalar& min);
/// min(self, max).
EBB_API Tensor clamp_max(const Tensor& self, const Scalar& max);
EBB_API const Tensor& clamp_max_(const Tensor& self, const Scalar& max);
/// self where condition holds, else other.
EBB_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
EBB_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
EBB_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
/// value where mask holds, else self. A tensor value has no dimensions.
EBB_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
EBB_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
EBB_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
EBB_API const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value);
/// self + value * tensor1 * tensor2.
EBB_API Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
EBB_API const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
/// self + value * tensor1 / tensor2.
EBB_API Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
EBB_API const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
/// self + weight * (end - self).
EBB_API Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
EBB_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight);
EBB_API Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
EBB_API const Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight);

// --- compare ---

/// self == other, as bool.
EBB_API Tensor eq(const Tensor& self, const Tensor& other);
EBB_API const Tensor& eq_(const Tensor& self, const Tensor& other);
EBB_API Tensor eq(const Tensor& self, const Scalar& other);
EBB_API const Tensor& eq_(const Tensor& self, const Scalar& other);
/// self != other, as bool.
EBB_API Tensor ne(const Tensor& self, const Tensor& other);
EBB_API const Tensor& ne_(const Tensor& self, const Tensor& other);
EBB_API Tensor ne(const Tensor& self, const Scalar& other);
EBB_API const Tensor& ne_(const Tensor& self, const Scalar& other);
/// self < other, as bool.
EBB_API Tensor lt(const Tensor& self, const Tensor& other);
EBB_API const Tensor& lt_(const Tensor& self, const Tensor& other);
EBB_API Tensor lt(const Tensor& self, const Scalar& other);
EBB_API const Tensor& lt_(const Tensor& self, const Scalar& other);
/// self <= other, as bool.
EBB_API Tensor le(const Tensor& self, const Tensor& other);
EBB_API const Tensor& le_(const Tensor& self, const Tensor& other);
EBB_API Tensor le(const Tensor& self, const Scalar& other);
EBB_API const Tensor& le_(const Tensor& self, const Scalar& other);
/// self > other, as bool.
EBB_API Tensor gt(const Tensor& self, const Tensor& other);
EBB_API const Tensor& gt_(const Tensor& self, const Tensor& other);
EBB_API Tensor gt(const Tensor& self, const Scalar& other);
EBB_API const Tensor& gt_(const Tensor& self, const Scalar& other);
/// self >= other, as bool.
EBB_API Tensor ge(const Tensor& self, const Tensor& other);
EBB_API const Tensor& ge_(const Tensor& self, const Tensor& other);
EBB_API Tensor ge(const Tensor& self, const Scalar& other);
EBB_API const Tensor& ge_(const Tensor& self, const Scalar& other);
/// Whether both are not zero, as bool.
EBB_API Tensor logical_and(const Tensor& self, const Tensor& other);
EBB_API const Tensor& logical_and_(const Tensor& self, const Tensor& other);
/// Whether one of them is not zero, as bool.
EBB_API Tensor logical_or(const Tensor& self, const Tensor& other);
EBB_API const Tensor& logical_or_(const Tensor& self, const Tensor& other);
/// Whether just one of them is not zero, as bool.
EBB_API Tensor logical_xor(const Tensor& self, const Tensor& other);
EBB_API const Tensor& logical_xor_(const Tensor& self, const Tensor& other);
/// The bits set in both; `and` for bool.
EBB_API Tensor bitwise_and(const Tensor& self, const Tensor& other);
EBB_API const Tensor& bitwise_and_(const Tensor& self, const Tensor& other);
EBB_API Tensor bitwise_and(const Tensor& self, const Scalar& other);
EBB_API const Tensor& bitwise_and_(const Tensor& self, const Scalar& other);
/// The bits set in either; `or` for bool.
EBB_API Tensor bitwise_or(const Tensor& self, const Tensor& other);
EBB_API const Tensor& bitwise_or_(const Tensor& self, const Tensor& other);
EBB_API Tensor bitwise_or(const Tensor& self, const Scalar& other);
EBB_API const Tensor& bitwise_or_(const Tensor& self, const Scalar& other);
/// The bits set in just one; `xor` for bool.
EBB_API Tensor bitwise_xor(const Tensor& self, const Tensor& other);
EBB_API const Tensor& bitwise_xor_(const Tensor& self, const Tensor& other);
EBB_API Tensor bitwise_xor(const Tensor& self, const Scalar& other);
EBB_API const Tensor& bitwise_xor_(const Tensor& self, const Scalar& other);
/// Whether both have the same sizes and elements.
EBB_API bool equal(const Tensor& self, const Tensor& other);
/// |self - other| <= atol + rtol * |other|, as bool.
EBB_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds everywhere.
EBB_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

// --- reduce ---

/// The sum, over all or the given dimensions. Integers and bools add up as int64.
EBB_API Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = {});
EBB_API Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = {});
/// The mean, over all or the given dimensions, of floating-point elements.
EBB_API Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = {});
EBB_API Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = {});
/// The product, over all elements or one dimension.
EBB_API Tensor prod(const Tensor& self, std::optional<ScalarType> dtype = {});
EBB_API Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {});
/// The largest element; with a dimension, values and indices; with another tensor, maximum.
EBB_API Tensor max(const Tensor& self);
EBB_API Tensor max(const Tensor& self, const Tensor& other);
EBB_API std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
/// The least element; with a dimension, values and indices; with another tensor, minimum.
EBB_API Tensor min(const Tensor& self);
EBB_API Tensor min(const Tensor& self, const Tensor& other);
EBB_API std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
/// The largest element over the given dimensions; equal ones share the gradient.
EBB_API Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
/// The least element over the given dimensions; equal ones share the gradient.
EBB_API Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
/// The index of the largest element (the first one), of the flattened tensor without a dimension.
EBB_API Tensor argmax(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// The index of the least element (the first one), of the flattened tensor without a dimension.
EBB_API Tensor argmin(const Tensor& self, std::optional<int64_t> dim = {}, bool keepdim = false);
/// Whether no element is zero.
EBB_API Tensor all(const Tensor& self);
EBB_API Tensor all(const Tensor& self, int64_t dim, bool keepdim = false);
/// Whether some element is not zero.
EBB_API Tensor any(const Tensor& self);
EBB_API Tensor any(const Tensor& self, int64_t dim, bool keepdim = false);
/// The variance, over all or the given dimensions, divided by n - 1 if unbiased.
EBB_API Tensor var(const Tensor& self, bool unbiased = true);
EBB_API Tensor var(const Tensor& self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false);
/// The square root of the variance.
EBB_API Tensor std(const Tensor& self, bool unbiased = true);
EBB_API Tensor std(const Tensor& self, OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false);
/// (sum |self|^p)^(1/p); p may be 0 or infinity.
EBB_API Tensor norm(const Tensor& self, const Scalar& p = 2);
EBB_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false);
/// log(sum(exp(self))), without overflow.
EBB_API Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false);

// --- scan ---

/// The running sum along a dimension.
EBB_API Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {});
/// The running product along a dimension.
EBB_API Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {});

// --- sort ---

/// The k largest (or least) elements along a dimension, in order, and their indices.
EBB_API std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
/// The elements in order along a dimension, and their indices. Equal elements keep their order.
EBB_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false);
/// The indices of sort.
EBB_API Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);

// --- shape ---

/// The same memory with other sizes; one may be -1. Throws if that needs a copy.
EBB_API Tensor view(const Tensor& self, IntArrayRef size);
/// view, or a copy where no view is possible.
EBB_API Tensor reshape(const Tensor& self, IntArrayRef shape);
/// view with the sizes of other.
EBB_API Tensor view_as(const Tensor& self, const Tensor& other);
/// reshape with the sizes of other.
EBB_API Tensor reshape_as(const Tensor& self, const Tensor& other);
/// A view with any geometry within the storage.
EBB_API Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {});
/// A view with the dimensions in another order.
EBB_API Tensor permute(const Tensor& self, IntArrayRef dims);
/// A view with two dimensions exchanged.
EBB_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
EBB_API const Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1);
/// The transpose of a matrix; a vector or scalar as it is.
EBB_API Tensor t(const Tensor& self);
EBB_API const Tensor& t_(const Tensor& self);
/// A view that repeats dimensions of size one, with stride 0; -1 keeps a size.
EBB_API Tensor expand(const Tensor& self, IntArrayRef size, bool implicit = false);
/// expand to the sizes of other.
EBB_API Tensor expand_as(const Tensor& self, const Tensor& other);
/// expand, as a function.
EBB_API Tensor broadcast_to(const Tensor& self, IntArrayRef size);
/// The elements start to start + length - 1 of a dimension, as a view.
EBB_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
/// Every step-th element from start to end - 1 of a dimension, as a view. Bounds are clipped.
EBB_API Tensor slice(const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1);
/// One element of a dimension, as a view without that dimension.
EBB_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
/// A view without the dimensions of size one, or without that one.
EBB_API Tensor squeeze(const Tensor& self);
EBB_API const Tensor& squeeze_(const Tensor& self);
EBB_API Tensor squeeze(const Tensor& self, int64_t dim);
EBB_API const Tensor& squeeze_(const Tensor& self, int64_t dim);
/// A view with a further dimension of size one.
EBB_API Tensor unsqueeze(const Tensor& self, int64_t dim);
EBB_API const Tensor& unsqueeze_(const Tensor& self, int64_t dim);
/// The dimensions start_dim to end_dim made one, as a view where possible.
EBB_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// The elements with equal indices in two dimensions, as a view.
EBB_API Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
/// The slices along a dimension, as views.
EBB_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
/// Pieces of the given size, or sizes, along a dimension, as views.
EBB_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
EBB_API std::vector<Tensor> split(const Tensor& self, IntArrayRef split_size, int64_t dim = 0);
/// At most that many pieces of equal size along a dimension, as views.
EBB_API std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// self if it is contiguous, else a contiguous copy.
EBB_API Tensor contiguous(const Tensor& self);
/// The tensors one after another along a dimension.
EBB_API Tensor cat(TensorList tensors, int64_t dim = 0);
/// Tensors of equal sizes along a new dimension.
EBB_API Tensor stack(TensorList tensors, int64_t dim = 0);
/// A copy that holds self several times along each dimension.
EBB_API Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// The elements moved on along the dimensions, those that fall off coming in again at the start.
EBB_API Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
/// A copy with the order along the dimensions turned round.
EBB_API Tensor flip(const Tensor& self, IntArrayRef dims);
/// The lower triangle of the matrices, zero above.
EBB_API Tensor tril(const Tensor& self, int64_t diagonal = 0);
EBB_API const Tensor& tril_(const Tensor& self, int64_t diagonal = 0);
/// The upper triangle of the matrices, zero below.
EBB_API Tensor triu(const Tensor& self, int64_t diagonal = 0);
EBB_API const Tensor& triu_(const Tensor& self, int64_t diagonal = 0);
/// The diagonal of a matrix, or a matrix with a vector on its diagonal.
EBB_API Tensor diag(const Tensor& self, int64_t diagonal = 0);

// --- index ---

/// The slices along a dimension that index names.
EBB_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// self with alpha times the slices of source added at the slices that index names.
EBB_API Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
EBB_API const Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
/// The elements of self that index names along a dimension.
EBB_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index);
/// self with the elements of src written where index says along a dimension.
EBB_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
EBB_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
EBB_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
EBB_API const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
/// self with the elements of src added where index says along a dimension.
EBB_API Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
EBB_API const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
/// The elements where mask holds, as a vector.
EBB_API Tensor masked_select(const Tensor& self, const Tensor& mask);
/// The indices of the elements that are not zero, one row each.
EBB_API Tensor nonzero(const Tensor& self);
/// A further dimension with a 1 at the index that self names, 0 elsewhere.
EBB_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

// --- matmul ---

/// The product of two matrices.
EBB_API Tensor mm(const Tensor& self, const Tensor& mat2);
/// The products of two batches of matrices.
EBB_API Tensor bmm(const Tensor& self, const Tensor& mat2);
/// The product of a matrix and a vector.
EBB_API Tensor mv(const Tensor& self, const Tensor& vec);
/// The inner product of two vectors.
EBB_API Tensor dot(const Tensor& self, const Tensor& tensor);
/// The product of vectors, matrices or batches of matrices, which broadcast.
EBB_API Tensor matmul(const Tensor& self, const Tensor& other);
/// beta * self + alpha * mat1 @ mat2.
EBB_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1);
EBB_API const Tensor& addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1);
/// input @ weight^T + bias.
EBB_API Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {});

// --- attention ---

/// softmax(scale query @ key^T + attn_mask) @ value of [..., L, E], [..., S, E] and [..., S, Ev],
/// tile by tile: memory is linear in L and S. attn_mask is added, or bool: true where a key is
/// met; scale is 1 / sqrt(E) unless given.
EBB_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& attn_mask = {}, double dropout_p = 0.0, bool is_causal = false, std::optional<double> scale = {});

// --- softmax ---

/// exp(self) / sum(exp(self)) along a dimension.
EBB_API Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {});
/// log(softmax(self)) along a dimension.
EBB_API Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = {});
/// The gradient of softmax.
EBB_API Tensor softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim);
/// The gradient of log_softmax.
EBB_API Tensor log_softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim);

// --- norm ---

/// (input - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1) (Ioffe and
/// Szegedy, 2015).
EBB_API Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training, double momentum, double eps, bool cudnn_enabled = true);
/// (input - mean) / sqrt(var + eps) * weight + bias over the last dimensions (Ba, Kiros and
/// Hinton, 2016).
EBB_API Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight = {}, const std::optional<Tensor>& bias = {}, double eps = 1e-5, bool cudnn_enable = true);

// --- rnn ---

/// One layer of an RNN_TANH, RNN_RELU, LSTM or GRU over packed rows: output, last hidden state,
/// last cell state (docs/recurrent.md).
EBB_API std::tuple<Tensor, Tensor, Tensor> rnn_layer(std::string_view mode, const Tensor& input, const std::optional<Tensor>& hx, const std::optional<Tensor>& cx, TensorList weights, IntArrayRef batch_sizes);

// --- conv ---

/// Cross-correlation of [N, C, H, W] or [C, H, W] with weight [O, C / groups, kH, kW].
EBB_API Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
/// The gradient of conv2d's input.
EBB_API Tensor conv2d_backward_input(IntArrayRef input_size, const Tensor& grad_output, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups);
/// The gradient of conv2d's weight.
EBB_API Tensor conv2d_backward_weight(IntArrayRef weight_size, const Tensor& grad_output, const Tensor& input, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups);

// --- pool ---

/// The largest element of each window of [N, C, H, W] or [C, H, W].
EBB_API Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
/// The mean of each window of [N, C, H, W] or [C, H, W].
EBB_API Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {});
/// The gradient of max_pool2d; offsets says which element of its window each result was.
EBB_API Tensor max_pool2d_backward(const Tensor& grad_output, const Tensor& offsets, IntArrayRef input_size, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
/// The element of each window that offsets names: the gradient of max_pool2d_backward.
EBB_API Tensor max_pool2d_gather(const Tensor& self, const Tensor& offsets, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
/// The gradient of avg_pool2d.
EBB_API Tensor avg_pool2d_backward(const Tensor& grad_output, IntArrayRef input_size, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);

// --- embedding ---

/// The rows of weight that indices name. Row padding_idx gets no gradient.
EBB_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false, bool sparse = false);
/// The gradient of embedding's weight.
EBB_API Tensor embedding_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq);

// --- loss ---

/// Minus self at the target class of [N, C], [C] or [N, C, d1, ...].
EBB_API Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {}, int64_t reduction = Reduction::Mean, int64_t ignore_index = -100);
/// nll_loss of log_softmax along dimension 1, without holding it; target holds class indices or
/// probabilities.
EBB_API Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {}, int64_t reduction = Reduction::Mean, int64_t ignore_index = -100, double label_smoothing = 0.0);
/// cross_entropy_loss of linear(input, weight, bias), of [..., E], [C, E] and [C] with classes
/// [...], for `chunk` rows at a time: the logits [..., C] are never held. Backward computes them
/// again. The loss is float32 under autocast.
EBB_API Tensor linear_cross_entropy(const Tensor& input, const Tensor& weight, const Tensor& target, const std::optional<Tensor>& bias = {}, int64_t reduction = Reduction::Mean, int64_t ignore_index = -100, double label_smoothing = 0.0, int64_t chunk = 0);
/// (self - target)^2, reduced.
EBB_API Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean);
/// The gradient of nll_loss; size is that of its input, total_weight the weights of the targets'
/// classes, added up.
EBB_API Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& target, const std::optional<Tensor>& weight, const Tensor& total_weight, IntArrayRef size, int64_t reduction, int64_t ignore_index);
/// The gradient of cross_entropy_loss; log_sum_exp is that of each row of self.
EBB_API Tensor cross_entropy_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, const Tensor& log_sum_exp, const Tensor& total_weight, int64_t reduction, int64_t ignore_index, double label_smoothing);
/// The gradient of mse_loss.
EBB_API Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean);

// --- random ---

/// Zeros with probability p, the rest scaled by 1 / (1 - p) (Srivastava et al., 2014). The mask
/// is drawn again in backward.
EBB_API Tensor dropout(const Tensor& input, double p, bool train);
EBB_API const Tensor& dropout_(const Tensor& input, double p, bool train);
/// The gradient of dropout: grad_output / (1 - p) under the mask that seed and offset stand for.
EBB_API Tensor dropout_backward(const Tensor& grad_output, double p, int64_t seed, int64_t offset);
/// 1 with the probability that each element of self states, else 0.
EBB_API Tensor bernoulli(const Tensor& self, const std::optional<Generator>& generator = {});

// --- fill ---

/// value everywhere.
EBB_API Tensor fill(const Tensor& self, const Scalar& value);
EBB_API const Tensor& fill_(const Tensor& self, const Scalar& value);
EBB_API Tensor fill(const Tensor& self, const Tensor& value);
EBB_API const Tensor& fill_(const Tensor& self, const Tensor& value);
/// Zero everywhere.
EBB_API Tensor zero(const Tensor& self);
EBB_API const Tensor& zero_(const Tensor& self);

// --- cast ---

/// A copy, dense, with the order of dimensions kept.
EBB_API Tensor clone(const Tensor& self);

}  // namespace ebb
