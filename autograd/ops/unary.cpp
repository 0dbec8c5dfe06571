#include <array>
#include <limits>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/elementwise.h>

// The ops of one tensor that are more than a functor and a gradient; the others are
// elementwise_table.cpp.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::not_differentiable;
using autograd::Recorder;
using autograd::UnaryOp;
using autograd::zero_formula;

namespace {

auto neg_formula(Recorder&, const Tensor&) {
  return [](Backward& b) { b.set(0, -b.grad()); };
}

double largest_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    case kFloat:
      return std::numeric_limits<float>::max();
    default:
      return is_floating_point(dtype) ? std::numeric_limits<double>::max() : 0;
  }
}

/// The numbers that stand for NaN and the infinities.
std::array<Scalar, 3> replacements(ScalarType dtype, std::optional<double> nan,
                                   std::optional<double> posinf, std::optional<double> neginf) {
  const double largest = largest_of(dtype);
  return {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
}

Tensor nan_to_num_gradient(const Tensor& grad, const Tensor& self, const Scalar*) {
  return grad * self.isfinite();
}
constexpr UnaryOp kNanToNum = {"nan_to_num",       "nan_to_num_",
                               "NanToNumBackward0", ElementwiseOp::NanToNum,
                               autograd::Keeps::self, &nan_to_num_gradient};

/// Zero where self was cut off, and NaN outside [0, 1] where it was not.
Tensor logit_gradient(const Tensor& grad, const Tensor& self, const Scalar* numbers) {
  const double eps = numbers[0].to<double>();
  const Tensor slope = grad / (self * (1 - self));
  const double low = eps < 0 ? 0 : eps;
  const Tensor outside = self.lt(low).logical_or(self.gt(1 - low));
  return slope.masked_fill(outside, eps < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0);
}
constexpr UnaryOp kLogit = {"logit",
                            "logit_",
                            "LogitBackward0",
                            ElementwiseOp::Logit,
                            autograd::Keeps::self,
                            &logit_gradient,
                            autograd::autocast_of("logit")};

}  // namespace

Tensor neg(const Tensor& self) {
  return differentiable(
      "neg", "NegBackward0", {self}, [&] { return ops::neg(ops::Form::fresh, self); },
      [&](Recorder& r) { return neg_formula(r, self); });
}
const Tensor& neg_(const Tensor& self) {
  return differentiable_(
      "neg_", "NegBackward0", self, {self}, [&] { ops::neg(ops::Form::in_place, self); },
      [&](Recorder& r) { return neg_formula(r, self); });
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return unary(kLogit, self, {eps.value_or(-1)});
}
const Tensor& logit_(const Tensor& self, std::optional<double> eps) {
  return unary_(kLogit, self, {eps.value_or(-1)});
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  const OpName name("nan_to_num");
  const auto numbers = replacements(self.scalar_type(), nan, posinf, neginf);
  return unary(kNanToNum, self, {numbers[0], numbers[1], numbers[2]});
}
const Tensor& nan_to_num_(const Tensor& self, std::optional<double> nan,
                          std::optional<double> posinf, std::optional<double> neginf) {
  const OpName name("nan_to_num_");
  const auto numbers = replacements(self.scalar_type(), nan, posinf, neginf);
  return unary_(kNanToNum, self, {numbers[0], numbers[1], numbers[2]});
}

Tensor logical_not(const Tensor& self) {
  return not_differentiable("logical_not",
                            [&] { return ops::elementwise(ElementwiseOp::LogicalNot, {self}); });
}
const Tensor& logical_not_(const Tensor& self) {
  return differentiable_(
      "logical_not_", "LogicalNotBackward0", self, {self},
      [&] { ops::elementwise_(ElementwiseOp::LogicalNot, self, {self}); },
      [&](Recorder& r) { return zero_formula(r, self); });
}

Tensor bitwise_not(const Tensor& self) {
  return not_differentiable("bitwise_not",
                            [&] { return ops::bitwise_not(ops::Form::fresh, self); });
}
const Tensor& bitwise_not_(const Tensor& self) {
  return differentiable_(
      "bitwise_not_", "BitwiseNotBackward0", self, {self},
      [&] { ops::bitwise_not(ops::Form::in_place, self); },
      [&](Recorder& r) { return zero_formula(r, self); });
}
Tensor isnan(const Tensor& self) {
  return not_differentiable("isnan",
                            [&] { return ops::elementwise(ElementwiseOp::IsNan, {self}); });
}
Tensor isinf(const Tensor& self) {
  return not_differentiable("isinf",
                            [&] { return ops::elementwise(ElementwiseOp::IsInf, {self}); });
}
Tensor isfinite(const Tensor& self) {
  return not_differentiable("isfinite",
                            [&] { return ops::elementwise(ElementwiseOp::IsFinite, {self}); });
}

}  // namespace ebb
