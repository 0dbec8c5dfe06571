#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/elementwise.h>

// Arithmetic of two and three inputs. The engine sums a gradient down over broadcast dimensions and
// converts it to the input's dtype, so that formulas need not.

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;
using ops::Form;

namespace {

/// grad * factor, without a copy for the factor 1.
Tensor scaled(const Tensor& grad, const Scalar& factor) {
  return factor.equal(1) ? grad : grad * factor;
}

// --- formulas of a scalar or a second tensor; r.needs(1) is the second ---

auto add_formula(const Scalar& alpha) {
  return [alpha](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad());
    if (b.needs(1)) b.set(1, scaled(b.grad(), alpha));
  };
}
auto add_relu_formula(Recorder& r) {
  r.keep_result();
  return [](Backward& b) {
    const Tensor grad = threshold_backward(b.grad(), b.result(), 0);
    if (b.needs(0)) b.set(0, grad);
    if (b.needs(1)) b.set(1, grad);
  };
}
/// self + a number, or self - a number.
auto identity_formula() {
  return [](Backward& b) { b.set(0, b.grad()); };
}
/// self * a number.
auto scale_formula(const Scalar& factor) {
  return [factor](Backward& b) { b.set(0, scaled(b.grad(), factor)); };
}
/// A result that is constant between jumps.
auto zeros_formula() {
  return [](Backward& b) {
    if (b.needs(0)) b.set(0, zero(b.grad()));
    if (b.needs(1)) b.set(1, zero(b.grad()));
  };
}

auto mul_formula(Recorder& r, const Tensor& self, const Tensor& other) {
  return [self = r.save_if(r.needs(1), self), other = r.save_if(r.needs(0), other)](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad() * b.get(other));
    if (b.needs(1)) b.set(1, b.grad() * b.get(self));
  };
}

auto div_formula(Recorder& r, const Tensor& self, const Tensor& other) {
  return [self = r.save_if(r.needs(1), self), other = r.save(other)](Backward& b) {
    const Tensor divisor = b.get(other);
    if (b.needs(0)) b.set(0, b.grad() / divisor);
    if (b.needs(1)) b.set(1, -b.grad() * (b.get(self) / divisor / divisor));
  };
}
auto div_formula(const Scalar& divisor) {
  return [divisor](Backward& b) { b.set(0, b.grad() / divisor); };
}

/// n x^(n-1), where 0^0 counts as 0.
Tensor pow_slope(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0)) return zero(grad);
  if (exponent.equal(2)) return grad * (self * 2);
  const Scalar less =
      exponent.is_integral(true) ? Scalar(exponent.toLong() - 1) : Scalar(exponent.toDouble() - 1);
  return grad * (self.pow(less) * exponent);
}

auto pow_formula(Recorder& r, const Tensor& self, const Scalar& exponent) {
  const bool constant = exponent.equal(0);
  return [exponent, self = r.save_if(!constant, self)](Backward& b) {
    b.set(0, pow_slope(b.grad(), b.get(self), exponent));
  };
}

auto pow_formula(Recorder& r, const Tensor& self, const Tensor& exponent) {
  if (r.needs(1)) r.keep_result();
  return [self = r.save(self), exponent = r.save(exponent)](Backward& b) {
    const Tensor base = b.get(self);
    const Tensor power = b.get(exponent);
    if (b.needs(0)) {
      const Tensor slope = b.grad() * (power * base.pow(power.add(-1)));  // sub refuses bool
      b.set(0, slope.masked_fill(power == 0, 0));
    }
    if (b.needs(1)) {
      const Tensor slope = b.grad() * (b.result() * base.log());
      b.set(1, slope.masked_fill(logical_and(base == 0, power >= 0), 0));
    }
  };
}

auto addcmul_formula(Recorder& r, const Tensor& tensor1, const Tensor& tensor2,
                     const Scalar& value) {
  return [value, tensor1 = r.save_if(r.needs(2), tensor1),
          tensor2 = r.save_if(r.needs(1), tensor2)](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad());
    if (b.needs(1)) b.set(1, b.grad() * scaled(b.get(tensor2), value));
    if (b.needs(2)) b.set(2, b.grad() * scaled(b.get(tensor1), value));
  };
}

