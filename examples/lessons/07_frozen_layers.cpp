#include "lesson.h"

// Parameters that are not trained need no gradient, no optimizer state, and no inputs kept for
// them.

int main() {
  constexpr int64_t kBatch = 512, kWidth = 128, kLayers = 4;
  const auto activation = lesson::bytes({kBatch, kWidth});
  const auto weight = lesson::bytes({kWidth, kWidth});
  ebb::nn::Sequential body;
  for (int64_t i = 0; i < kLayers; ++i) {
    body->push_back(ebb::nn::Linear(ebb::nn::LinearOptions(kWidth, kWidth).bias(false)));
    body->push_back(ebb::nn::ReLU());
  }
  ebb::nn::Linear head(ebb::nn::LinearOptions(kWidth, kWidth).bias(false));
  const ebb::Tensor x = ebb::randn({kBatch, kWidth});

  ebb::Tensor y;
  const auto forward = [&] { y = head(body->forward(x)); };
  lesson::equal("all trained: each relu's result, and the output", (kLayers + 1) * activation,
                ebb::testing::measure(forward).net_bytes);
  lesson::equal("backward: a gradient for each weight",
                (kLayers + 1) * weight - kLayers * activation,
                ebb::testing::measure([&] { y.sum().backward(); }).net_bytes);
  y.reset();
  body->zero_grad();
  head->zero_grad();

  for (ebb::Tensor& parameter : body->parameters()) parameter.set_requires_grad(false);
  lesson::equal("frozen body: the head's input, and the output", 2 * activation,
                ebb::testing::measure(forward).net_bytes);
  lesson::equal("backward: one gradient", weight - activation,
                ebb::testing::measure([&] { y.sum().backward(); }).net_bytes);
  lesson::say("Freeze from the input on: backward stops where nobody wants a gradient.");
}
