#include "catch.h"
#include "networks.h"

using ebb::testing::measure;
using namespace bytes;

namespace {

ebb::Tensor loss_of(ebb::nn::Sequential& net, const ebb::Tensor& x) {
  return net->forward(x).sum();
}

}  // namespace

TEST_CASE("Backward leaves exactly the gradients") {
  const OddCache odd(GENERATE(1u, 2u, 3u));
  auto net = chain();
  const auto x = input();
  const auto start = ebb::memory::memory_allocated();
  auto loss = loss_of(net, x);
  loss.backward();
  loss.reset();
  CHECK(ebb::memory::memory_allocated() - start == gradient_bytes());
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::gradient) == gradient_bytes());
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) == 0);
}

TEST_CASE("Backward never needs more than the gradients and three activations above its start") {
  const OddCache odd(GENERATE(1u, 2u, 3u));
  auto net = chain();
  const auto x = input();
  auto loss = loss_of(net, x);
  const auto used = measure([&] { loss.backward(); });
  CHECK(used.peak_bytes <= gradient_bytes() + 3 * activation_bytes());
  // The activations that the tape held are gone, the gradients are there.
  CHECK(used.net_bytes == gradient_bytes() - kLayers * activation_bytes());
}

TEST_CASE("Each saved tensor is freed as soon as its node has run") {
  auto net = chain();
  const auto x = input();
  std::vector<int64_t> allocated;
  auto h = x;
  std::vector<ebb::Tensor> outputs;
  for (auto& layer : *net) {
    h = layer.forward<ebb::Tensor>(h);
    h.register_hook([&](const ebb::Tensor&) {
      allocated.push_back(ebb::memory::category_bytes(ebb::memory::Category::saved));
    });
  }
  auto loss = h.sum();
  h.reset();
  loss.backward();
  REQUIRE(allocated.size() == 2 * kLayers);
  for (size_t i = 1; i < allocated.size(); ++i) CHECK(allocated[i] <= allocated[i - 1]);
  CHECK(allocated.back() <= 2 * activation_bytes() + weight_bytes());
}

TEST_CASE("Fifty steps of training are flat") {
  const OddCache odd(GENERATE(1u, 2u));
  auto net = chain();
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3));
  const auto x = input();
  const auto step = [&] {
    optimizer.zero_grad();
    auto loss = loss_of(net, x);
    loss.backward();
    loss.reset();
    optimizer.step();
  };
  step();
  const auto second = measure(step);
  const auto allocated = ebb::memory::memory_allocated();
  const auto reserved = ebb::memory::memory_reserved();
  for (int i = 2; i < 50; ++i) {
    const auto next = measure(step);
    REQUIRE(next.peak_bytes == second.peak_bytes);
    REQUIRE(next.requests == second.requests);
    REQUIRE(ebb::memory::memory_allocated() == allocated);
    REQUIRE(ebb::memory::memory_reserved() == reserved);
  }
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::optimizer_state) ==
        2 * gradient_bytes());
}

TEST_CASE("The figures of a step are the same for any number of threads and any cache") {
  const int threads = ebb::get_num_threads();
  std::vector<ebb::testing::Measurement> steps;
  for (const int count : {1, 2, 8}) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      const OddCache odd(seed);
      ebb::set_num_threads(count);
      ebb::nn::Sequential net(ebb::nn::Conv2d(ebb::nn::Conv2dOptions(3, 8, 3).padding(1)),
                              ebb::nn::BatchNorm2d(8), ebb::nn::ReLU(), ebb::nn::MaxPool2d(2),
                              ebb::nn::Flatten(), ebb::nn::Linear(8 * 16 * 16, 10));
      ebb::optim::SGD optimizer(net->parameters(), ebb::optim::SGDOptions(0.1).momentum(0.9));
      const auto x = ebb::randn({16, 3, 32, 32});
      const auto y = ebb::randint(0, 10, {16}, ebb::kLong);
      steps.push_back(measure([&] {
        ebb::cross_entropy_loss(net->forward(x), y).backward();
        optimizer.step();
      }));
    }
  }
  ebb::set_num_threads(threads);
  for (const auto& step : steps) {
    CHECK(step.peak_bytes == steps[0].peak_bytes);
    CHECK(step.net_bytes == steps[0].net_bytes);
    CHECK(step.requests == steps[0].requests);
  }
  // Parameters of the three layers, once as gradient and once as momentum.
  const int64_t parameters =
      float_bytes(8 * 3 * 9) + 3 * float_bytes(8) + float_bytes(10 * 8 * 16 * 16) + float_bytes(10);
  CHECK(steps[0].net_bytes == 2 * parameters);
}
