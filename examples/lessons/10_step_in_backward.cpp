#include "lesson.h"

// step_in_backward: each parameter is updated, and its gradient freed, as soon as it is complete.

namespace {

/// What a step leaves and at most holds beside forward's activations.
ebb::testing::Measurement step(bool in_backward) {
  ebb::manual_seed(0);
  ebb::nn::Sequential net;
  for (int i = 0; i < 8; ++i) {
    net->push_back(ebb::nn::Linear(ebb::nn::LinearOptions(512, 512).bias(false)));
  }
  ebb::optim::SGD optimizer(net->parameters(), ebb::optim::SGDOptions(0.01));
  const auto run = [&] {
    net->forward(ebb::ones({1, 512})).sum().backward();
    optimizer.step();
  };
  if (!in_backward) return ebb::testing::measure(run);
  const auto handle = ebb::optim::step_in_backward(optimizer);
  return ebb::testing::measure(run);
}

}  // namespace

int main() {
  const auto weight = lesson::bytes({512, 512});
  const auto after = step(false);
  const auto inside = step(true);
  lesson::equal("a step after backward leaves a gradient for each layer", 8 * weight,
                after.net_bytes);
  lesson::equal("a step in backward leaves none", 0, inside.net_bytes);
  std::cout << "peaks: " << after.peak_bytes << " and " << inside.peak_bytes << " bytes\n";
  // One gradient at a time, beside rows of 512 elements.
  if (inside.peak_bytes > 2 * weight) return 1;
  lesson::say("The price: nothing that needs all gradients at once, as clipping by their norm.");
}
