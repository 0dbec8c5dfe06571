#include <numbers>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/elementwise.h>

// Arithmetic of one tensor. A formula that keeps the result reads as f'(x) in terms of f(x).

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastInput;
using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::ElementwiseNames;
using autograd::not_differentiable;
using autograd::Recorder;
using autograd::unary;
using autograd::unary_;
using autograd::zero_formula;

namespace {

/// A formula grad * slope(self).
template <typename Slope>
constexpr auto from_self(Slope slope) {
  return [slope](Recorder& r, const Tensor& self) {
    return [slope, self = r.save(self)](Backward& b) { b.set(0, slope(b.grad(), b.get(self))); };
  };
}

/// A formula grad * slope(result).
template <typename Slope>
constexpr auto from_result(Slope slope) {
  return [slope](Recorder& r, const Tensor&) {
    r.keep_result();
    return [slope](Backward& b) { b.set(0, slope(b.grad(), b.result())); };
  };
}

constexpr auto abs_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad * self.sign(); });
constexpr auto exp_formula =
    from_result([](const Tensor& grad, const Tensor& result) { return grad * result; });
constexpr auto expm1_formula =
    from_result([](const Tensor& grad, const Tensor& result) { return grad * (result + 1); });
constexpr auto log_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad / self; });
constexpr auto log2_formula = from_self(
    [](const Tensor& grad, const Tensor& self) { return grad / (self * std::numbers::ln2); });
constexpr auto log10_formula = from_self(
    [](const Tensor& grad, const Tensor& self) { return grad / (self * std::numbers::ln10); });
constexpr auto log1p_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad / (self + 1); });
constexpr auto sqrt_formula =
    from_result([](const Tensor& grad, const Tensor& result) { return grad / (result * 2); });
constexpr auto rsqrt_formula = from_result(
    [](const Tensor& grad, const Tensor& result) { return grad * -0.5 * result.pow(3); });
constexpr auto square_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad * (self * 2); });
constexpr auto reciprocal_formula =
    from_result([](const Tensor& grad, const Tensor& result) { return -grad * (result * result); });
constexpr auto sin_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad * self.cos(); });
constexpr auto cos_formula =
    from_self([](const Tensor& grad, const Tensor& self) { return grad * -self.sin(); });
constexpr auto tan_formula = from_result(
    [](const Tensor& grad, const Tensor& result) { return grad * (result.square() + 1); });
// erf'(x) = 2 / sqrt(pi) exp(-x^2)
constexpr auto erf_formula = from_self([](const Tensor& grad, const Tensor& self) {
  return grad * ((-self.square()).exp() * (2 * std::numbers::inv_sqrtpi));
});

auto neg_formula(Recorder&, const Tensor&) {
  return [](Backward& b) { b.set(0, -b.grad()); };
}

constexpr ElementwiseNames kAbs = {"abs", "abs_", "AbsBackward0", ElementwiseOp::Abs};
constexpr ElementwiseNames kExp = {"exp", "exp_", "ExpBackward0", ElementwiseOp::Exp};
constexpr ElementwiseNames kExpm1 = {"expm1", "expm1_", "Expm1Backward0", ElementwiseOp::Expm1};
constexpr ElementwiseNames kLog = {"log", "log_", "LogBackward0", ElementwiseOp::Log};
constexpr ElementwiseNames kLog2 = {"log2", "log2_", "Log2Backward0", ElementwiseOp::Log2};
constexpr ElementwiseNames kLog10 = {"log10", "log10_", "Log10Backward0", ElementwiseOp::Log10};
constexpr ElementwiseNames kLog1p = {"log1p", "log1p_", "Log1PBackward0", ElementwiseOp::Log1p};
constexpr ElementwiseNames kSqrt = {"sqrt", "sqrt_", "SqrtBackward0", ElementwiseOp::Sqrt};
constexpr ElementwiseNames kRsqrt = {"rsqrt", "rsqrt_", "RsqrtBackward0", ElementwiseOp::Rsqrt};
constexpr ElementwiseNames kSquare = {"square", "square_", "PowBackward0", ElementwiseOp::Square};
constexpr ElementwiseNames kReciprocal = {"reciprocal", "reciprocal_", "ReciprocalBackward0",
                                          ElementwiseOp::Reciprocal};
constexpr ElementwiseNames kSin = {"sin", "sin_", "SinBackward0", ElementwiseOp::Sin};
constexpr ElementwiseNames kCos = {"cos", "cos_", "CosBackward0", ElementwiseOp::Cos};
constexpr ElementwiseNames kTan = {"tan", "tan_", "TanBackward0", ElementwiseOp::Tan};
constexpr ElementwiseNames kErf = {"erf", "erf_", "ErfBackward0", ElementwiseOp::Erf};
constexpr ElementwiseNames kFloor = {"floor", "floor_", "FloorBackward0", ElementwiseOp::Floor};
constexpr ElementwiseNames kCeil = {"ceil", "ceil_", "CeilBackward0", ElementwiseOp::Ceil};
constexpr ElementwiseNames kRound = {"round", "round_", "RoundBackward0", ElementwiseOp::Round};
constexpr ElementwiseNames kTrunc = {"trunc", "trunc_", "TruncBackward0", ElementwiseOp::Trunc};
constexpr ElementwiseNames kSign = {"sign", "sign_", "SignBackward0", ElementwiseOp::Sign};
constexpr ElementwiseNames kLogicalNot = {"logical_not", "logical_not_", "LogicalNotBackward0",
                                          ElementwiseOp::LogicalNot};

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

