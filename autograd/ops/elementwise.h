#pragma once

#include <ebb/autograd/record.h>
#include <ebb/core/ops/binary.h>
#include <ebb/core/ops/elementwise.h>

// How the elementwise ops are written down: the names of an op, and one function for the fresh form
// and the form in place of those that are a functor of one tensor.

namespace ebb::autograd {

/// The names of an op, and its functor.
struct ElementwiseNames {
  const char* name;
  const char* in_place_name;
  const char* node_name;
  ElementwiseOp functor;
};

/// The fresh form of an op of one tensor; `formula(recorder, self)`.
template <typename MakeFormula>
Tensor unary(const ElementwiseNames& op, const Tensor& self, MakeFormula&& formula) {
  return differentiable(
      op.name, op.node_name, {self}, [&] { return ops::elementwise(op.functor, {self}); },
      [&](Recorder& r) { return formula(r, self); });
}

/// The form in place.
template <typename MakeFormula>
const Tensor& unary_(const ElementwiseNames& op, const Tensor& self, MakeFormula&& formula) {
  return differentiable_(
      op.in_place_name, op.node_name, self, {self},
      [&] { ops::elementwise_(op.functor, self, {self}); },
      [&](Recorder& r) { return formula(r, self); });
}

/// The formula of an op whose gradient is zero everywhere.
inline auto zero_formula(Recorder&, const Tensor&) {
  return [](Backward& b) { b.set(0, ebb::zero(b.grad())); };
}

}  // namespace ebb::autograd
