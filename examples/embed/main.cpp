// A training engine inside another program: a controller learns the thrust that a plant answers
// with a measured response, within a budget of memory that the program sets. When the budget is
// exceeded, the program gets an exception and goes on.

#include <ebb/ebb.h>

#include <cstdio>

namespace {

/// What the plant does: unknown to the controller, seen through its samples.
ebb::Tensor response(const ebb::Tensor& thrust) { return ebb::sin(2 * thrust) + 0.5 * thrust; }

/// Fits a small network to the plant and returns its last loss.
double learn(ebb::nn::Sequential& controller) {
  ebb::optim::Adam optimizer(controller->parameters(), ebb::optim::AdamOptions(1e-2));
  double last = 0;
  for (int step = 0; step < 500; ++step) {
    const auto thrust = ebb::rand({64, 1}) * 2 - 1;
    const auto loss = ebb::mse_loss(controller->forward(thrust), response(thrust));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

}  // namespace

int main() {
  ebb::set_num_threads(1);  // the program's threads are its own
  ebb::memory::set_memory_limit(ebb::kCPU, 64 << 20);
  ebb::manual_seed(0);

  ebb::nn::Sequential controller(ebb::nn::Linear(1, 32), ebb::nn::Tanh(), ebb::nn::Linear(32, 1));
  const double loss = learn(controller);
  std::printf("ebb %s: loss %.5f after 500 steps, at most %.0f KiB for tensors\n", ebb::version(),
              loss, static_cast<double>(ebb::memory::max_memory_allocated()) / 1024);

  try {
    const auto too_large = ebb::zeros({1 << 26});
    std::printf("%.0f bytes were allocated above the limit\n",
                static_cast<double>(too_large.nbytes()));
    return 1;
  } catch (const ebb::OutOfMemoryError&) {
    std::printf("a tensor of 256 MiB does not fit the limit of 64 MiB: refused\n");
  }
  return loss < 0.05 ? 0 : 1;
}
