#include "lesson.h"

// Without gradients an op keeps nothing for backward: what is left is what you hold.

int main() {
  constexpr int64_t kRows = 256, kWidth = 128;
  const auto one = lesson::bytes({kRows, kWidth});
  ebb::nn::Sequential net;
  for (int i = 0; i < 4; ++i) {
    net->push_back(ebb::nn::Linear(kWidth, kWidth));
    net->push_back(ebb::nn::Tanh());
  }
  const ebb::Tensor x = ebb::randn({kRows, kWidth});

  ebb::Tensor y;
  const auto recorded = ebb::testing::measure([&] { y = net->forward(x); });
  lesson::equal("recorded: each tanh's result", 4 * one, recorded.net_bytes);
  y.reset();
  const auto evaluated = ebb::testing::measure([&] {
    const ebb::NoGradGuard no_grad;
    y = net->forward(x);
  });
  lesson::equal("under NoGradGuard: the output", one, evaluated.net_bytes);
  lesson::equal("and at the peak two activations", 2 * one, evaluated.peak_bytes);
  lesson::say("eval() is something else: it changes what dropout and batch norm do, not what is kept.");
}
