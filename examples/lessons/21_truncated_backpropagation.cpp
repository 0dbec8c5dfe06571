#include "lesson.h"

#include <string>
#include <tuple>

// A recurrent net over a long text: backward after each chunk, with the state detached before the
// next, needs the memory of one chunk. Kept attached, the graph reaches back to the first.

namespace {

constexpr int64_t kChunk = 16, kBatch = 8, kWidth = 32;

/// Bytes that are live once `chunks` chunks went forward.
int64_t live_after(ebb::nn::GRU& gru, int64_t chunks, bool detach) {
  const int64_t start = lesson::allocated();
  ebb::Tensor state = ebb::zeros({1, kBatch, kWidth});
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    ebb::Tensor output;
    std::tie(output, state) = gru->forward(ebb::ones({kChunk, kBatch, kWidth}), state);
    if (detach) {
      output.sum().backward();
      state = state.detach();
    }
  }
  gru->zero_grad();
  return lesson::allocated() - start;
}

}  // namespace

int main() {
  ebb::nn::GRU gru(kWidth, kWidth);
  const auto state = lesson::bytes({1, kBatch, kWidth});
  // What the graph of a chunk keeps: input, output, four gates of each row, and the state before.
  const auto chunk = 2 * lesson::bytes({kChunk * kBatch, kWidth}) +
                     lesson::bytes({kChunk * kBatch, 4 * kWidth}) + state;
  for (const int64_t chunks : {10, 100}) {
    const std::string of = std::to_string(chunks) + " chunks, ";
    lesson::equal(of + "detached: one state", state, live_after(gru, chunks, true));
    lesson::equal(of + "attached", chunks * chunk + state, live_after(gru, chunks, false));
  }
  lesson::say(
      "The loss of a chunk then teaches nothing about chunks before it: that is the price.");
}
