#include "lesson.h"

// detach() cuts a tensor off its graph, and shares its memory: it frees what backward kept, not the
// tensor. One row keeps the storage of all rows; a clone of it keeps itself.

int main() {
  constexpr int64_t kRows = 128, kWidth = 64;
  const ebb::Tensor weight = ebb::randn({kRows, kWidth}).requires_grad_();
  const auto whole = lesson::bytes({kRows, kWidth});

  const int64_t start = lesson::allocated();
  ebb::Tensor y = weight.exp().tanh();
  lesson::equal("two results, each saved by its op", 2 * whole, lesson::allocated() - start);
  y = y.detach();
  lesson::equal("detached: the graph is gone, the values stay", whole,
                lesson::allocated() - start);
  y = y[0];
  lesson::equal("its first row keeps the storage of all rows", whole, lesson::allocated() - start);
  y = y.clone();
  lesson::equal("a clone of the row keeps a row", lesson::bytes({kWidth}),
                lesson::allocated() - start);
  lesson::say("Keep y.detach() to drop a graph; keep a clone of a small part of a large tensor.");
}
