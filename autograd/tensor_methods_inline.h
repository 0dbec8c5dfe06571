#pragma once

// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <ebb/autograd/ops/functions.h>

namespace ebb {

inline Tensor Tensor::neg() const {
  return ebb::neg(*this);
}
inline Tensor& Tensor::neg_() const {
  return const_cast<Tensor&>(ebb::neg_(*this));
}
inline Tensor Tensor::abs() const {
  return ebb::abs(*this);
}
inline Tensor& Tensor::abs_() const {
  return const_cast<Tensor&>(ebb::abs_(*this));
}
inline Tensor Tensor::exp() const {
  return ebb::exp(*this);
}
inline Tensor& Tensor::exp_() const {
  return const_cast<Tensor&>(ebb::exp_(*this));
}
inline Tensor Tensor::expm1() const {
  return ebb::expm1(*this);
}
inline Tensor& Tensor::expm1_() const {
  return const_cast<Tensor&>(ebb::expm1_(*this));
}
inline Tensor Tensor::log() const {
  return ebb::log(*this);
}
inline Tensor& Tensor::log_() const {
  return const_cast<Tensor&>(ebb::log_(*this));
}
inline Tensor Tensor::log2() const {
  return ebb::log2(*this);
}
inline Tensor& Tensor::log2_() const {
  return const_cast<Tensor&>(ebb::log2_(*this));
}
inline Tensor Tensor::log10() const {
  return ebb::log10(*this);
}
inline Tensor& Tensor::log10_() const {
  return const_cast<Tensor&>(ebb::log10_(*this));
}
inline Tensor Tensor::log1p() const {
  return ebb::log1p(*this);
}
inline Tensor& Tensor::log1p_() const {
  return const_cast<Tensor&>(ebb::log1p_(*this));
}
inline Tensor Tensor::sqrt() const {
  return ebb::sqrt(*this);
}
inline Tensor& Tensor::sqrt_() const {
  return const_cast<Tensor&>(ebb::sqrt_(*this));
}
inline Tensor Tensor::rsqrt() const {
  return ebb::rsqrt(*this);
}
inline Tensor& Tensor::rsqrt_() const {
  return const_cast<Tensor&>(ebb::rsqrt_(*this));
}
inline Tensor Tensor::square() const {
  return ebb::square(*this);
}
inline Tensor& Tensor::square_() const {
  return const_cast<Tensor&>(ebb::square_(*this));
}
inline Tensor Tensor::reciprocal() const {
  return ebb::reciprocal(*this);
}
inline Tensor& Tensor::reciprocal_() const {
  return const_cast<Tensor&>(ebb::reciprocal_(*this));
}
inline Tensor Tensor::sin() const {
  return ebb::sin(*this);
}
inline Tensor& Tensor::sin_() const {
  return const_cast<Tensor&>(ebb::sin_(*this));
}
inline Tensor Tensor::cos() const {
  return ebb::cos(*this);
}
inline Tensor& Tensor::cos_() const {
  return const_cast<Tensor&>(ebb::cos_(*this));
}
inline Tensor Tensor::tan() const {
  return ebb::tan(*this);
}
inline Tensor& Tensor::tan_() const {
  return const_cast<Tensor&>(ebb::tan_(*this));
}
inline Tensor Tensor::erf() const {
  return ebb::erf(*this);
}
inline Tensor& Tensor::erf_() const {
  return const_cast<Tensor&>(ebb::erf_(*this));
}
inline Tensor Tensor::floor() const {
  return ebb::floor(*this);
}
inline Tensor& Tensor::floor_() const {
  return const_cast<Tensor&>(ebb::floor_(*this));
}
inline Tensor Tensor::ceil() const {
  return ebb::ceil(*this);
}
inline Tensor& Tensor::ceil_() const {
  return const_cast<Tensor&>(ebb::ceil_(*this));
}
inline Tensor Tensor::round() const {
  return ebb::round(*this);
}
inline Tensor& Tensor::round_() const {
  return const_cast<Tensor&>(ebb::round_(*this));
}
inline Tensor Tensor::trunc() const {
  return ebb::trunc(*this);
}
inline Tensor& Tensor::trunc_() const {
  return const_cast<Tensor&>(ebb::trunc_(*this));
}
inline Tensor Tensor::sign() const {
  return ebb::sign(*this);
}
inline Tensor& Tensor::sign_() const {
  return const_cast<Tensor&>(ebb::sign_(*this));
}
inline Tensor Tensor::asin() const {
  return ebb::asin(*this);
}
inline Tensor& Tensor::asin_() const {
  return const_cast<Tensor&>(ebb::asin_(*this));
}
inline Tensor Tensor::acos() const {
  return ebb::acos(*this);
}
inline Tensor& Tensor::acos_() const {
  return const_cast<Tensor&>(ebb::acos_(*this));
}
inline Tensor Tensor::atan() const {
  return ebb::atan(*this);
}
inline Tensor& Tensor::atan_() const {
  return const_cast<Tensor&>(ebb::atan_(*this));
}
inline Tensor Tensor::sinh() const {
  return ebb::sinh(*this);
}
inline Tensor& Tensor::sinh_() const {
  return const_cast<Tensor&>(ebb::sinh_(*this));
}
inline Tensor Tensor::cosh() const {
  return ebb::cosh(*this);
}
inline Tensor& Tensor::cosh_() const {
  return const_cast<Tensor&>(ebb::cosh_(*this));
}
inline Tensor Tensor::asinh() const {
  return ebb::asinh(*this);
}
inline Tensor& Tensor::asinh_() const {
  return const_cast<Tensor&>(ebb::asinh_(*this));
}
inline Tensor Tensor::acosh() const {
  return ebb::acosh(*this);
}
inline Tensor& Tensor::acosh_() const {
  return const_cast<Tensor&>(ebb::acosh_(*this));
}
inline Tensor Tensor::atanh() const {
  return ebb::atanh(*this);
}
inline Tensor& Tensor::atanh_() const {
  return const_cast<Tensor&>(ebb::atanh_(*this));
}
inline Tensor Tensor::erfc() const {
  return ebb::erfc(*this);
}
inline Tensor& Tensor::erfc_() const {
  return const_cast<Tensor&>(ebb::erfc_(*this));
}
inline Tensor Tensor::exp2() const {
  return ebb::exp2(*this);
}
inline Tensor& Tensor::exp2_() const {
  return const_cast<Tensor&>(ebb::exp2_(*this));
}
inline Tensor Tensor::frac() const {
  return ebb::frac(*this);
}
inline Tensor& Tensor::frac_() const {
  return const_cast<Tensor&>(ebb::frac_(*this));
}
inline Tensor Tensor::logical_not() const {
  return ebb::logical_not(*this);
}
inline Tensor& Tensor::logical_not_() const {
  return const_cast<Tensor&>(ebb::logical_not_(*this));
}
inline Tensor Tensor::bitwise_not() const {
  return ebb::bitwise_not(*this);
}
inline Tensor& Tensor::bitwise_not_() const {
  return const_cast<Tensor&>(ebb::bitwise_not_(*this));
}
inline Tensor Tensor::isnan() const {
  return ebb::isnan(*this);
}
inline Tensor Tensor::isinf() const {
  return ebb::isinf(*this);
}
inline Tensor Tensor::isfinite() const {
  return ebb::isfinite(*this);
}
inline Tensor Tensor::relu() const {
  return ebb::relu(*this);
}
inline Tensor& Tensor::relu_() const {
  return const_cast<Tensor&>(ebb::relu_(*this));
}
inline Tensor Tensor::tanh() const {
  return ebb::tanh(*this);
}
inline Tensor& Tensor::tanh_() const {
  return const_cast<Tensor&>(ebb::tanh_(*this));
}
inline Tensor Tensor::sigmoid() const {
  return ebb::sigmoid(*this);
}
inline Tensor& Tensor::sigmoid_() const {
  return const_cast<Tensor&>(ebb::sigmoid_(*this));
}
inline Tensor& Tensor::silu_() const {
  return const_cast<Tensor&>(ebb::silu_(*this));
}
inline Tensor& Tensor::leaky_relu_(const Scalar& negative_slope) const {
  return const_cast<Tensor&>(ebb::leaky_relu_(*this, negative_slope));
}
inline Tensor& Tensor::elu_(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const {
  return const_cast<Tensor&>(ebb::elu_(*this, alpha, scale, input_scale));
}
inline Tensor& Tensor::celu_(const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::celu_(*this, alpha));
}
inline Tensor& Tensor::selu_() const {
  return const_cast<Tensor&>(ebb::selu_(*this));
}
inline Tensor& Tensor::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
  return const_cast<Tensor&>(ebb::hardtanh_(*this, min_val, max_val));
}
inline Tensor& Tensor::relu6_() const {
  return const_cast<Tensor&>(ebb::relu6_(*this));
}
inline Tensor& Tensor::hardsigmoid_() const {
  return const_cast<Tensor&>(ebb::hardsigmoid_(*this));
}
inline Tensor& Tensor::hardswish_() const {
  return const_cast<Tensor&>(ebb::hardswish_(*this));
}
inline Tensor& Tensor::mish_() const {
  return const_cast<Tensor&>(ebb::mish_(*this));
}
inline Tensor Tensor::hardshrink(const Scalar& lambd) const {
  return ebb::hardshrink(*this, lambd);
}
inline Tensor& Tensor::threshold_(const Scalar& threshold, const Scalar& value) const {
  return const_cast<Tensor&>(ebb::threshold_(*this, threshold, value));
}
inline Tensor Tensor::logit(std::optional<double> eps) const {
  return ebb::logit(*this, eps);
}
inline Tensor& Tensor::logit_(std::optional<double> eps) const {
  return const_cast<Tensor&>(ebb::logit_(*this, eps));
}
inline Tensor Tensor::prelu(const Tensor& weight) const {
  return ebb::prelu(*this, weight);
}
inline Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const {
  return ebb::add(*this, other, alpha);
}
inline Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::add_(*this, other, alpha));
}
inline Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const {
  return ebb::add(*this, other, alpha);
}
inline Tensor& Tensor::add_(const Scalar& other, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::add_(*this, other, alpha));
}
inline Tensor& Tensor::add_relu_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::add_relu_(*this, other));
}
inline Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const {
  return ebb::sub(*this, other, alpha);
}
inline Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::sub_(*this, other, alpha));
}
inline Tensor Tensor::sub(const Scalar& other, const Scalar& alpha) const {
  return ebb::sub(*this, other, alpha);
}
inline Tensor& Tensor::sub_(const Scalar& other, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::sub_(*this, other, alpha));
}
inline Tensor Tensor::mul(const Tensor& other) const {
  return ebb::mul(*this, other);
}
inline Tensor& Tensor::mul_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::mul_(*this, other));
}
inline Tensor Tensor::mul(const Scalar& other) const {
  return ebb::mul(*this, other);
}
inline Tensor& Tensor::mul_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::mul_(*this, other));
}
inline Tensor Tensor::div(const Tensor& other) const {
  return ebb::div(*this, other);
}
inline Tensor& Tensor::div_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::div_(*this, other));
}
inline Tensor Tensor::div(const Scalar& other) const {
  return ebb::div(*this, other);
}
inline Tensor& Tensor::div_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::div_(*this, other));
}
inline Tensor Tensor::div(const Tensor& other, std::optional<std::string_view> rounding_mode) const {
  return ebb::div(*this, other, rounding_mode);
}
inline Tensor& Tensor::div_(const Tensor& other, std::optional<std::string_view> rounding_mode) const {
  return const_cast<Tensor&>(ebb::div_(*this, other, rounding_mode));
}
inline Tensor Tensor::div(const Scalar& other, std::optional<std::string_view> rounding_mode) const {
  return ebb::div(*this, other, rounding_mode);
}
inline Tensor& Tensor::div_(const Scalar& other, std::optional<std::string_view> rounding_mode) const {
  return const_cast<Tensor&>(ebb::div_(*this, other, rounding_mode));
}
inline Tensor Tensor::floor_divide(const Tensor& other) const {
  return ebb::floor_divide(*this, other);
}
inline Tensor& Tensor::floor_divide_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::floor_divide_(*this, other));
}
inline Tensor Tensor::floor_divide(const Scalar& other) const {
  return ebb::floor_divide(*this, other);
}
inline Tensor& Tensor::floor_divide_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::floor_divide_(*this, other));
}
inline Tensor& Tensor::div_trunc_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::div_trunc_(*this, other));
}
inline Tensor Tensor::remainder(const Tensor& other) const {
  return ebb::remainder(*this, other);
}
inline Tensor& Tensor::remainder_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::remainder_(*this, other));
}
inline Tensor Tensor::remainder(const Scalar& other) const {
  return ebb::remainder(*this, other);
}
inline Tensor& Tensor::remainder_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::remainder_(*this, other));
}
inline Tensor Tensor::pow(const Tensor& exponent) const {
  return ebb::pow(*this, exponent);
}
inline Tensor& Tensor::pow_(const Tensor& exponent) const {
  return const_cast<Tensor&>(ebb::pow_(*this, exponent));
}
inline Tensor Tensor::pow(const Scalar& exponent) const {
  return ebb::pow(*this, exponent);
}
inline Tensor& Tensor::pow_(const Scalar& exponent) const {
  return const_cast<Tensor&>(ebb::pow_(*this, exponent));
}
inline Tensor Tensor::fmod(const Tensor& other) const {
  return ebb::fmod(*this, other);
}
inline Tensor& Tensor::fmod_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::fmod_(*this, other));
}
inline Tensor Tensor::fmod(const Scalar& other) const {
  return ebb::fmod(*this, other);
}
inline Tensor& Tensor::fmod_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::fmod_(*this, other));
}
inline Tensor Tensor::fmax(const Tensor& other) const {
  return ebb::fmax(*this, other);
}
inline Tensor Tensor::fmin(const Tensor& other) const {
  return ebb::fmin(*this, other);
}
inline Tensor Tensor::atan2(const Tensor& other) const {
  return ebb::atan2(*this, other);
}
inline Tensor& Tensor::atan2_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::atan2_(*this, other));
}
inline Tensor Tensor::hypot(const Tensor& other) const {
  return ebb::hypot(*this, other);
}
inline Tensor& Tensor::hypot_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::hypot_(*this, other));
}
inline Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const {
  return ebb::nan_to_num(*this, nan, posinf, neginf);
}
inline Tensor& Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const {
  return const_cast<Tensor&>(ebb::nan_to_num_(*this, nan, posinf, neginf));
}
inline Tensor Tensor::maximum(const Tensor& other) const {
  return ebb::maximum(*this, other);
}
inline Tensor Tensor::minimum(const Tensor& other) const {
  return ebb::minimum(*this, other);
}
inline Tensor Tensor::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  return ebb::clamp(*this, min, max);
}
inline Tensor& Tensor::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
  return const_cast<Tensor&>(ebb::clamp_(*this, min, max));
}
inline Tensor Tensor::clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return ebb::clamp(*this, min, max);
}
inline Tensor& Tensor::clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return const_cast<Tensor&>(ebb::clamp_(*this, min, max));
}
inline Tensor Tensor::clamp_min(const Scalar& min) const {
  return ebb::clamp_min(*this, min);
}
inline Tensor& Tensor::clamp_min_(const Scalar& min) const {
  return const_cast<Tensor&>(ebb::clamp_min_(*this, min));
}
inline Tensor Tensor::clamp_max(const Scalar& max) const {
  return ebb::clamp_max(*this, max);
}
inline Tensor& Tensor::clamp_max_(const Scalar& max) const {
  return const_cast<Tensor&>(ebb::clamp_max_(*this, max));
}
inline Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return ebb::where(condition, *this, other);
}
inline Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  return ebb::where(condition, *this, other);
}
inline Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  return ebb::masked_fill(*this, mask, value);
}
inline Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return const_cast<Tensor&>(ebb::masked_fill_(*this, mask, value));
}
inline Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return ebb::masked_fill(*this, mask, value);
}
inline Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return const_cast<Tensor&>(ebb::masked_fill_(*this, mask, value));
}
inline Tensor Tensor::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return ebb::addcmul(*this, tensor1, tensor2, value);
}
inline Tensor& Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return const_cast<Tensor&>(ebb::addcmul_(*this, tensor1, tensor2, value));
}
inline Tensor Tensor::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return ebb::addcdiv(*this, tensor1, tensor2, value);
}
inline Tensor& Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return const_cast<Tensor&>(ebb::addcdiv_(*this, tensor1, tensor2, value));
}
inline Tensor Tensor::lerp(const Tensor& end, const Scalar& weight) const {
  return ebb::lerp(*this, end, weight);
}
inline Tensor& Tensor::lerp_(const Tensor& end, const Scalar& weight) const {
  return const_cast<Tensor&>(ebb::lerp_(*this, end, weight));
}
inline Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const {
  return ebb::lerp(*this, end, weight);
}
inline Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
  return const_cast<Tensor&>(ebb::lerp_(*this, end, weight));
}
inline Tensor Tensor::eq(const Tensor& other) const {
  return ebb::eq(*this, other);
}
inline Tensor& Tensor::eq_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::eq_(*this, other));
}
inline Tensor Tensor::eq(const Scalar& other) const {
  return ebb::eq(*this, other);
}
inline Tensor& Tensor::eq_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::eq_(*this, other));
}
inline Tensor Tensor::ne(const Tensor& other) const {
  return ebb::ne(*this, other);
}
inline Tensor& Tensor::ne_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::ne_(*this, other));
}
inline Tensor Tensor::ne(const Scalar& other) const {
  return ebb::ne(*this, other);
}
inline Tensor& Tensor::ne_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::ne_(*this, other));
}
inline Tensor Tensor::lt(const Tensor& other) const {
  return ebb::lt(*this, other);
}
inline Tensor& Tensor::lt_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::lt_(*this, other));
}
inline Tensor Tensor::lt(const Scalar& other) const {
  return ebb::lt(*this, other);
}
inline Tensor& Tensor::lt_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::lt_(*this, other));
}
inline Tensor Tensor::le(const Tensor& other) const {
  return ebb::le(*this, other);
}
inline Tensor& Tensor::le_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::le_(*this, other));
}
inline Tensor Tensor::le(const Scalar& other) const {
  return ebb::le(*this, other);
}
inline Tensor& Tensor::le_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::le_(*this, other));
}
inline Tensor Tensor::gt(const Tensor& other) const {
  return ebb::gt(*this, other);
}
inline Tensor& Tensor::gt_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::gt_(*this, other));
}
inline Tensor Tensor::gt(const Scalar& other) const {
  return ebb::gt(*this, other);
}
inline Tensor& Tensor::gt_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::gt_(*this, other));
}
inline Tensor Tensor::ge(const Tensor& other) const {
  return ebb::ge(*this, other);
}
inline Tensor& Tensor::ge_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::ge_(*this, other));
}
inline Tensor Tensor::ge(const Scalar& other) const {
  return ebb::ge(*this, other);
}
inline Tensor& Tensor::ge_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::ge_(*this, other));
}
inline Tensor Tensor::logical_and(const Tensor& other) const {
  return ebb::logical_and(*this, other);
}
inline Tensor& Tensor::logical_and_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::logical_and_(*this, other));
}
inline Tensor Tensor::logical_or(const Tensor& other) const {
  return ebb::logical_or(*this, other);
}
inline Tensor& Tensor::logical_or_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::logical_or_(*this, other));
}
inline Tensor Tensor::logical_xor(const Tensor& other) const {
  return ebb::logical_xor(*this, other);
}
inline Tensor& Tensor::logical_xor_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::logical_xor_(*this, other));
}
inline Tensor Tensor::bitwise_and(const Tensor& other) const {
  return ebb::bitwise_and(*this, other);
}
inline Tensor& Tensor::bitwise_and_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::bitwise_and_(*this, other));
}
inline Tensor Tensor::bitwise_and(const Scalar& other) const {
  return ebb::bitwise_and(*this, other);
}
inline Tensor& Tensor::bitwise_and_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::bitwise_and_(*this, other));
}
inline Tensor Tensor::bitwise_or(const Tensor& other) const {
  return ebb::bitwise_or(*this, other);
}
inline Tensor& Tensor::bitwise_or_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::bitwise_or_(*this, other));
}
inline Tensor Tensor::bitwise_or(const Scalar& other) const {
  return ebb::bitwise_or(*this, other);
}
inline Tensor& Tensor::bitwise_or_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::bitwise_or_(*this, other));
}
inline Tensor Tensor::bitwise_xor(const Tensor& other) const {
  return ebb::bitwise_xor(*this, other);
}
inline Tensor& Tensor::bitwise_xor_(const Tensor& other) const {
  return const_cast<Tensor&>(ebb::bitwise_xor_(*this, other));
}
inline Tensor Tensor::bitwise_xor(const Scalar& other) const {
  return ebb::bitwise_xor(*this, other);
}
inline Tensor& Tensor::bitwise_xor_(const Scalar& other) const {
  return const_cast<Tensor&>(ebb::bitwise_xor_(*this, other));
}
inline bool Tensor::equal(const Tensor& other) const {
  return ebb::equal(*this, other);
}
inline Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return ebb::isclose(*this, other, rtol, atol, equal_nan);
}
inline bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return ebb::allclose(*this, other, rtol, atol, equal_nan);
}
inline Tensor Tensor::sum(std::optional<ScalarType> dtype) const {
  return ebb::sum(*this, dtype);
}
inline Tensor Tensor::sum(OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return ebb::sum(*this, dim, keepdim, dtype);
}
inline Tensor Tensor::mean(std::optional<ScalarType> dtype) const {
  return ebb::mean(*this, dtype);
}
inline Tensor Tensor::mean(OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return ebb::mean(*this, dim, keepdim, dtype);
}
inline Tensor Tensor::prod(std::optional<ScalarType> dtype) const {
  return ebb::prod(*this, dtype);
}
inline Tensor Tensor::prod(int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return ebb::prod(*this, dim, keepdim, dtype);
}
inline Tensor Tensor::max() const {
  return ebb::max(*this);
}
inline Tensor Tensor::max(const Tensor& other) const {
  return ebb::max(*this, other);
}
inline std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const {
  return ebb::max(*this, dim, keepdim);
}
inline Tensor Tensor::min() const {
  return ebb::min(*this);
}
inline Tensor Tensor::min(const Tensor& other) const {
  return ebb::min(*this, other);
}
inline std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const {
  return ebb::min(*this, dim, keepdim);
}
inline Tensor Tensor::amax(IntArrayRef dim, bool keepdim) const {
  return ebb::amax(*this, dim, keepdim);
}
inline Tensor Tensor::amin(IntArrayRef dim, bool keepdim) const {
  return ebb::amin(*this, dim, keepdim);
}
inline Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim) const {
  return ebb::argmax(*this, dim, keepdim);
}
inline Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim) const {
  return ebb::argmin(*this, dim, keepdim);
}
inline Tensor Tensor::all() const {
  return ebb::all(*this);
}
inline Tensor Tensor::all(int64_t dim, bool keepdim) const {
  return ebb::all(*this, dim, keepdim);
}
inline Tensor Tensor::any() const {
  return ebb::any(*this);
}
inline Tensor Tensor::any(int64_t dim, bool keepdim) const {
  return ebb::any(*this, dim, keepdim);
}
inline Tensor Tensor::var(bool unbiased) const {
  return ebb::var(*this, unbiased);
}
inline Tensor Tensor::var(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::var(*this, dim, unbiased, keepdim);
}
inline Tensor Tensor::std(bool unbiased) const {
  return ebb::std(*this, unbiased);
}
inline Tensor Tensor::std(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::std(*this, dim, unbiased, keepdim);
}
inline Tensor Tensor::norm(const Scalar& p) const {
  return ebb::norm(*this, p);
}
inline Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) const {
  return ebb::norm(*this, p, dim, keepdim);
}
inline Tensor Tensor::logsumexp(IntArrayRef dim, bool keepdim) const {
  return ebb::logsumexp(*this, dim, keepdim);
}
inline Tensor Tensor::cumsum(int64_t dim, std::optional<ScalarType> dtype) const {
  return ebb::cumsum(*this, dim, dtype);
}
inline Tensor Tensor::cumprod(int64_t dim, std::optional<ScalarType> dtype) const {
  return ebb::cumprod(*this, dim, dtype);
}
inline std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const {
  return ebb::topk(*this, k, dim, largest, sorted);
}
inline std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  return ebb::sort(*this, dim, descending);
}
inline Tensor Tensor::argsort(int64_t dim, bool descending) const {
  return ebb::argsort(*this, dim, descending);
}
inline Tensor Tensor::view(IntArrayRef size) const {
  return ebb::view(*this, size);
}
inline Tensor Tensor::reshape(IntArrayRef shape) const {
  return ebb::reshape(*this, shape);
}
inline Tensor Tensor::view_as(const Tensor& other) const {
  return ebb::view_as(*this, other);
}
inline Tensor Tensor::reshape_as(const Tensor& other) const {
  return ebb::reshape_as(*this, other);
}
inline Tensor Tensor::as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) const {
  return ebb::as_strided(*this, size, stride, storage_offset);
}
inline Tensor Tensor::permute(IntArrayRef dims) const {
  return ebb::permute(*this, dims);
}
inline Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return ebb::transpose(*this, dim0, dim1);
}
inline Tensor& Tensor::transpose_(int64_t dim0, int64_t dim1) const {
  return const_cast<Tensor&>(ebb::transpose_(*this, dim0, dim1));
}
inline Tensor Tensor::t() const {
  return ebb::t(*this);
}
inline Tensor& Tensor::t_() const {
  return const_cast<Tensor&>(ebb::t_(*this));
}
inline Tensor Tensor::expand(IntArrayRef size, bool implicit) const {
  return ebb::expand(*this, size, implicit);
}
inline Tensor Tensor::expand_as(const Tensor& other) const {
  return ebb::expand_as(*this, other);
}
inline Tensor Tensor::broadcast_to(IntArrayRef size) const {
  return ebb::broadcast_to(*this, size);
}
inline Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  return ebb::narrow(*this, dim, start, length);
}
inline Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
  return ebb::slice(*this, dim, start, end, step);
}
inline Tensor Tensor::select(int64_t dim, int64_t index) const {
  return ebb::select(*this, dim, index);
}
inline Tensor Tensor::squeeze() const {
  return ebb::squeeze(*this);
}
inline Tensor& Tensor::squeeze_() const {
  return const_cast<Tensor&>(ebb::squeeze_(*this));
}
inline Tensor Tensor::squeeze(int64_t dim) const {
  return ebb::squeeze(*this, dim);
}
inline Tensor& Tensor::squeeze_(int64_t dim) const {
  return const_cast<Tensor&>(ebb::squeeze_(*this, dim));
}
inline Tensor Tensor::unsqueeze(int64_t dim) const {
  return ebb::unsqueeze(*this, dim);
}
inline Tensor& Tensor::unsqueeze_(int64_t dim) const {
  return const_cast<Tensor&>(ebb::unsqueeze_(*this, dim));
}
inline Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  return ebb::flatten(*this, start_dim, end_dim);
}
inline Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  return ebb::diagonal(*this, offset, dim1, dim2);
}
inline std::vector<Tensor> Tensor::unbind(int64_t dim) const {
  return ebb::unbind(*this, dim);
}
inline std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim) const {
  return ebb::split(*this, split_size, dim);
}
inline std::vector<Tensor> Tensor::split(IntArrayRef split_size, int64_t dim) const {
  return ebb::split(*this, split_size, dim);
}
inline std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const {
  return ebb::chunk(*this, chunks, dim);
}
inline Tensor Tensor::contiguous() const {
  return ebb::contiguous(*this);
}
inline Tensor Tensor::repeat(IntArrayRef repeats) const {
  return ebb::repeat(*this, repeats);
}
inline Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const {
  return ebb::roll(*this, shifts, dims);
}
inline Tensor Tensor::flip(IntArrayRef dims) const {
  return ebb::flip(*this, dims);
}
inline Tensor Tensor::tril(int64_t diagonal) const {
  return ebb::tril(*this, diagonal);
}
inline Tensor& Tensor::tril_(int64_t diagonal) const {
  return const_cast<Tensor&>(ebb::tril_(*this, diagonal));
}
inline Tensor Tensor::triu(int64_t diagonal) const {
  return ebb::triu(*this, diagonal);
}
inline Tensor& Tensor::triu_(int64_t diagonal) const {
  return const_cast<Tensor&>(ebb::triu_(*this, diagonal));
}
inline Tensor Tensor::diag(int64_t diagonal) const {
  return ebb::diag(*this, diagonal);
}
inline Tensor Tensor::index_select(int64_t dim, const Tensor& index) const {
  return ebb::index_select(*this, dim, index);
}
inline Tensor Tensor::index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  return ebb::index_add(*this, dim, index, source, alpha);
}
inline Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::index_add_(*this, dim, index, source, alpha));
}
inline Tensor Tensor::gather(int64_t dim, const Tensor& index) const {
  return ebb::gather(*this, dim, index);
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& src) const {
  return ebb::scatter(*this, dim, index, src);
}
inline Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return const_cast<Tensor&>(ebb::scatter_(*this, dim, index, src));
}
inline Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Scalar& value) const {
  return ebb::scatter(*this, dim, index, value);
}
inline Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Scalar& value) const {
  return const_cast<Tensor&>(ebb::scatter_(*this, dim, index, value));
}
inline Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const {
  return ebb::scatter_add(*this, dim, index, src);
}
inline Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const {
  return const_cast<Tensor&>(ebb::scatter_add_(*this, dim, index, src));
}
inline Tensor Tensor::masked_select(const Tensor& mask) const {
  return ebb::masked_select(*this, mask);
}
inline Tensor Tensor::nonzero() const {
  return ebb::nonzero(*this);
}
inline Tensor Tensor::mm(const Tensor& mat2) const {
  return ebb::mm(*this, mat2);
}
inline Tensor Tensor::bmm(const Tensor& mat2) const {
  return ebb::bmm(*this, mat2);
}
inline Tensor Tensor::mv(const Tensor& vec) const {
  return ebb::mv(*this, vec);
}
inline Tensor Tensor::dot(const Tensor& tensor) const {
  return ebb::dot(*this, tensor);
}
inline Tensor Tensor::matmul(const Tensor& other) const {
  return ebb::matmul(*this, other);
}
inline Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
  return ebb::addmm(*this, mat1, mat2, beta, alpha);
}
inline Tensor& Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
  return const_cast<Tensor&>(ebb::addmm_(*this, mat1, mat2, beta, alpha));
}
inline Tensor Tensor::softmax(int64_t dim, std::optional<ScalarType> dtype) const {
  return ebb::softmax(*this, dim, dtype);
}
inline Tensor Tensor::log_softmax(int64_t dim, std::optional<ScalarType> dtype) const {
  return ebb::log_softmax(*this, dim, dtype);
}
inline Tensor Tensor::bernoulli(const std::optional<Generator>& generator) const {
  return ebb::bernoulli(*this, generator);
}
inline Tensor Tensor::fill(const Scalar& value) const {
  return ebb::fill(*this, value);
}
inline Tensor& Tensor::fill_(const Scalar& value) const {
  return const_cast<Tensor&>(ebb::fill_(*this, value));
}
inline Tensor Tensor::fill(const Tensor& value) const {
  return ebb::fill(*this, value);
}
inline Tensor& Tensor::fill_(const Tensor& value) const {
  return const_cast<Tensor&>(ebb::fill_(*this, value));
}
inline Tensor& Tensor::zero_() const {
  return const_cast<Tensor&>(ebb::zero_(*this));
}
inline Tensor Tensor::clone() const {
  return ebb::clone(*this);
}

}  // namespace ebb