Tensor abs(const Tensor& self) { return unary(kAbs, self, abs_formula); }
const Tensor& abs_(const Tensor& self) { return unary_(kAbs, self, abs_formula); }
Tensor exp(const Tensor& self) {
  return unary(kExp, AutocastInput(autocast_of("exp"), self), exp_formula);
}
const Tensor& exp_(const Tensor& self) { return unary_(kExp, self, exp_formula); }
Tensor expm1(const Tensor& self) {
  return unary(kExpm1, AutocastInput(autocast_of("expm1"), self), expm1_formula);
}
const Tensor& expm1_(const Tensor& self) { return unary_(kExpm1, self, expm1_formula); }
Tensor log(const Tensor& self) {
  return unary(kLog, AutocastInput(autocast_of("log"), self), log_formula);
}
const Tensor& log_(const Tensor& self) { return unary_(kLog, self, log_formula); }
Tensor log2(const Tensor& self) {
  return unary(kLog2, AutocastInput(autocast_of("log2"), self), log2_formula);
}
const Tensor& log2_(const Tensor& self) { return unary_(kLog2, self, log2_formula); }
Tensor log10(const Tensor& self) {
  return unary(kLog10, AutocastInput(autocast_of("log10"), self), log10_formula);
}
const Tensor& log10_(const Tensor& self) { return unary_(kLog10, self, log10_formula); }
Tensor log1p(const Tensor& self) {
  return unary(kLog1p, AutocastInput(autocast_of("log1p"), self), log1p_formula);
}
const Tensor& log1p_(const Tensor& self) { return unary_(kLog1p, self, log1p_formula); }
Tensor sqrt(const Tensor& self) { return unary(kSqrt, self, sqrt_formula); }
const Tensor& sqrt_(const Tensor& self) { return unary_(kSqrt, self, sqrt_formula); }
Tensor rsqrt(const Tensor& self) {
  return unary(kRsqrt, AutocastInput(autocast_of("rsqrt"), self), rsqrt_formula);
}
const Tensor& rsqrt_(const Tensor& self) { return unary_(kRsqrt, self, rsqrt_formula); }
Tensor square(const Tensor& self) { return unary(kSquare, self, square_formula); }
const Tensor& square_(const Tensor& self) { return unary_(kSquare, self, square_formula); }
Tensor reciprocal(const Tensor& self) {
  return unary(kReciprocal, AutocastInput(autocast_of("reciprocal"), self), reciprocal_formula);
}
const Tensor& reciprocal_(const Tensor& self) {
  return unary_(kReciprocal, self, reciprocal_formula);
}
Tensor sin(const Tensor& self) { return unary(kSin, self, sin_formula); }
const Tensor& sin_(const Tensor& self) { return unary_(kSin, self, sin_formula); }
Tensor cos(const Tensor& self) { return unary(kCos, self, cos_formula); }
const Tensor& cos_(const Tensor& self) { return unary_(kCos, self, cos_formula); }
Tensor tan(const Tensor& self) {
  return unary(kTan, AutocastInput(autocast_of("tan"), self), tan_formula);
}
const Tensor& tan_(const Tensor& self) { return unary_(kTan, self, tan_formula); }
Tensor erf(const Tensor& self) { return unary(kErf, self, erf_formula); }
const Tensor& erf_(const Tensor& self) { return unary_(kErf, self, erf_formula); }

// Constant between jumps.

Tensor floor(const Tensor& self) { return unary(kFloor, self, zero_formula); }
const Tensor& floor_(const Tensor& self) { return unary_(kFloor, self, zero_formula); }
Tensor ceil(const Tensor& self) { return unary(kCeil, self, zero_formula); }
const Tensor& ceil_(const Tensor& self) { return unary_(kCeil, self, zero_formula); }
Tensor round(const Tensor& self) { return unary(kRound, self, zero_formula); }
const Tensor& round_(const Tensor& self) { return unary_(kRound, self, zero_formula); }
Tensor trunc(const Tensor& self) { return unary(kTrunc, self, zero_formula); }
const Tensor& trunc_(const Tensor& self) { return unary_(kTrunc, self, zero_formula); }
Tensor sign(const Tensor& self) { return unary(kSign, self, zero_formula); }
const Tensor& sign_(const Tensor& self) { return unary_(kSign, self, zero_formula); }
Tensor logical_not(const Tensor& self) {
  return not_differentiable("logical_not",
                            [&] { return ops::elementwise(ElementwiseOp::LogicalNot, {self}); });
}
const Tensor& logical_not_(const Tensor& self) { return unary_(kLogicalNot, self, zero_formula); }

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
