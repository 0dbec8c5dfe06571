#include <ebb/autograd/record.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/fill.h>

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;

namespace {

/// What was there before gets the gradient zero; a tensor value gets all of it, which the engine
/// sums.
auto fill_formula() {
  return [](Backward& b) {
    if (b.needs(0)) b.set(0, zero(b.grad()));
    if (b.needs(1)) b.set(1, b.grad());
  };
}
auto zeros_formula() {
  return [](Backward& b) { b.set(0, zero(b.grad())); };
}

void check_value(const Tensor& value) {
  EBB_CHECK(value.dim() == 0, "only supports a value tensor without dimensions, got sizes ",
            value.sizes());
}

}  // namespace

Tensor fill(const Tensor& self, const Scalar& value) {
  return differentiable(
      "fill", "FillBackward0", {self}, [&] { return ops::filled_like(self, value); },
      [&](Recorder&) { return zeros_formula(); });
}
const Tensor& fill_(const Tensor& self, const Scalar& value) {
  return differentiable_(
      "fill_", "FillBackward0", self, {self}, [&] { ops::fill_(self, value); },
      [&](Recorder&) { return zeros_formula(); });
}

Tensor fill(const Tensor& self, const Tensor& value) {
  return differentiable(
      "fill", "FillBackward1", {self, value},
      [&] {
        check_value(value);
        return ops::filled_like(self, ops::item(value));
      },
      [&](Recorder&) { return fill_formula(); });
}
const Tensor& fill_(const Tensor& self, const Tensor& value) {
  return differentiable_(
      "fill_", "FillBackward1", self, {self, value},
      [&] {
        check_value(value);
        ops::copy_(self, value);
      },
      [&](Recorder&) { return fill_formula(); });
}

Tensor zero(const Tensor& self) {
  return differentiable(
      "zero", "ZeroBackward0", {self}, [&] { return ops::filled_like(self, 0); },
      [&](Recorder&) { return zeros_formula(); });
}
const Tensor& zero_(const Tensor& self) {
  return differentiable_(
      "zero_", "ZeroBackward0", self, {self}, [&] { ops::fill_(self, 0); },
      [&](Recorder&) { return zeros_formula(); });
}

}  // namespace ebb
