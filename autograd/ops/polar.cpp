#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/elementwise.h>

// The angle and the length of a point of the plane.

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;

namespace {

auto atan2_formula(Recorder& r, const Tensor& self, const Tensor& other) {
  return [self = r.save(self), other = r.save(other)](Backward& b) {
    const Tensor y = b.get(self);
    const Tensor x = b.get(other);
    const Tensor turned = b.grad() / (x.square() + y.square());
    if (b.needs(0)) b.set(0, turned * x);
    if (b.needs(1)) b.set(1, -turned * y);
  };
}

auto hypot_formula(Recorder& r, const Tensor& self, const Tensor& other) {
  r.keep_result();
  return [self = r.save_if(r.needs(0), self), other = r.save_if(r.needs(1), other)](Backward& b) {
    const Tensor scaled = b.grad() / b.result();
    if (b.needs(0)) b.set(0, scaled * b.get(self));
    if (b.needs(1)) b.set(1, scaled * b.get(other));
  };
}

}  // namespace

Tensor atan2(const Tensor& self, const Tensor& other) {
  if (const AutocastCall cast(autocast_of("atan2"), {self, other}); cast) {
    return atan2(cast[0], cast[1]);
  }
  return differentiable(
      "atan2", "Atan2Backward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Atan2, {self, other});
      },
      [&](Recorder& r) { return atan2_formula(r, self, other); });
}
const Tensor& atan2_(const Tensor& self, const Tensor& other) {
  return differentiable_(
      "atan2_", "Atan2Backward0", self, {self, other},
      [&] { ops::elementwise_(ElementwiseOp::Atan2, self, {self, other}); },
      [&](Recorder& r) { return atan2_formula(r, self, other); });
}

Tensor hypot(const Tensor& self, const Tensor& other) {
  return differentiable(
      "hypot", "HypotBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Hypot, {self, other});
      },
      [&](Recorder& r) { return hypot_formula(r, self, other); });
}
const Tensor& hypot_(const Tensor& self, const Tensor& other) {
  return differentiable_(
      "hypot_", "HypotBackward0", self, {self, other},
      [&] { ops::elementwise_(ElementwiseOp::Hypot, self, {self, other}); },
      [&](Recorder& r) { return hypot_formula(r, self, other); });
}

}  // namespace ebb
