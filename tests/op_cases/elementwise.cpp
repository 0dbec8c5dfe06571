#include <ebb/ebb.h>

#include <optional>

#include "op_cases.h"

namespace op_cases {
namespace {

using ebb::Scalar;
using ebb::Tensor;
using Unary = Tensor (*)(const Tensor&);
using UnaryInPlace = const Tensor& (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);
using BinaryInPlace = const Tensor& (*)(const Tensor&, const Tensor&);
using WithScalar = Tensor (*)(const Tensor&, const Scalar&);
using WithScalarInPlace = const Tensor& (*)(const Tensor&, const Scalar&);

const std::vector<int64_t> kFull = {6, 100};
const std::vector<int64_t> kRow = {100};

Case unary(const std::string& name, Unary op, UnaryInPlace in_place = nullptr,
           Argument self = real("self", kFull)) {
  Case made{name, {std::move(self)}, [op](const Tensors& a) { return op(a[0]); }, {}};
  if (in_place != nullptr) made.in_place = [in_place](const Tensors& a) { in_place(a[0]); };
  return made;
}

Case binary(const std::string& name, Binary op, BinaryInPlace in_place = nullptr,
            Argument self = real("self", kFull), Argument other = real("other", kRow)) {
  Case made{name,
            {std::move(self), std::move(other)},
            [op](const Tensors& a) { return op(a[0], a[1]); },
            {}};
  if (in_place != nullptr) made.in_place = [in_place](const Tensors& a) { in_place(a[0], a[1]); };
  return made;
}

Case with_scalar(const std::string& name, Scalar other, WithScalar op,
                 WithScalarInPlace in_place = nullptr, Argument self = real("self", kFull)) {
  Case made{name, {std::move(self)}, [op, other](const Tensors& a) { return op(a[0], other); }, {}};
  if (in_place != nullptr) {
    made.in_place = [in_place, other](const Tensors& a) { in_place(a[0], other); };
  }
  return made;
}

/// The gradient of an activation: a function of grad_output and one more tensor.
Case backward(const std::string& name, const std::string& second, Binary op) {
  return binary(name, op, nullptr, real("grad_output", kFull), real(second, kFull));
}

void add_unary(std::vector<Case>& cases) {
  for (const auto& made : {
           unary("neg", ebb::neg, ebb::neg_),
           unary("abs", ebb::abs, ebb::abs_),
           unary("exp", ebb::exp, ebb::exp_),
           unary("expm1", ebb::expm1, ebb::expm1_),
           unary("log", ebb::log, ebb::log_),
           unary("log2", ebb::log2, ebb::log2_),
           unary("log10", ebb::log10, ebb::log10_),
           unary("log1p", ebb::log1p, ebb::log1p_),
           unary("sqrt", ebb::sqrt, ebb::sqrt_),
           unary("rsqrt", ebb::rsqrt, ebb::rsqrt_),
           unary("square", ebb::square, ebb::square_),
           unary("reciprocal", ebb::reciprocal, ebb::reciprocal_),
           unary("sin", ebb::sin, ebb::sin_),
           unary("cos", ebb::cos, ebb::cos_),
           unary("tan", ebb::tan, ebb::tan_),
           unary("erf", ebb::erf, ebb::erf_),
           unary("asin", ebb::asin, ebb::asin_),
           unary("acos", ebb::acos, ebb::acos_),
           unary("atan", ebb::atan, ebb::atan_),
           unary("sinh", ebb::sinh, ebb::sinh_),
           unary("cosh", ebb::cosh, ebb::cosh_),
           unary("asinh", ebb::asinh, ebb::asinh_),
           unary("acosh", ebb::acosh, ebb::acosh_, above_one("self", kFull)),
           unary("atanh", ebb::atanh, ebb::atanh_),
           unary("erfc", ebb::erfc, ebb::erfc_),
           unary("exp2", ebb::exp2, ebb::exp2_),
           unary("frac", ebb::frac, ebb::frac_),
           unary("floor", ebb::floor, ebb::floor_),
           unary("ceil", ebb::ceil, ebb::ceil_),
           unary("round", ebb::round, ebb::round_),
           unary("trunc", ebb::trunc, ebb::trunc_),
           unary("sign", ebb::sign, ebb::sign_),
           unary("logical_not", ebb::logical_not, ebb::logical_not_),
           unary("bitwise_not", ebb::bitwise_not, ebb::bitwise_not_, integer("self", kFull)),
           unary("isnan", ebb::isnan),
           unary("isinf", ebb::isinf),
           unary("isfinite", ebb::isfinite),
           unary("relu", ebb::relu, ebb::relu_),
           unary("gelu", [](const Tensor&x) { return ebb::gelu(x); }),
           unary("gelu.tanh", [](const Tensor&x) { return ebb::gelu(x, "tanh"); }),
           unary("tanh", ebb::tanh, ebb::tanh_),
           unary("sigmoid", ebb::sigmoid, ebb::sigmoid_),
           unary("silu", ebb::silu, ebb::silu_),
           unary("leaky_relu", [](const Tensor& x) { return ebb::leaky_relu(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::leaky_relu_(x); }),
           unary("elu", [](const Tensor& x) { return ebb::elu(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::elu_(x); }),
           unary("celu", [](const Tensor& x) { return ebb::celu(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::celu_(x); }),
           unary("hardtanh", [](const Tensor& x) { return ebb::hardtanh(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::hardtanh_(x); }),
           unary("softplus", [](const Tensor& x) { return ebb::softplus(x); }),
           unary("softshrink", [](const Tensor& x) { return ebb::softshrink(x); }),
           unary("hardshrink", [](const Tensor& x) { return ebb::hardshrink(x); }),
           unary("logit", [](const Tensor& x) { return ebb::logit(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::logit_(x); }),
           unary("nan_to_num", [](const Tensor& x) { return ebb::nan_to_num(x); },
                 [](const Tensor& x) -> const Tensor& { return ebb::nan_to_num_(x); }),
           unary("selu", ebb::selu, ebb::selu_),
           unary("relu6", ebb::relu6, ebb::relu6_),
           unary("hardsigmoid", ebb::hardsigmoid, ebb::hardsigmoid_),
           unary("hardswish", ebb::hardswish, ebb::hardswish_),
           unary("mish", ebb::mish, ebb::mish_),
           unary("log_sigmoid", ebb::log_sigmoid),
           unary("softsign", ebb::softsign),
           unary("tanhshrink", ebb::tanhshrink),
           unary("threshold", [](const Tensor& x) { return ebb::threshold(x, 0.4, 0.1); },
                 [](const Tensor& x) -> const Tensor& { return ebb::threshold_(x, 0.4, 0.1); }),
           backward("leaky_relu_backward", "self", [](const Tensor& grad, const Tensor& self) { return ebb::leaky_relu_backward(grad, self, 0.1); }),
           backward("elu_backward", "self_or_result", [](const Tensor& grad, const Tensor& self) { return ebb::elu_backward(grad, 1, 1, 1, true, self); }),
           backward("hardtanh_backward", "self", [](const Tensor& grad, const Tensor& self) { return ebb::hardtanh_backward(grad, self, 0.3, 0.7); }),
           backward("softplus_backward", "self", [](const Tensor& grad, const Tensor& self) { return ebb::softplus_backward(grad, self, 1, 20); }),
           backward("hardsigmoid_backward", "self", ebb::hardsigmoid_backward),
           backward("hardswish_backward", "self", ebb::hardswish_backward),
           backward("mish_backward", "self", ebb::mish_backward),
           backward("log_sigmoid_backward", "self", ebb::log_sigmoid_backward),
           backward("softsign_backward", "self", ebb::softsign_backward),
           unary("bernoulli", [](const Tensor&x) { return ebb::bernoulli(x); }),
           unary("zero", ebb::zero, ebb::zero_),
           unary("clone", ebb::clone),
           backward("threshold_backward", "result",
                    [](const Tensor&grad, const Tensor&result) {
                      return ebb::threshold_backward(grad, result, 0.4);
                    }),
           backward("tanh_backward", "result", ebb::tanh_backward),
           backward("sigmoid_backward", "result", ebb::sigmoid_backward),
           backward(
               "gelu_backward", "self",
               [](const Tensor&grad, const Tensor&self) { return ebb::gelu_backward(grad, self); }),
           backward("gelu_backward.tanh", "self",
                    [](const Tensor&grad, const Tensor&self) {
                      return ebb::gelu_backward(grad, self, "tanh");
                    }),
           backward("silu_backward", "self", ebb::silu_backward),
       }) {
    cases.push_back(made);
  }
}

Tensor add2(const Tensor& a, const Tensor& b) { return ebb::add(a, b, 2); }
const Tensor& add2_(const Tensor& a, const Tensor& b) { return ebb::add_(a, b, 2); }
Tensor sub2(const Tensor& a, const Tensor& b) { return ebb::sub(a, b, 2); }
const Tensor& sub2_(const Tensor& a, const Tensor& b) { return ebb::sub_(a, b, 2); }

void add_arithmetic(std::vector<Case>& cases) {
  for (const auto& made : {
           binary("add", add2, add2_),
           with_scalar(
               "add.Scalar", 2, [](const Tensor&a, const Scalar&b) { return ebb::add(a, b); },
               [](const Tensor&a, const Scalar&b) -> const Tensor& { return ebb::add_(a, b); }),
           binary("add_relu", ebb::add_relu, ebb::add_relu_),
           binary("sub", sub2, sub2_),
           with_scalar(
               "sub.Scalar", 2, [](const Tensor&a, const Scalar&b) { return ebb::sub(a, b); },
               [](const Tensor&a, const Scalar&b) -> const Tensor& { return ebb::sub_(a, b); }),
           binary("rsub", [](const Tensor&a, const Tensor&b) { return ebb::rsub(a, b, 2); }),
           with_scalar("rsub.Scalar", 2,
                       [](const Tensor&a, const Scalar&b) { return ebb::rsub(a, b); }),
           binary("mul", ebb::mul, ebb::mul_),
           with_scalar("mul.Scalar", 2, ebb::mul, ebb::mul_),
           binary("div", ebb::div, ebb::div_),
           with_scalar("div.Scalar", 2, ebb::div, ebb::div_),
           binary(
               "div.floor", [](const Tensor&a, const Tensor&b) { return ebb::div(a, b, "floor"); },
               [](const Tensor&a, const Tensor&b) -> const Tensor& {
                 return ebb::div_(a, b, "floor");
               }),
           with_scalar(
               "div.Scalar_trunc", 0.3,
               [](const Tensor&a, const Scalar&b) { return ebb::div(a, b, "trunc"); },
               [](const Tensor&a, const Scalar&b) -> const Tensor& {
                 return ebb::div_(a, b, "trunc");
               }),
           binary("floor_divide", ebb::floor_divide, ebb::floor_divide_),
           with_scalar("floor_divide.Scalar", 0.3, ebb::floor_divide, ebb::floor_divide_),
           binary("div_trunc", ebb::div_trunc, ebb::div_trunc_),
           binary("remainder", ebb::remainder, ebb::remainder_),
           with_scalar("remainder.Scalar", 0.3, ebb::remainder, ebb::remainder_),
           binary("fmod", ebb::fmod, ebb::fmod_),
           with_scalar("fmod.Scalar", 0.3, ebb::fmod, ebb::fmod_),
           binary("fmax", ebb::fmax),
           binary("fmin", ebb::fmin),
           binary("atan2", ebb::atan2, ebb::atan2_),
           binary("hypot", ebb::hypot, ebb::hypot_),
           binary("prelu", ebb::prelu, nullptr, real("self", kFull), real("weight", kRow)),
           binary("pow", ebb::pow, ebb::pow_, real("self", kFull), real("exponent", kRow)),
           with_scalar("pow.Scalar", 2.5, ebb::pow, ebb::pow_),
           unary(
               "pow.of_Scalar", [](const Tensor&x) { return ebb::pow(Scalar(2.5), x); }, nullptr,
               real("exponent", kFull)),
           binary("maximum", ebb::maximum),
           binary("minimum", ebb::minimum),
           binary("max.other", ebb::max),
           binary("min.other", ebb::min),
           with_scalar("clamp_min", 0.4, ebb::clamp_min, ebb::clamp_min_),
           with_scalar("clamp_max", 0.6, ebb::clamp_max, ebb::clamp_max_),
           with_scalar("fill", 2, ebb::fill, ebb::fill_),
           binary("fill.Tensor", ebb::fill, ebb::fill_, real("self", kFull), real("value", {})),
       }) {
    cases.push_back(made);
  }
}

template <typename Op, typename InPlace>
void add_comparison(std::vector<Case>& cases, const std::string& name, Op op, InPlace in_place) {
  cases.push_back({name,
                   {real("self", kFull), real("other", kRow)},
                   [op](const Tensors& a) { return op(a[0], a[1]); },
                   [in_place](const Tensors& a) { in_place(a[0], a[1]); }});
  cases.push_back({name + ".Scalar",
                   {real("self", kFull)},
                   [op](const Tensors& a) { return op(a[0], Scalar(0.5)); },
                   [in_place](const Tensors& a) { in_place(a[0], Scalar(0.5)); }});
}

void add_comparisons(std::vector<Case>& cases) {
  add_comparison(
      cases, "eq", [](auto& a, const auto& b) { return ebb::eq(a, b); },
      [](auto& a, const auto& b) { ebb::eq_(a, b); });
  add_comparison(
      cases, "ne", [](auto& a, const auto& b) { return ebb::ne(a, b); },
      [](auto& a, const auto& b) { ebb::ne_(a, b); });
  add_comparison(
      cases, "lt", [](auto& a, const auto& b) { return ebb::lt(a, b); },
      [](auto& a, const auto& b) { ebb::lt_(a, b); });
  add_comparison(
      cases, "le", [](auto& a, const auto& b) { return ebb::le(a, b); },
      [](auto& a, const auto& b) { ebb::le_(a, b); });
  add_comparison(
      cases, "gt", [](auto& a, const auto& b) { return ebb::gt(a, b); },
      [](auto& a, const auto& b) { ebb::gt_(a, b); });
  add_comparison(
      cases, "ge", [](auto& a, const auto& b) { return ebb::ge(a, b); },
      [](auto& a, const auto& b) { ebb::ge_(a, b); });
  const auto bits = integer("self", kFull);
  const auto other_bits = integer("other", kRow);
  for (const auto& made : {
           binary("logical_and", ebb::logical_and, ebb::logical_and_),
           binary("logical_or", ebb::logical_or, ebb::logical_or_),
           binary("logical_xor", ebb::logical_xor, ebb::logical_xor_),
           binary("bitwise_and", ebb::bitwise_and, ebb::bitwise_and_, bits, other_bits),
           binary("bitwise_or", ebb::bitwise_or, ebb::bitwise_or_, bits, other_bits),
           binary("bitwise_xor", ebb::bitwise_xor, ebb::bitwise_xor_, bits, other_bits),
           with_scalar("bitwise_and.Scalar", 3, ebb::bitwise_and, ebb::bitwise_and_, bits),
           with_scalar("bitwise_or.Scalar", 3, ebb::bitwise_or, ebb::bitwise_or_, bits),
           with_scalar("bitwise_xor.Scalar", 3, ebb::bitwise_xor, ebb::bitwise_xor_, bits),
           binary("isclose", [](const Tensor&a, const Tensor&b) { return ebb::isclose(a, b); }),
       }) {
    cases.push_back(made);
  }
  const std::vector<Argument> two = {real("self", kFull), real("other", kFull)};
  cases.push_back({"equal", two, [](const Tensors& a) { return ebb::equal(a[0], a[1]); }, {}});
  cases.push_back(
      {"allclose", two, [](const Tensors& a) { return ebb::allclose(a[0], a[1]); }, {}});
}

void add_ternary(std::vector<Case>& cases) {
  const auto self = real("self", kFull);
  cases.push_back({"clamp",
                   {self},
                   [](const Tensors& a) { return ebb::clamp(a[0], 0.3, 0.7); },
                   [](const Tensors& a) { ebb::clamp_(a[0], 0.3, 0.7); }});
  cases.push_back({"clamp.Tensor",
                   {self, optional_real("min", kRow), optional_real("max", {6, 1})},
                   [](const Tensors& a) {
                     return ebb::clamp(a[0], std::optional<Tensor>(a[1]),
                                       std::optional<Tensor>(a[2]));
                   },
                   [](const Tensors& a) {
                     ebb::clamp_(a[0], std::optional<Tensor>(a[1]), std::optional<Tensor>(a[2]));
                   }});
  cases.push_back({"where",
                   {mask("condition", {6, 1}), self, real("other", kRow)},
                   [](const Tensors& a) { return ebb::where(a[0], a[1], a[2]); },
                   {}});
  cases.push_back({"where.ScalarSelf",
                   {mask("condition", {6, 1}), real("other", kRow)},
                   [](const Tensors& a) { return ebb::where(a[0], Scalar(2), a[1]); },
                   {}});
  cases.push_back({"where.ScalarOther",
                   {mask("condition", {6, 1}), real("self", kRow)},
                   [](const Tensors& a) { return ebb::where(a[0], a[1], Scalar(2)); },
                   {}});
  cases.push_back({"masked_fill",
                   {self, mask("mask", kRow)},
                   [](const Tensors& a) { return ebb::masked_fill(a[0], a[1], Scalar(2)); },
                   [](const Tensors& a) { ebb::masked_fill_(a[0], a[1], Scalar(2)); }});
  cases.push_back({"masked_fill.Tensor",
                   {self, mask("mask", kRow), real("value", {})},
                   [](const Tensors& a) { return ebb::masked_fill(a[0], a[1], a[2]); },
                   [](const Tensors& a) { ebb::masked_fill_(a[0], a[1], a[2]); }});
  const std::vector<Argument> three = {self, real("tensor1", kRow), real("tensor2", {6, 1})};
  cases.push_back({"addcmul", three,
                   [](const Tensors& a) { return ebb::addcmul(a[0], a[1], a[2], 2); },
                   [](const Tensors& a) { ebb::addcmul_(a[0], a[1], a[2], 2); }});
  cases.push_back({"addcdiv", three,
                   [](const Tensors& a) { return ebb::addcdiv(a[0], a[1], a[2], 2); },
                   [](const Tensors& a) { ebb::addcdiv_(a[0], a[1], a[2], 2); }});
  cases.push_back({"lerp",
                   {self, real("end", kRow)},
                   [](const Tensors& a) { return ebb::lerp(a[0], a[1], Scalar(0.3)); },
                   [](const Tensors& a) { ebb::lerp_(a[0], a[1], Scalar(0.3)); }});
  cases.push_back({"lerp.Tensor",
                   {self, real("end", kRow), real("weight", {6, 1})},
                   [](const Tensors& a) { return ebb::lerp(a[0], a[1], a[2]); },
                   [](const Tensors& a) { ebb::lerp_(a[0], a[1], a[2]); }});
  cases.push_back({"dropout",
                   {real("input", kFull)},
                   [](const Tensors& a) { return ebb::dropout(a[0], 0.5, true); },
                   [](const Tensors& a) { ebb::dropout_(a[0], 0.5, true); }});
  cases.push_back({"dropout_backward",
                   {real("grad_output", kFull)},
                   [](const Tensors& a) { return ebb::dropout_backward(a[0], 0.5, 3, 8); },
                   {}});
}

}  // namespace

void add_elementwise(std::vector<Case>& cases) {
  add_unary(cases);
  add_arithmetic(cases);
  add_comparisons(cases);
  add_ternary(cases);
}

}  // namespace op_cases
