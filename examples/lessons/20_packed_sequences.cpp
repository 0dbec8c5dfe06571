#include "lesson.h"

#include <numeric>
#include <vector>

// Sequences of different lengths, padded to the longest, take memory for steps that are not there.
// Packed, each step takes the sequences that still go on.

int main() {
  constexpr int64_t kIn = 32, kHidden = 64;
  const std::vector<int64_t> lengths = {64, 40, 16, 8};
  const auto count = static_cast<int64_t>(lengths.size());
  const int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  ebb::nn::LSTM lstm(kIn, kHidden);
  const ebb::Tensor padded = ebb::randn({lengths[0], count, kIn});

  // Of each row: the output, four activated gates, and the cell state before it.
  const auto of_rows = [](int64_t n) {
    return lesson::bytes({n, kHidden}) + lesson::bytes({n, 4 * kHidden}) +
           lesson::bytes({n, kHidden});
  };
  const auto states = 2 * lesson::bytes({count, kHidden});

  const int64_t start = lesson::allocated();
  {
    const auto result = lstm->forward(padded);
    lesson::equal("padded, " + std::to_string(lengths[0] * count) + " rows",
                  of_rows(lengths[0] * count) + states, lesson::allocated() - start);
  }
  const auto packed = ebb::nn::utils::rnn::pack_padded_sequence(
      padded, ebb::tensor(lengths, ebb::kLong), /*batch_first=*/false);
  const int64_t with_input = lesson::allocated();
  const auto result = lstm->forward_with_packed_input(packed);
  lesson::equal("packed, " + std::to_string(rows) + " rows", of_rows(rows) + states,
                lesson::allocated() - with_input);
  lesson::say("Backward works on the same rows: padding takes neither memory nor time.");
}
