#include <ebb/autograd/ops/elementwise.h>

// The rests of quotients: self minus the rounded quotient times other.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;
using ops::Form;

namespace {

/// One of the two ops, which differ in how the quotient is rounded.
struct Rest {
  const char* name;
  const char* in_place_name;
  const char* node_name;
  const char* rounding_mode;
  TensorBase (*run)(Form form, const ops::Argument& self, const ops::Argument& other);

  [[nodiscard]] auto formula(Recorder& r, const Tensor& self, const Tensor& other) const {
    return [mode = rounding_mode, self = r.save_if(r.needs(1), self),
            other = r.save_if(r.needs(1), other)](Backward& b) {
      if (b.needs(0)) b.set(0, b.grad());
      if (b.needs(1)) b.set(1, -b.grad() * div(b.get(self), b.get(other), mode));
    };
  }
  [[nodiscard]] static auto formula() {
    return [](Backward& b) { b.set(0, b.grad()); };
  }

  [[nodiscard]] Tensor fresh(const Tensor& self, const Tensor& other) const {
    return differentiable(
        name, node_name, {self, other}, [&] { return run(Form::fresh, self, other); },
        [&](Recorder& r) { return formula(r, self, other); });
  }
  [[nodiscard]] Tensor fresh(const Tensor& self, const Scalar& other) const {
    return differentiable(
        name, node_name, {self}, [&] { return run(Form::fresh, self, other); },
        [&](Recorder&) { return formula(); });
  }
  const Tensor& in_place(const Tensor& self, const Tensor& other) const {
    return differentiable_(
        in_place_name, node_name, self, {self, other}, [&] { run(Form::in_place, self, other); },
        [&](Recorder& r) { return formula(r, self, other); });
  }
  const Tensor& in_place(const Tensor& self, const Scalar& other) const {
    return differentiable_(
        in_place_name, node_name, self, {self}, [&] { run(Form::in_place, self, other); },
        [&](Recorder&) { return formula(); });
  }
};

constexpr Rest kRemainder = {"remainder", "remainder_", "RemainderBackward0", "floor",
                             &ops::remainder};
constexpr Rest kFmod = {"fmod", "fmod_", "FmodBackward0", "trunc", &ops::fmod};

}  // namespace

Tensor remainder(const Tensor& self, const Tensor& other) { return kRemainder.fresh(self, other); }
const Tensor& remainder_(const Tensor& self, const Tensor& other) {
  return kRemainder.in_place(self, other);
}
Tensor remainder(const Tensor& self, const Scalar& other) { return kRemainder.fresh(self, other); }
const Tensor& remainder_(const Tensor& self, const Scalar& other) {
  return kRemainder.in_place(self, other);
}

Tensor fmod(const Tensor& self, const Tensor& other) { return kFmod.fresh(self, other); }
const Tensor& fmod_(const Tensor& self, const Tensor& other) { return kFmod.in_place(self, other); }
Tensor fmod(const Tensor& self, const Scalar& other) { return kFmod.fresh(self, other); }
const Tensor& fmod_(const Tensor& self, const Scalar& other) { return kFmod.in_place(self, other); }

}  // namespace ebb
