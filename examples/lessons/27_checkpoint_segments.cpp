#include "lesson.h"

#include <vector>

// checkpoint_sequential: of n layers in k segments forward holds the inputs of the segments and the
// activations of the last, and backward has those of one segment at a time: about k + n / k
// activations instead of n, which is least for k = sqrt(n).

int main() {
  constexpr int64_t kRows = 1024, kWidth = 128, kLayers = 16, kSegments = 4;
  const auto one = lesson::bytes({kRows, kWidth});
  const std::vector<ebb::Stage> layers(kLayers, [](const ebb::Tensor& x) { return x.sin(); });
  const ebb::Tensor x = ebb::randn({kRows, kWidth}).requires_grad_();

  ebb::Tensor y;
  const auto plain = ebb::testing::measure([&] {
    y = x;
    for (const auto& layer : layers) y = layer(y);
  });
  // sin keeps its input: x itself, which was there, and 15 results; y is the 16th.
  lesson::equal("plain, after forward", kLayers * one, plain.net_bytes);
  const ebb::Tensor exact = ebb::autograd::grad({y.sum()}, {x})[0];
  y.reset();

  const auto segments = ebb::testing::measure(
      [&] { y = ebb::checkpoint_sequential(layers, kSegments, x); });
  // The inputs of the segments but the first, the last segment's activations, and y.
  lesson::equal("in four segments, after forward",
                (kSegments - 1 + kLayers / kSegments - 1 + 1) * one, segments.net_bytes);
  const ebb::Tensor gradient = ebb::autograd::grad({y.sum()}, {x})[0];
  if (!ebb::equal(gradient, exact)) return 1;
  lesson::say("The price: three quarters of a forward once more.");
}
