#include "lesson.h"

#include <optional>

// A model that is deleted lives on in the graph of its output, as far as backward needs it.

int main() {
  constexpr int64_t kBatch = 256, kWidth = 64;
  const auto weight = lesson::bytes({kWidth, kWidth});
  const auto bias = lesson::bytes({kWidth});
  const auto activation = lesson::bytes({kBatch, kWidth});

  const ebb::Tensor x = ebb::randn({kBatch, kWidth});
  const int64_t start = lesson::allocated();
  std::optional<ebb::nn::Sequential> net(std::in_place, ebb::nn::Linear(kWidth, kWidth),
                                         ebb::nn::Tanh(), ebb::nn::Linear(kWidth, kWidth));
  lesson::equal("two linear layers", 2 * (weight + bias), lesson::allocated() - start);

  ebb::Tensor y = (*net)->forward(x);
  lesson::equal("their output, and what tanh gave, which backward needs",
                2 * (weight + bias) + 2 * activation, lesson::allocated() - start);
  net.reset();
  lesson::equal("model deleted: the second weight is needed for the gradient of what tanh gave",
                weight + 2 * activation, lesson::allocated() - start);
  y = y.detach();
  lesson::equal("output detached: the graph is gone", activation, lesson::allocated() - start);
  lesson::say("To free a model drop its outputs too, or detach them.");
}