auto addcdiv_formula(Recorder& r, const Tensor& tensor1, const Tensor& tensor2,
                     const Scalar& value) {
  return [value, tensor1 = r.save_if(r.needs(2), tensor1),
          tensor2 = r.save_if(r.needs(1) || r.needs(2), tensor2)](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad());
    if (!b.needs(1) && !b.needs(2)) return;
    const Tensor divisor = b.get(tensor2);
    if (b.needs(1)) b.set(1, scaled(b.grad(), value) / divisor);
    if (b.needs(2)) {
      b.set(2, -scaled(b.grad(), value) * (b.get(tensor1) / divisor / divisor));
    }
  };
}

auto lerp_formula(const Scalar& weight) {
  return [weight](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad() * (1 - weight.toDouble()));
    if (b.needs(1)) b.set(1, b.grad() * weight);
  };
}

auto lerp_formula(Recorder& r, const Tensor& self, const Tensor& end, const Tensor& weight) {
  const bool weighs = r.needs(2);
  return [self = r.save_if(weighs, self), end = r.save_if(weighs, end),
          weight = r.save_if(r.needs(0) || r.needs(1), weight)](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad() - b.grad() * b.get(weight));
    if (b.needs(1)) b.set(1, b.grad() * b.get(weight));
    if (b.needs(2)) b.set(2, b.grad() * (b.get(end) - b.get(self)));
  };
}

}  // namespace

// --- add, sub, rsub ---

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return differentiable(
      "add", "AddBackward0", {self, other},
      [&] { return ops::add(Form::fresh, self, other, alpha); },
      [&](Recorder&) { return add_formula(alpha); });
}
const Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return differentiable_(
      "add_", "AddBackward0", self, {self, other},
      [&] { ops::add(Form::in_place, self, other, alpha); },
      [&](Recorder&) { return add_formula(alpha); });
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return differentiable(
      "add", "AddBackward0", {self}, [&] { return ops::add(Form::fresh, self, other, alpha); },
      [&](Recorder&) { return identity_formula(); });
}
const Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return differentiable_(
      "add_", "AddBackward0", self, {self}, [&] { ops::add(Form::in_place, self, other, alpha); },
      [&](Recorder&) { return identity_formula(); });
}

Tensor add_relu(const Tensor& self, const Tensor& other) {
  return differentiable(
      "add_relu", "AddReluBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::AddRelu, {self, other});
      },
      add_relu_formula);
}
const Tensor& add_relu_(const Tensor& self, const Tensor& other) {
  return differentiable_(
      "add_relu_", "AddReluBackward0", self, {self, other},
      [&] {
        ops::elementwise_(ElementwiseOp::AddRelu, self, {self, other});
      },
      add_relu_formula);
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return differentiable(
      "sub", "SubBackward0", {self, other},
      [&] { return ops::sub(Form::fresh, self, other, alpha); },
      [&](Recorder&) { return add_formula(-alpha); });
}
const Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return differentiable_(
      "sub_", "SubBackward0", self, {self, other},
      [&] { ops::sub(Form::in_place, self, other, alpha); },
      [&](Recorder&) { return add_formula(-alpha); });
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return differentiable(
      "sub", "SubBackward0", {self}, [&] { return ops::sub(Form::fresh, self, other, alpha); },
      [&](Recorder&) { return identity_formula(); });
}
const Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return differentiable_(
      "sub_", "SubBackward0", self, {self}, [&] { ops::sub(Form::in_place, self, other, alpha); },
      [&](Recorder&) { return identity_formula(); });
}

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return differentiable(
      "rsub", "RsubBackward1", {self, other}, [&] { return ops::rsub(self, other, alpha); },
      [&](Recorder&) {
        return [alpha](Backward& b) {
          if (b.needs(0)) b.set(0, b.grad() * -alpha);
          if (b.needs(1)) b.set(1, b.grad());
        };
      });
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return differentiable(
      "rsub", "RsubBackward1", {self}, [&] { return ops::rsub(self, other, alpha); },
      [&](Recorder&) { return scale_formula(-alpha); });
}

// --- mul ---

