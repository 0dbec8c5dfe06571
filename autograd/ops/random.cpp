#include <ebb/autograd/record.h>
#include <ebb/core/ops/random.h>

// Random numbers. What a tensor held before it is filled with them gets the gradient zero.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::not_differentiable;
using autograd::Recorder;

namespace {

/// A fill in place with random numbers.
template <typename Forward>
Tensor& randomize(const char* name, const char* node_name, const Tensor& self, Forward&& forward) {
  differentiable_(name, node_name, self, {self}, forward,
                  [&](Recorder&) { return [](Backward& b) { b.set(0, zero(b.grad())); }; });
  return const_cast<Tensor&>(self);
}

/// Backward draws the mask anew from where the stream stood.
auto dropout_formula(double p, random::Reservation draw) {
  return [p, draw](Backward& b) {
    b.set(0, dropout_backward(b.grad(), p, static_cast<int64_t>(draw.seed),
                              static_cast<int64_t>(draw.offset)));
  };
}

void check_dropout(double p) {
  EBB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

}  // namespace

Tensor& Tensor::uniform_(double from, double to, const std::optional<Generator>& generator) const {
  return randomize("uniform_", "UniformBackward0", *this,
                   [&] { ops::uniform_(*this, from, to, generator); });
}

Tensor& Tensor::normal_(double mean, double std, const std::optional<Generator>& generator) const {
  return randomize("normal_", "NormalBackward0", *this,
                   [&] { ops::normal_(*this, mean, std, generator); });
}

Tensor& Tensor::bernoulli_(double p, const std::optional<Generator>& generator) const {
  return randomize("bernoulli_", "BernoulliBackward0", *this,
                   [&] { ops::bernoulli_(*this, p, generator); });
}

Tensor& Tensor::random_(int64_t from, std::optional<int64_t> to,
                        const std::optional<Generator>& generator) const {
  return randomize("random_", "RandomBackward0", *this, [&] {
    if (to) {
      ops::random_(*this, from, *to, generator);
    } else {
      ops::random_from_(*this, from, generator);
    }
  });
}
Tensor& Tensor::random_(int64_t to, const std::optional<Generator>& generator) const {
  return random_(0, to, generator);
}
Tensor& Tensor::random_(const std::optional<Generator>& generator) const {
  return random_(0, std::nullopt, generator);
}

Tensor bernoulli(const Tensor& self, const std::optional<Generator>& generator) {
  return not_differentiable("bernoulli", [&] { return ops::bernoulli(self, generator); });
}

Tensor dropout(const Tensor& input, double p, bool train) {
  const OpName name("dropout");
  check_dropout(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  const random::Reservation draw = ops::reserve_dropout(input);
  return differentiable(
      "dropout", "DropoutBackward0", {input}, [&] { return ops::dropout(input, p, draw); },
      [&](Recorder&) { return dropout_formula(p, draw); });
}
const Tensor& dropout_(const Tensor& input, double p, bool train) {
  const OpName name("dropout_");
  check_dropout(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  const random::Reservation draw = ops::reserve_dropout(input);
  return differentiable_(
      "dropout_", "DropoutBackward0", input, {input}, [&] { ops::dropout_(input, p, draw); },
      [&](Recorder&) { return dropout_formula(p, draw); });
}

Tensor dropout_backward(const Tensor& grad_output, double p, int64_t seed, int64_t offset) {
  const random::Reservation draw{static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
  return differentiable(
      "dropout_backward", "DropoutBackwardBackward0", {grad_output},
      [&] { return ops::dropout(grad_output, p, draw); },
      [&](Recorder&) { return dropout_formula(p, draw); });
}

}  // namespace ebb
