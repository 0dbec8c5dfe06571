#include "lesson.h"

#include <string>

// A smaller batch saves activations and inputs, which grow with it, and nothing of the parameters,
// their gradients and the state of the optimizer, which do not.

int main() {
  constexpr int64_t kWidth = 128;
  ebb::nn::Sequential net(ebb::nn::Linear(kWidth, kWidth), ebb::nn::ReLU(),
                          ebb::nn::Linear(kWidth, kWidth), ebb::nn::ReLU());
  ebb::optim::Adam optimizer(net->parameters());
  const auto parameters = 2 * (lesson::bytes({kWidth, kWidth}) + lesson::bytes({kWidth}));

  for (const int64_t batch : {256, 64}) {
    const auto activation = lesson::bytes({batch, kWidth});
    const int64_t start = lesson::allocated();
    {
      const ebb::Tensor x = ebb::randn({batch, kWidth});
      const ebb::Tensor y = net->forward(x);
      lesson::equal("a batch of " + std::to_string(batch) + ": input and what two relu gave",
                    3 * activation, lesson::allocated() - start);
      y.sum().backward();
    }
    optimizer.step();
    optimizer.zero_grad();
  }
  lesson::equal("parameters and two moments of Adam, at any batch", 3 * parameters,
                lesson::allocated());
  lesson::say("Smaller batches help where activations dominate: docs/choosing.md.");
}
