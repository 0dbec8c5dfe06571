#include "lesson.h"

// Under autocast what backward keeps is half as large, and each weight is cast once for all its
// uses; the casts go when the outermost guard ends.

int main() {
  constexpr int64_t kBatch = 512, kWidth = 128;
  ebb::nn::Sequential net(
      ebb::nn::Linear(ebb::nn::LinearOptions(kWidth, kWidth).bias(false)), ebb::nn::ReLU(),
      ebb::nn::Linear(ebb::nn::LinearOptions(kWidth, kWidth).bias(false)), ebb::nn::ReLU());
  const ebb::Tensor x = ebb::randn({kBatch, kWidth});
  const auto activation = lesson::bytes({kBatch, kWidth});
  const auto half_activation = lesson::bytes({kBatch, kWidth}, 2);
  const auto half_weight = lesson::bytes({kWidth, kWidth}, 2);

  const int64_t start = lesson::allocated();
  {
    const ebb::Tensor y = net->forward(x);
    lesson::equal("float32: what each relu gave", 2 * activation, lesson::allocated() - start);
  }
  ebb::Tensor y;
  {
    const ebb::amp::AutocastGuard guard(ebb::kCPU, ebb::kBFloat16);
    y = net->forward(x);
    lesson::equal("autocast: the cast input, two casts of weights, what each relu gave",
                  half_activation + 2 * half_weight + 2 * half_activation,
                  lesson::allocated() - start);
    const ebb::NoGradGuard no_grad;
    static_cast<void>(net->forward(x));
    lesson::equal("a second forward casts no weight again",
                  half_activation + 2 * half_weight + 2 * half_activation,
                  lesson::allocated() - start);
  }
  // Backward needs the cast of the second weight alone: the input wants no gradient.
  lesson::equal("after the guard: what backward needs",
                half_activation + half_weight + 2 * half_activation, lesson::allocated() - start);
  y.to(ebb::kFloat).sum().backward();
  y.reset();
  lesson::equal("after backward: gradients in float32", 2 * lesson::bytes({kWidth, kWidth}),
                lesson::allocated() - start);
  lesson::say("Autocast halves activations, not weights: those, their gradients and state stay.");
}
