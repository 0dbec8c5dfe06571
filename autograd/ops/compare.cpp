#include <ebb/autograd/ops/elementwise.h>

// Comparisons: results are bool and have no gradient. In place the result is written as 0 and 1,
// and what was there before gets the gradient zero.

namespace ebb {

using autograd::differentiable_;
using autograd::not_differentiable;
using autograd::Recorder;
using autograd::zero_formula;
using ops::Form;

namespace {

struct Comparison {
  const char* name;
  const char* in_place_name;
  const char* node_name;
  ElementwiseOp functor;
};

constexpr Comparison kEq = {"eq", "eq_", "EqBackward0", ElementwiseOp::Eq};
constexpr Comparison kNe = {"ne", "ne_", "NeBackward0", ElementwiseOp::Ne};
constexpr Comparison kLt = {"lt", "lt_", "LtBackward0", ElementwiseOp::Lt};
constexpr Comparison kLe = {"le", "le_", "LeBackward0", ElementwiseOp::Le};
constexpr Comparison kGt = {"gt", "gt_", "GtBackward0", ElementwiseOp::Gt};
constexpr Comparison kGe = {"ge", "ge_", "GeBackward0", ElementwiseOp::Ge};
constexpr Comparison kAnd = {"logical_and", "logical_and_", "LogicalAndBackward0",
                             ElementwiseOp::LogicalAnd};
constexpr Comparison kOr = {"logical_or", "logical_or_", "LogicalOrBackward0",
                            ElementwiseOp::LogicalOr};
constexpr Comparison kXor = {"logical_xor", "logical_xor_", "LogicalXorBackward0",
                             ElementwiseOp::LogicalXor};

Tensor compare(const Comparison& op, const Tensor& self, const ops::Argument& other) {
  return not_differentiable(op.name, [&] { return ops::elementwise(op.functor, {self, other}); });
}
const Tensor& compare_(const Comparison& op, const Tensor& self, const ops::Argument& other) {
  return differentiable_(
      op.in_place_name, op.node_name, self, {self},
      [&] {
        ops::elementwise_(op.functor, self, {self, other});
      },
      [&](Recorder& r) { return zero_formula(r, self); });
}

Tensor bitwise(const char* name, ElementwiseOp functor, const Tensor& self,
               const ops::Argument& other) {
  return not_differentiable(name, [&] { return ops::bitwise(functor, Form::fresh, self, other); });
}
const Tensor& bitwise_(const char* name, ElementwiseOp functor, const Tensor& self,
                       const ops::Argument& other) {
  return differentiable_(
      name, "BitwiseBackward0", self, {self},
      [&] { ops::bitwise(functor, Form::in_place, self, other); },
      [&](Recorder& r) { return zero_formula(r, self); });
}

}  // namespace

Tensor eq(const Tensor& self, const Tensor& other) { return compare(kEq, self, other); }
const Tensor& eq_(const Tensor& self, const Tensor& other) { return compare_(kEq, self, other); }
Tensor eq(const Tensor& self, const Scalar& other) { return compare(kEq, self, other); }
const Tensor& eq_(const Tensor& self, const Scalar& other) { return compare_(kEq, self, other); }

Tensor ne(const Tensor& self, const Tensor& other) { return compare(kNe, self, other); }
const Tensor& ne_(const Tensor& self, const Tensor& other) { return compare_(kNe, self, other); }
Tensor ne(const Tensor& self, const Scalar& other) { return compare(kNe, self, other); }
const Tensor& ne_(const Tensor& self, const Scalar& other) { return compare_(kNe, self, other); }

Tensor lt(const Tensor& self, const Tensor& other) { return compare(kLt, self, other); }
const Tensor& lt_(const Tensor& self, const Tensor& other) { return compare_(kLt, self, other); }
Tensor lt(const Tensor& self, const Scalar& other) { return compare(kLt, self, other); }
const Tensor& lt_(const Tensor& self, const Scalar& other) { return compare_(kLt, self, other); }

Tensor le(const Tensor& self, const Tensor& other) { return compare(kLe, self, other); }
const Tensor& le_(const Tensor& self, const Tensor& other) { return compare_(kLe, self, other); }
Tensor le(const Tensor& self, const Scalar& other) { return compare(kLe, self, other); }
const Tensor& le_(const Tensor& self, const Scalar& other) { return compare_(kLe, self, other); }

Tensor gt(const Tensor& self, const Tensor& other) { return compare(kGt, self, other); }
const Tensor& gt_(const Tensor& self, const Tensor& other) { return compare_(kGt, self, other); }
Tensor gt(const Tensor& self, const Scalar& other) { return compare(kGt, self, other); }
const Tensor& gt_(const Tensor& self, const Scalar& other) { return compare_(kGt, self, other); }

Tensor ge(const Tensor& self, const Tensor& other) { return compare(kGe, self, other); }
const Tensor& ge_(const Tensor& self, const Tensor& other) { return compare_(kGe, self, other); }
Tensor ge(const Tensor& self, const Scalar& other) { return compare(kGe, self, other); }
const Tensor& ge_(const Tensor& self, const Scalar& other) { return compare_(kGe, self, other); }

Tensor logical_and(const Tensor& self, const Tensor& other) { return compare(kAnd, self, other); }
const Tensor& logical_and_(const Tensor& self, const Tensor& other) {
  return compare_(kAnd, self, other);
}
Tensor logical_or(const Tensor& self, const Tensor& other) { return compare(kOr, self, other); }
const Tensor& logical_or_(const Tensor& self, const Tensor& other) {
  return compare_(kOr, self, other);
}
Tensor logical_xor(const Tensor& self, const Tensor& other) { return compare(kXor, self, other); }
const Tensor& logical_xor_(const Tensor& self, const Tensor& other) {
  return compare_(kXor, self, other);
}

Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_and", ElementwiseOp::BitwiseAnd, self, other);
}
const Tensor& bitwise_and_(const Tensor& self, const Tensor& other) {
  return bitwise_("bitwise_and_", ElementwiseOp::BitwiseAnd, self, other);
}
Tensor bitwise_and(const Tensor& self, const Scalar& other) {
  return bitwise("bitwise_and", ElementwiseOp::BitwiseAnd, self, other);
}
const Tensor& bitwise_and_(const Tensor& self, const Scalar& other) {
  return bitwise_("bitwise_and_", ElementwiseOp::BitwiseAnd, self, other);
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_or", ElementwiseOp::BitwiseOr, self, other);
}
const Tensor& bitwise_or_(const Tensor& self, const Tensor& other) {
  return bitwise_("bitwise_or_", ElementwiseOp::BitwiseOr, self, other);
}
Tensor bitwise_or(const Tensor& self, const Scalar& other) {
  return bitwise("bitwise_or", ElementwiseOp::BitwiseOr, self, other);
}
const Tensor& bitwise_or_(const Tensor& self, const Scalar& other) {
  return bitwise_("bitwise_or_", ElementwiseOp::BitwiseOr, self, other);
}
Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_xor", ElementwiseOp::BitwiseXor, self, other);
}
const Tensor& bitwise_xor_(const Tensor& self, const Tensor& other) {
  return bitwise_("bitwise_xor_", ElementwiseOp::BitwiseXor, self, other);
}
Tensor bitwise_xor(const Tensor& self, const Scalar& other) {
  return bitwise("bitwise_xor", ElementwiseOp::BitwiseXor, self, other);
}
const Tensor& bitwise_xor_(const Tensor& self, const Scalar& other) {
  return bitwise_("bitwise_xor_", ElementwiseOp::BitwiseXor, self, other);
}

