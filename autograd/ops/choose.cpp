#include <ebb/autograd/ops/elementwise.h>

// Ops that choose one of several elements: the gradient goes where the element came from.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;
using ops::Form;

namespace {

/// grad where the input is chosen, half of it where both are equal.
Tensor share_of(const Tensor& grad, const Tensor& chosen, const Tensor& other, bool largest) {
  const Tensor lost = largest ? chosen < other : chosen > other;
  return where(chosen == other, grad / 2, grad).masked_fill(lost, 0);
}

auto extremum_formula(Recorder& r, const Tensor& self, const Tensor& other, bool largest) {
  return [largest, self = r.save(self), other = r.save(other)](Backward& b) {
    const Tensor x = b.get(self);
    const Tensor y = b.get(other);
    if (b.needs(0)) b.set(0, share_of(b.grad(), x, y, largest));
    if (b.needs(1)) b.set(1, share_of(b.grad(), y, x, largest));
  };
}

/// As extremum, but a number wins over NaN; where both are equal the first is chosen.
auto number_formula(Recorder& r, const Tensor& self, const Tensor& other, bool largest) {
  return [largest, self = r.save(self), other = r.save(other)](Backward& b) {
    const Tensor x = b.get(self);
    const Tensor y = b.get(other);
    const Tensor first = logical_or(largest ? x >= y : x <= y, y.isnan());
    if (b.needs(0)) b.set(0, where(first, b.grad(), Scalar(0)));
    if (b.needs(1)) b.set(1, b.grad().masked_fill(first, 0));
  };
}

auto clamp_formula(Recorder& r, const Tensor& self, const std::optional<Scalar>& min,
                   const std::optional<Scalar>& max) {
  return [min, max, self = r.save(self)](Backward& b) {
    const Tensor x = b.get(self);
    if (min && max) {
      b.set(0, where(logical_and(x >= *min, x <= *max), b.grad(), Scalar(0)));
    } else {
      b.set(0, where(min ? x >= *min : x <= *max, b.grad(), Scalar(0)));
    }
  };
}

/// Inputs: self, min, max. The upper bound is applied last, so it wins where they cross.
auto clamp_formula(Recorder& r, const Tensor& self, const Tensor& min, const Tensor& max) {
  return [self = r.save(self), min = r.save(min), max = r.save(max)](Backward& b) {
    const Tensor x = b.get(self), low = b.get(min), high = b.get(max);
    const Scalar none(0);
    const Tensor& grad = b.grad();
    if (b.needs(0)) b.set(0, where(logical_and(x >= low, x <= high), grad, none));
    if (b.needs(1)) b.set(1, where(logical_and(x < low, low < high), grad, none));
    if (b.needs(2)) b.set(2, where(logical_or(x > high, high < low), grad, none));
  };
}

/// Whether a bound is there: an undefined tensor stands for none, too.
bool given(const std::optional<Tensor>& bound) { return bound && bound->defined(); }

auto masked_fill_formula(Recorder& r, const Tensor& mask) {
  return [mask = r.save(mask)](Backward& b) {
    const Tensor filled = b.get(mask);
    if (b.needs(0)) b.set(0, b.grad().masked_fill(filled, 0));
    if (b.needs(1)) b.set(1, where(filled, b.grad(), Scalar(0)));
  };
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  return differentiable(
      "maximum", "MaximumBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Maximum, {self, other});
      },
      [&](Recorder& r) { return extremum_formula(r, self, other, true); });
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  return differentiable(
      "minimum", "MinimumBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Minimum, {self, other});
      },
      [&](Recorder& r) { return extremum_formula(r, self, other, false); });
}