Tensor mul(const Tensor& self, const Tensor& other) {
  return differentiable(
      "mul", "MulBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Mul, {self, other});
      },
      [&](Recorder& r) { return mul_formula(r, self, other); });
}
const Tensor& mul_(const Tensor& self, const Tensor& other) {
  return differentiable_(
      "mul_", "MulBackward0", self, {self, other},
      [&] {
        ops::elementwise_(ElementwiseOp::Mul, self, {self, other});
      },
      [&](Recorder& r) { return mul_formula(r, self, other); });
}
Tensor mul(const Tensor& self, const Scalar& other) {
  return differentiable(
      "mul", "MulBackward0", {self},
      [&] {
        return ops::elementwise(ElementwiseOp::Mul, {self, other});
      },
      [&](Recorder&) { return scale_formula(other); });
}
const Tensor& mul_(const Tensor& self, const Scalar& other) {
  return differentiable_(
      "mul_", "MulBackward0", self, {self},
      [&] {
        ops::elementwise_(ElementwiseOp::Mul, self, {self, other});
      },
      [&](Recorder&) { return scale_formula(other); });
}

// --- div and what rounds the quotient ---

Tensor div(const Tensor& self, const Tensor& other) {
  return differentiable(
      "div", "DivBackward0", {self, other}, [&] { return ops::div(Form::fresh, self, other); },
      [&](Recorder& r) { return div_formula(r, self, other); });
}
const Tensor& div_(const Tensor& self, const Tensor& other) {
  return differentiable_(
      "div_", "DivBackward0", self, {self, other}, [&] { ops::div(Form::in_place, self, other); },
      [&](Recorder& r) { return div_formula(r, self, other); });
}
Tensor div(const Tensor& self, const Scalar& other) {
  return differentiable(
      "div", "DivBackward0", {self}, [&] { return ops::div(Form::fresh, self, other); },
      [&](Recorder&) { return div_formula(other); });
}
const Tensor& div_(const Tensor& self, const Scalar& other) {
  return differentiable_(
      "div_", "DivBackward0", self, {self}, [&] { ops::div(Form::in_place, self, other); },
      [&](Recorder&) { return div_formula(other); });
}

namespace {

/// The quotient with a rounding mode; Other is Tensor or Scalar.
template <typename Other>
Tensor rounded_div(const char* name, const Tensor& self, const Other& other,
                   std::string_view mode) {
  auto forward = [&] { return ops::div(Form::fresh, self, other, mode); };
  auto formula = [](Recorder&) { return zeros_formula(); };
  if constexpr (std::is_same_v<Other, Tensor>) {
    return differentiable(name, "DivBackward1", {self, other}, forward, formula);
  } else {
    return differentiable(name, "DivBackward1", {self}, forward, formula);
  }
}
template <typename Other>
const Tensor& rounded_div_(const char* name, const Tensor& self, const Other& other,
                           std::string_view mode) {
  auto forward = [&] { ops::div(Form::in_place, self, other, mode); };
  auto formula = [](Recorder&) { return zeros_formula(); };
  if constexpr (std::is_same_v<Other, Tensor>) {
    return differentiable_(name, "DivBackward1", self, {self, other}, forward, formula);
  } else {
    return differentiable_(name, "DivBackward1", self, {self}, forward, formula);
  }
}

}  // namespace

Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return rounding_mode ? rounded_div("div", self, other, *rounding_mode) : div(self, other);
}
const Tensor& div_(const Tensor& self, const Tensor& other,
                   std::optional<std::string_view> rounding_mode) {
  return rounding_mode ? rounded_div_("div_", self, other, *rounding_mode) : div_(self, other);
}
Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return rounding_mode ? rounded_div("div", self, other, *rounding_mode) : div(self, other);
}
const Tensor& div_(const Tensor& self, const Scalar& other,
                   std::optional<std::string_view> rounding_mode) {
  return rounding_mode ? rounded_div_("div_", self, other, *rounding_mode) : div_(self, other);
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
  return rounded_div("floor_divide", self, other, "floor");
}
const Tensor& floor_divide_(const Tensor& self, const Tensor& other) {
  return rounded_div_("floor_divide_", self, other, "floor");
}
Tensor floor_divide(const Tensor& self, const Scalar& other) {
  return rounded_div("floor_divide", self, other, "floor");
}
const Tensor& floor_divide_(const Tensor& self, const Scalar& other) {
  return rounded_div_("floor_divide_", self, other, "floor");
}
Tensor div_trunc(const Tensor& self, const Tensor& other) {
  return rounded_div("div_trunc", self, other, "trunc");
}
const Tensor& div_trunc_(const Tensor& self, const Tensor& other) {
  return rounded_div_("div_trunc_", self, other, "trunc");
}

// --- pow ---

