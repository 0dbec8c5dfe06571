#include "lesson.h"

// What an optimizer keeps for each parameter of a layer, beside its gradient.

namespace {

template <typename Optimizer, typename Options>
int64_t state_bytes(const Options& options) {
  ebb::manual_seed(0);
  ebb::nn::Linear layer(ebb::nn::LinearOptions(512, 1024).bias(false));
  Optimizer optimizer(layer->parameters(), options);
  layer->forward(ebb::randn({4, 512})).sum().backward();
  return ebb::testing::measure([&] { optimizer.step(); }).net_bytes;
}

}  // namespace

int main() {
  using namespace ebb::optim;
  const auto weight = lesson::bytes({1024, 512});
  lesson::equal("SGD", 0, state_bytes<SGD>(SGDOptions(0.1)));
  lesson::equal("SGD with momentum: 4 bytes", weight,
                state_bytes<SGD>(SGDOptions(0.1).momentum(0.9)));
  lesson::equal("Adam: 8 bytes", 2 * weight, state_bytes<Adam>(AdamOptions(1e-3)));
  // Two codes a parameter, and for each 256 of them a float.
  lesson::equal("Adam8bit: 2 bytes", 2 * (weight / 4 + weight / 256),
                state_bytes<Adam8bit>(Adam8bitOptions(1e-3)));
  // A float for each row and each column.
  lesson::equal("Adafactor: rows and columns", lesson::bytes({1024}) + lesson::bytes({512}),
                state_bytes<Adafactor>(AdafactorOptions()));
}
