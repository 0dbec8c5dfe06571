#include "lesson.h"

#include <cmath>

// Clipping gradients keeps a recurrent net from diverging. It does not save a byte: the gradients
// are scaled where they are.

int main() {
  constexpr int64_t kSteps = 32, kBatch = 16, kWidth = 64;
  ebb::nn::LSTM lstm(kWidth, kWidth);
  const ebb::Tensor x = ebb::randn({kSteps, kBatch, kWidth});
  std::get<0>(lstm->forward(x)).sum().backward();

  const auto gradients = 2 * lesson::bytes({4 * kWidth, kWidth}) + 2 * lesson::bytes({4 * kWidth});
  const int64_t before = lesson::allocated();
  int64_t of_gradients = 0;
  for (const auto& p : lstm->parameters()) {
    of_gradients += ebb::memory::rounded(static_cast<int64_t>(p.grad().nbytes()));
  }
  lesson::equal("gradients of an LSTM", gradients, of_gradients);

  double norm = 0;
  const auto clip = ebb::testing::measure(
      [&] { norm = ebb::nn::utils::clip_grad_norm_(lstm->parameters(), 1e-3); });
  lesson::equal("clip_grad_norm_ frees", 0, clip.net_bytes);
  lesson::equal("allocated before and after", before, lesson::allocated());
  double clipped = 0;
  for (const auto& p : lstm->parameters()) clipped += p.grad().pow(2).sum().item<double>();
  std::cout << "norm " << norm << ", clipped to " << std::sqrt(clipped) << '\n';
  lesson::say("What does save memory in a recurrent net: packing, and detaching the state.");
}
