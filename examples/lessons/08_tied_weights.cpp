#include "lesson.h"

// A language model may read words from the table with which it writes them: one weight, one
// gradient, one optimizer state.

int main() {
  constexpr int64_t kWords = 1000, kWidth = 64, kRows = 32;
  const auto table_bytes = lesson::bytes({kWords, kWidth});
  const ebb::Tensor words = ebb::randint(0, kWords, {kRows}, ebb::kLong);

  const int64_t start = lesson::allocated();
  ebb::nn::Embedding table(kWords, kWidth);
  const auto logits = [&] { return ebb::linear(table(words).tanh(), table->weight); };
  lesson::equal("a table, and no second weight", table_bytes, lesson::allocated() - start);

  logits().sum().backward();
  lesson::equal("after backward: one gradient, the sum of both uses", 2 * table_bytes,
                lesson::allocated() - start);

  ebb::optim::Adam adam(table->parameters(), ebb::optim::AdamOptions(1e-3));
  adam.step();
  lesson::equal("after Adam's step: two numbers of state for each", 4 * table_bytes,
                lesson::allocated() - start);

  try {
    adam.add_parameters({table->weight});
    return 1;
  } catch (const ebb::Error& error) {
    lesson::say(error.what());
  }
  lesson::say("An untied model has two of each.");
}