Tensor pow(const Tensor& self, const Tensor& exponent) {
  if (const AutocastCall cast(autocast_of("pow"), {self, exponent}); cast) {
    return pow(cast[0], cast[1]);
  }
  return differentiable(
      "pow", "PowBackward1", {self, exponent},
      [&] { return ops::pow(Form::fresh, self, exponent); },
      [&](Recorder& r) { return pow_formula(r, self, exponent); });
}
const Tensor& pow_(const Tensor& self, const Tensor& exponent) {
  return differentiable_(
      "pow_", "PowBackward1", self, {self, exponent},
      [&] { ops::pow(Form::in_place, self, exponent); },
      [&](Recorder& r) { return pow_formula(r, self, exponent); });
}
Tensor pow(const Tensor& self, const Scalar& exponent) {
  if (const AutocastCall cast(autocast_of("pow"), {self}); cast) return pow(cast[0], exponent);
  return differentiable(
      "pow", "PowBackward0", {self}, [&] { return ops::pow(Form::fresh, self, exponent); },
      [&](Recorder& r) { return pow_formula(r, self, exponent); });
}
const Tensor& pow_(const Tensor& self, const Scalar& exponent) {
  return differentiable_(
      "pow_", "PowBackward0", self, {self}, [&] { ops::pow(Form::in_place, self, exponent); },
      [&](Recorder& r) { return pow_formula(r, self, exponent); });
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  if (const AutocastCall cast(autocast_of("pow"), {exponent}); cast) return pow(self, cast[0]);
  return differentiable(
      "pow", "PowBackward2", {exponent}, [&] { return ops::pow(Form::fresh, self, exponent); },
      [&](Recorder& r) {
        r.keep_result();
        const bool of_zero = self.equal(0);
        return [self, exponent = r.save_if(of_zero, exponent)](Backward& b) {
          const Tensor slope = b.grad() * (b.result() * std::log(self.toDouble()));
          b.set(0, exponent.defined() ? slope.masked_fill(b.get(exponent) >= 0, 0) : slope);
        };
      });
}

// --- of three ---

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return differentiable(
      "addcmul", "AddcmulBackward0", {self, tensor1, tensor2},
      [&] {
        return ops::elementwise(ElementwiseOp::Addcmul, {self, tensor1, tensor2}, &value);
      },
      [&](Recorder& r) { return addcmul_formula(r, tensor1, tensor2, value); });
}
const Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                       const Scalar& value) {
  return differentiable_(
      "addcmul_", "AddcmulBackward0", self, {self, tensor1, tensor2},
      [&] {
        ops::elementwise_(ElementwiseOp::Addcmul, self, {self, tensor1, tensor2}, &value);
      },
      [&](Recorder& r) { return addcmul_formula(r, tensor1, tensor2, value); });
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return differentiable(
      "addcdiv", "AddcdivBackward0", {self, tensor1, tensor2},
      [&] { return ops::addcdiv(Form::fresh, self, tensor1, tensor2, value); },
      [&](Recorder& r) { return addcdiv_formula(r, tensor1, tensor2, value); });
}
const Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                       const Scalar& value) {
  return differentiable_(
      "addcdiv_", "AddcdivBackward0", self, {self, tensor1, tensor2},
      [&] { ops::addcdiv(Form::in_place, self, tensor1, tensor2, value); },
      [&](Recorder& r) { return addcdiv_formula(r, tensor1, tensor2, value); });
}

Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  return differentiable(
      "lerp", "LerpBackward0", {self, end},
      [&] { return ops::lerp(Form::fresh, self, end, weight); },
      [&](Recorder&) { return lerp_formula(weight); });
}
const Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight) {
  return differentiable_(
      "lerp_", "LerpBackward0", self, {self, end},
      [&] { ops::lerp(Form::in_place, self, end, weight); },
      [&](Recorder&) { return lerp_formula(weight); });
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return differentiable(
      "lerp", "LerpBackward1", {self, end, weight},
      [&] { return ops::lerp(Form::fresh, self, end, weight); },
      [&](Recorder& r) { return lerp_formula(r, self, end, weight); });
}
const Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return differentiable_(
      "lerp_", "LerpBackward1", self, {self, end, weight},
      [&] { ops::lerp(Form::in_place, self, end, weight); },
      [&](Recorder& r) { return lerp_formula(r, self, end, weight); });
}

}  // namespace ebb
