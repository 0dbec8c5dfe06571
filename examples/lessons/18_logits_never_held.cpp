#include "lesson.h"

// The logits of a language model, a number for each token and word, are its largest tensor.
// linear_cross_entropy makes them for some rows at a time and keeps one number for each row.

int main() {
  constexpr int64_t kTokens = 1024, kWidth = 64, kWords = 4096, kChunk = 128;
  const ebb::Tensor hidden = ebb::randn({kTokens, kWidth}).requires_grad_();
  const ebb::Tensor weight = (ebb::randn({kWords, kWidth}) * 0.1).requires_grad_();
  const ebb::Tensor target = ebb::randint(0, kWords, {kTokens}, ebb::kLong);
  const auto logits = lesson::bytes({kTokens, kWords});
  const auto chunk = lesson::bytes({kChunk, kWords});
  const auto row_numbers = lesson::bytes({kTokens});
  const auto gradients = lesson::bytes({kTokens, kWidth}) + lesson::bytes({kWords, kWidth});
  const auto scalar = lesson::bytes({1});

  ebb::Tensor loss;
  const auto plain = ebb::testing::measure([&] {
    loss = ebb::cross_entropy_loss(ebb::linear(hidden, weight), target);
    loss.backward();
  });
  lesson::equal("the logits, and their gradient", 2 * logits + row_numbers + 3 * scalar,
                plain.peak_bytes);
  const float expected = loss.item<float>();
  loss.reset();
  hidden.mutable_grad().reset();
  weight.mutable_grad().reset();

  const auto chunked = ebb::testing::measure([&] {
    loss = ebb::linear_cross_entropy(hidden, weight, target, {}, ebb::Reduction::Mean, -100, 0,
                                     kChunk);
    loss.backward();
  });
  lesson::equal("one chunk of logits at a time", chunk + row_numbers + gradients + 3 * scalar,
                chunked.peak_bytes);
  return std::abs(loss.item<float>() - expected) < 1e-4F ? 0 : 1;
}
