#include "lesson.h"

// checkpoint: a region's activations are not kept. Backward runs the region again and has them one
// after the other, for the time of one more forward.

int main() {
  constexpr int64_t kRows = 1024, kWidth = 128;
  const auto one = lesson::bytes({kRows, kWidth});
  const ebb::Tensor x = ebb::randn({kRows, kWidth}).requires_grad_();
  int calls = 0;
  const auto region = [&](const ebb::Tensor& in) {
    ++calls;
    return in.exp().sin().tanh();  // exp and sin keep the result of exp, tanh its own
  };

  ebb::Tensor y;
  lesson::equal("plain: the results of exp and tanh", 2 * one,
                ebb::testing::measure([&] { y = region(x); }).net_bytes);
  const ebb::Tensor exact = ebb::autograd::grad({y.sum()}, {x})[0];
  y.reset();

  lesson::equal("a region: its result", one,
                ebb::testing::measure([&] { y = ebb::checkpoint(region, x); }).net_bytes);
  calls = 0;
  const ebb::Tensor gradient = ebb::autograd::grad({y.sum()}, {x})[0];
  if (calls != 1 || !ebb::equal(gradient, exact)) return 1;
  lesson::say("Backward ran the region once more, and the gradient has the same bits.");
}
