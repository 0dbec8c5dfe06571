#include "lesson.h"

// Adding up losses adds up their graphs, with all that backward would need. Adding up numbers does
// not.

int main() {
  constexpr int64_t kBatch = 64, kWidth = 32, kSteps = 10;
  const ebb::Tensor x = ebb::randn({kBatch, kWidth});
  const ebb::Tensor weight = ebb::randn({kWidth, kWidth}).requires_grad_();
  const auto loss = [&] { return ebb::matmul(x, weight).tanh().sum(); };

  const int64_t start = lesson::allocated();
  ebb::Tensor total = ebb::zeros({});
  ebb::memory::GrowthMonitor monitor(kSteps);
  for (int64_t step = 0; step < kSteps; ++step) {
    total = total + loss();
    monitor.step();
  }
  // Each graph keeps what tanh gave; sums and the total itself are needed by nobody.
  lesson::equal("total = total + loss", kSteps * lesson::bytes({kBatch, kWidth}) + lesson::bytes({}),
                lesson::allocated() - start);
  std::cout << monitor.report().text();
  if (!monitor.leaks()) return 1;

  double sum = 0;
  total.reset();
  for (int64_t step = 0; step < kSteps; ++step) sum += loss().item<double>();
  lesson::equal("sum += loss.item()", 0, lesson::allocated() - start);
  std::cout << "the sum is " << sum << '\n';
  lesson::say("This is no leak of the library: the program still refers to each graph.");
}
