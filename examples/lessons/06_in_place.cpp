#include "lesson.h"

// An op in place takes no memory for its result, and is right where nobody needs what it wrote
// over.

int main() {
  const ebb::Tensor x = ebb::randn({256, 128}).requires_grad_();
  const ebb::Tensor shortcut = ebb::randn({256, 128});
  const auto one = lesson::bytes({256, 128});
  ebb::nn::Linear layer(ebb::nn::LinearOptions(128, 128).bias(false));
  const auto peak = [&](auto&& f) { return ebb::testing::measure(f).peak_bytes; };

  ebb::Tensor y;
  lesson::equal("the layer's result and relu's", 2 * one, peak([&] { y = layer(x).relu(); }));
  y.reset();
  lesson::equal("relu_ writes over the layer's", one, peak([&] { y = layer(x).relu_(); }));
  y.reset();
  lesson::equal("a sum, and relu of it", 3 * one, peak([&] { y = (layer(x) + shortcut).relu(); }));
  y.reset();
  lesson::equal("add_relu_ does both in the memory of one", one, peak([&] {
                  y = layer(x);
                  y.add_relu_(shortcut);
                }));
  y.sum().backward();  // relu's gradient needs its result alone, the sum's nothing

  // exp needs its result for backward: a write over it is found out, and nothing is wrong in
  // silence.
  const ebb::Tensor e = layer(x).exp();
  e.mul_(2);
  try {
    e.sum().backward();
    return 1;
  } catch (const ebb::Error& error) {
    lesson::say(error.what());
  }
  lesson::say("Write in place where the op before keeps nothing of what it gave.");
}
