#include "lesson.h"

// Forward keeps for backward what the gradients' formulas need, and nothing else.

int main() {
  const ebb::Tensor x = ebb::randn({256, 128}).requires_grad_();
  const auto one = lesson::bytes({256, 128});
  const auto kept = [&](auto&& op) {
    const int64_t start = lesson::allocated();
    const ebb::Tensor y = op();
    const int64_t result = lesson::bytes({y.numel()});
    return lesson::allocated() - start - result;  // beside the result, which the caller holds
  };
  lesson::equal("x + 1 keeps nothing", 0, kept([&] { return x + 1; }));
  lesson::equal("sum keeps nothing", 0, kept([&] { return x.sum(); }));
  lesson::equal("exp keeps its result, which is there anyway", 0, kept([&] { return x.exp(); }));
  lesson::equal("dropout keeps a seed, no mask", 0,
                kept([&] { return ebb::dropout(x, 0.5, true); }));
  lesson::equal("sin keeps its input, here a temporary", one, kept([&] { return (x + 1).sin(); }));

  // The gradient of a weight needs the input, that of the input needs the weight.
  ebb::nn::Linear layer(ebb::nn::LinearOptions(128, 64).bias(false));
  lesson::equal("a layer that trains keeps its input", one, kept([&] { return layer(x + 1); }));
  layer->weight.set_requires_grad(false);
  lesson::equal("frozen, it keeps its weight alone", 0, kept([&] { return layer(x + 1); }));

  const ebb::NoGradGuard no_grad;
  lesson::equal("without gradients nothing is kept", 0, kept([&] { return (x + 1).sin(); }));
  lesson::say("Ask of each op what its gradient needs: that lives until backward.");
}