Tensor fmax(const Tensor& self, const Tensor& other) {
  return differentiable(
      "fmax", "FmaxBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Fmax, {self, other});
      },
      [&](Recorder& r) { return number_formula(r, self, other, true); });
}
Tensor fmin(const Tensor& self, const Tensor& other) {
  return differentiable(
      "fmin", "FminBackward0", {self, other},
      [&] {
        return ops::elementwise(ElementwiseOp::Fmin, {self, other});
      },
      [&](Recorder& r) { return number_formula(r, self, other, false); });
}

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min,
             const std::optional<Scalar>& max) {
  return differentiable(
      "clamp", "ClampBackward1", {self}, [&] { return ops::clamp(Form::fresh, self, min, max); },
      [&](Recorder& r) { return clamp_formula(r, self, min, max); });
}
const Tensor& clamp_(const Tensor& self, const std::optional<Scalar>& min,
                     const std::optional<Scalar>& max) {
  return differentiable_(
      "clamp_", "ClampBackward1", self, {self}, [&] { ops::clamp(Form::in_place, self, min, max); },
      [&](Recorder& r) { return clamp_formula(r, self, min, max); });
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  const OpName name("clamp_min");
  return clamp(self, min, std::nullopt);
}
const Tensor& clamp_min_(const Tensor& self, const Scalar& min) {
  const OpName name("clamp_min_");
  return clamp_(self, min, std::nullopt);
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  const OpName name("clamp_max");
  return clamp(self, std::optional<Scalar>(), max);
}
const Tensor& clamp_max_(const Tensor& self, const Scalar& max) {
  const OpName name("clamp_max_");
  return clamp_(self, std::optional<Scalar>(), max);
}

Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
             const std::optional<Tensor>& max) {
  const OpName name("clamp");
  EBB_CHECK(given(min) || given(max), "at least one of min and max must not be absent");
  if (!given(max)) return maximum(self, *min);
  if (!given(min)) return minimum(self, *max);
  return differentiable(
      "clamp", "ClampBackward0", {self, *min, *max},
      [&] {
        return ops::elementwise(ElementwiseOp::ClampTensor, {self, *min, *max});
      },
      [&](Recorder& r) { return clamp_formula(r, self, *min, *max); });
}
const Tensor& clamp_(const Tensor& self, const std::optional<Tensor>& min,
                     const std::optional<Tensor>& max) {
  const OpName name("clamp_");
  EBB_CHECK(given(min) || given(max), "at least one of min and max must not be absent");
  if (given(min) && given(max)) {
    return differentiable_(
        "clamp_", "ClampBackward0", self, {self, *min, *max},
        [&] {
          ops::elementwise_(ElementwiseOp::ClampTensor, self, {self, *min, *max});
        },
        [&](Recorder& r) { return clamp_formula(r, self, *min, *max); });
  }
  const bool largest = given(min);
  const Tensor& bound = largest ? *min : *max;
  const ElementwiseOp op = largest ? ElementwiseOp::Maximum : ElementwiseOp::Minimum;
  return differentiable_(
      "clamp_", "ClampBackward0", self, {self, bound},
      [&] {
        ops::elementwise_(op, self, {self, bound});
      },
      [&](Recorder& r) { return extremum_formula(r, self, bound, largest); });
}

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return differentiable(
      "where", "WhereBackward0", {self, other}, [&] { return ops::where(condition, self, other); },
      [&](Recorder& r) {
        return [condition = r.save(condition)](Backward& b) {
          const Tensor chosen = b.get(condition);
          if (b.needs(0)) b.set(0, where(chosen, b.grad(), Scalar(0)));
          if (b.needs(1)) b.set(1, where(chosen, Scalar(0), b.grad()));
        };
      });
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return differentiable(
      "where", "WhereBackward0", {other}, [&] { return ops::where(condition, self, other); },
      [&](Recorder& r) {
        return [condition = r.save(condition)](Backward& b) {
          b.set(0, where(b.get(condition), Scalar(0), b.grad()));
        };
      });
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return differentiable(
      "where", "WhereBackward0", {self}, [&] { return ops::where(condition, self, other); },
      [&](Recorder& r) {
        return [condition = r.save(condition)](Backward& b) {
          b.set(0, where(b.get(condition), b.grad(), Scalar(0)));
        };
      });
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return differentiable(
      "masked_fill", "MaskedFillBackward0", {self},
      [&] { return ops::masked_fill(Form::fresh, self, mask, value); },
      [&](Recorder& r) {
        return
            [mask = r.save(mask)](Backward& b) { b.set(0, b.grad().masked_fill(b.get(mask), 0)); };
      });
}
const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return differentiable_(
      "masked_fill_", "MaskedFillBackward0", self, {self},
      [&] { ops::masked_fill(Form::in_place, self, mask, value); },
      [&](Recorder& r) {
        return
            [mask = r.save(mask)](Backward& b) { b.set(0, b.grad().masked_fill(b.get(mask), 0)); };
      });
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return differentiable(
      "masked_fill", "MaskedFillBackward1", {self, value},
      [&] { return ops::masked_fill(Form::fresh, self, mask, value); },
      [&](Recorder& r) { return masked_fill_formula(r, mask); });
}
const Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return differentiable_(
      "masked_fill_", "MaskedFillBackward1", self, {self, value},
      [&] { ops::masked_fill(Form::in_place, self, mask, value); },
      [&](Recorder& r) { return masked_fill_formula(r, mask); });
}

}  // namespace ebb