bool equal(const Tensor& self, const Tensor& other) {
  const OpName name("equal");
  if (self.sizes() != other.sizes()) return false;
  EBB_CHECK(self.scalar_type() == other.scalar_type(), "expected tensors of one dtype, got ",
            self.scalar_type(), " and ", other.scalar_type());
  return all(eq(self, other)).item<bool>();
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const OpName name("isclose");
  EBB_CHECK(self.scalar_type() == other.scalar_type(), "expected tensors of one dtype, got ",
            self.scalar_type(), " and ", other.scalar_type());
  EBB_CHECK(rtol >= 0 && atol >= 0, "rtol and atol must not be negative, got ", rtol, " and ",
            atol);
  const Tensor a = self.detach();
  const Tensor b = other.detach();
  Tensor close = a == b;
  if (equal_nan && a.is_floating_point())
    close = logical_or(close, logical_and(isnan(a), isnan(b)));
  if (rtol == 0 && atol == 0) return close;
  // In the default dtype for integers; infinite differences are never close, whatever the bound.
  const Tensor difference = (a.is_floating_point() ? a - b : a.to(kDouble) - b.to(kDouble)).abs();
  const Tensor bound = b.abs() * rtol + atol;
  return logical_or(close, logical_and(isfinite(difference), difference <= bound));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const OpName name("allclose");
  return all(isclose(self, other, rtol, atol, equal_nan)).item<bool>();
}

}  // namespace ebb
