#include "lesson.h"

// Gradient accumulation: the activations of a part of the batch, the gradients of all of it.

int main() {
  constexpr int64_t kBatch = 512, kPart = 128, kIn = 64, kHidden = 256;
  const auto weight = lesson::bytes({kHidden, kIn});
  const ebb::Tensor w = ebb::randn({kHidden, kIn}).requires_grad_();
  const ebb::Tensor x = ebb::randn({kBatch, kIn});
  // A sum, so that the parts' gradients add up as they are: a mean is multiplied by part.weight().
  const auto loss = [&](const ebb::Tensor& rows) { return ebb::linear(rows, w).sin().sum(); };
  // What linear gave, which sin keeps; in backward its cosine, and that times the gradient, beside
  // the loss and the gradient of the sum.
  const auto peak = [&](int64_t rows) {
    return 3 * lesson::bytes({rows, kHidden}) + 2 * lesson::bytes({1});
  };

  const auto whole = ebb::testing::measure([&] { loss(x).backward(); });
  lesson::equal("peak of the whole batch", peak(kBatch), whole.peak_bytes);
  const ebb::Tensor exact = w.grad().clone();
  w.mutable_grad().reset();

  const auto parts = ebb::testing::measure([&] {
    for (const auto& part : ebb::accumulate_to(kBatch, kPart)) loss(part.of(x)).backward();
  });
  lesson::equal("four parts leave one gradient", weight, parts.net_bytes);
  lesson::equal("peak of four parts, which have the gradient beside", peak(kPart) + weight,
                parts.peak_bytes);
  return ebb::allclose(w.grad(), exact, 1e-4, 1e-4) ? 0 : 1;
}
