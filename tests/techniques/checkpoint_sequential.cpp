#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 256;
constexpr int64_t kWidth = 64;
constexpr int64_t kActivation = kRows * kWidth * 4;

Tensor numbers(IntArrayRef sizes, uint64_t seed = 5) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return randn(sizes);
}

std::vector<Stage> waves(size_t count) {
  return std::vector<Stage>(count, [](const Tensor& x) { return x.sin(); });
}

nn::Sequential network() {
  manual_seed(4);
  return nn::Sequential(nn::Linear(kWidth, kWidth), nn::ReLU(), nn::Linear(kWidth, kWidth),
                        nn::Dropout(0.2), nn::Tanh(), nn::Linear(kWidth, kWidth), nn::GELU());
}

/// The peak above the start of forward and backward.
template <typename Run>
int64_t peak(const Tensor& x, Run&& run) {
  return measure([&] { static_cast<void>(autograd::grad({run(x).sum()}, {x})); }).peak_bytes;
}

}  // namespace

TEST_CASE("Sixteen equal stages in four segments need at most half of the plain peak") {
  const auto stages = waves(16);
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto plain = [&](const Tensor& in) {
    Tensor y = in;
    for (const Stage& stage : stages) y = stage(y);
    return y;
  };
  const int64_t all = peak(x, plain);
  const int64_t four = peak(x, [&](const Tensor& in) { return checkpoint_sequential(stages, 4, in); });
  INFO(all << " bytes plain, " << four << " in four segments");
  // Plain: the results of 16 stages but the last, which sum() lets go, and two gradients.
  CHECK(all >= 16 * kActivation);
  CHECK(four <= all / 2 + 4 * 512);
  CHECK(equal(autograd::grad({plain(x).sum()}, {x})[0],
              autograd::grad({checkpoint_sequential(stages, 4, x).sum()}, {x})[0]));
}

TEST_CASE("Any number of segments gives the bits of the plain run") {
  nn::Sequential net = network();
  const auto gradients = [&](int64_t segments) {
    manual_seed(9);
    net->zero_grad();
    const Tensor x = numbers({kRows, kWidth}).requires_grad_();
    (segments == 0 ? net->forward(x) : checkpoint_sequential(net, segments, x)).sum().backward();
    std::vector<Tensor> all = {x.grad()};
    for (const Tensor& p : net->parameters()) all.push_back(p.grad());
    return all;
  };
  const auto plain = gradients(0);
  for (int64_t segments = 1; segments <= 7; ++segments) {
    INFO(segments << " segments");
    const auto found = gradients(segments);
    for (size_t i = 0; i < plain.size(); ++i) CHECK(equal(plain[i], found[i]));
  }
}

TEST_CASE("Numbers of segments that make no sense are errors") {
  const Tensor x = numbers({4, 4});
  for (const int64_t segments : {-1, 0, 4}) {
    try {
      checkpoint_sequential(waves(3), segments, x);
      FAIL("no error");
    } catch (const Error& e) {
      CHECK_THAT(e.what(), ContainsSubstring("of 3 layers") && ContainsSubstring("1 to 3"));
    }
  }
}
