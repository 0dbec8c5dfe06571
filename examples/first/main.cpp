// The first program of the README.

#include <ebb/ebb.h>

#include <iostream>

int main() {
  ebb::nn::Sequential model(ebb::nn::Linear(2, 16), ebb::nn::Tanh(), ebb::nn::Linear(16, 1));
  ebb::optim::Adam optimizer(model->parameters(), ebb::optim::AdamOptions(1e-2));
  const auto x = ebb::randn({256, 2});
  const auto y = x.select(1, 0) * x.select(1, 1);

  for (int step = 0; step < 300; ++step) {
    ebb::memory::Scope scope("step");
    auto loss = ebb::mse_loss(model->forward(x).squeeze(1), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 == 99) {
      std::cout << "loss " << loss.item<float>() << ", peak of the step " << scope.peak_bytes()
                << " bytes\n";
    }
  }
  std::cout << ebb::memory::memory_allocated() << " bytes allocated\n";
}
