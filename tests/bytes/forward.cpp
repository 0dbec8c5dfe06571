#include "catch.h"
#include "networks.h"

using ebb::testing::measure;
using namespace bytes;

TEST_CASE("Detaching and viewing allocate nothing") {
  const OddCache odd(GENERATE(1u, 2u, 3u));
  auto x = ebb::randn({6, 8}).requires_grad_(true);
  auto y = x * 2;
  std::vector<ebb::Tensor> kept;
  const auto used = measure([&] {
    kept = {y.detach(),        y.view({8, 6}),
            y.reshape({48}),   y.t(),
            y.permute({1, 0}), y.slice(0, 1, 4),
            y.select(1, 2),    y.narrow(1, 0, 3),
            y.unsqueeze(0),    y.expand({2, 6, 8}),
            y.flatten(),       y.squeeze(),
            y.transpose(0, 1), y[3],
            y.data(),          y.contiguous(),
            y.diagonal(),      y.view_as(y),
            y.to(ebb::kFloat)};
    for (const auto& piece : y.split(2)) kept.push_back(piece);
    for (const auto& piece : y.chunk(3, 1)) kept.push_back(piece);
    for (const auto& piece : y.unbind(1)) kept.push_back(piece);
  });
  CHECK(used.requests == 0);
  CHECK(used.peak_bytes == 0);
  CHECK(used.net_bytes == 0);
}

TEST_CASE("A chain of Linear and ReLU keeps exactly the outputs of its ReLUs") {
  const OddCache odd(GENERATE(1u, 2u));
  auto net = chain();
  const auto x = input();
  ebb::Tensor y;
  const auto used = measure([&] { y = net->forward(x); });
  // A Linear saves its input, a ReLU its result; what the Linear layers computed is gone.
  CHECK(used.net_bytes == kLayers * activation_bytes());
  CHECK(used.requests == 2 * kLayers);
  // While a ReLU runs its input is alive too.
  CHECK(used.peak_bytes == (kLayers + 1) * activation_bytes());
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) ==
        kLayers * activation_bytes() + float_bytes(x.numel()));
  const auto freed = measure([&] { y.reset(); });
  CHECK(freed.net_bytes == -kLayers * activation_bytes());
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) == 0);
}

TEST_CASE("The forward pass of a frozen network keeps nothing but its result") {
  const OddCache odd(GENERATE(1u, 2u));
  auto net = chain();
  for (auto& parameter : net->parameters()) parameter.set_requires_grad(false);
  const auto x = input();
  ebb::Tensor y;
  const auto used = measure([&] { y = net->forward(x); });
  CHECK_FALSE(y.requires_grad());
  CHECK(used.net_bytes == activation_bytes());
  CHECK(used.peak_bytes == 2 * activation_bytes());
}

TEST_CASE("Layers before the first trainable one keep nothing") {
  auto frozen = chain(3);
  for (auto& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  ebb::nn::Linear head(kWidth, kWidth);
  const auto x = input();
  ebb::Tensor y;
  const auto used = measure([&] { y = head(frozen->forward(x)); });
  CHECK(used.net_bytes == 2 * activation_bytes());  // the head's input, saved, and its output
}

TEST_CASE("A forward pass under NoGradGuard leaves nothing and peaks at two activations") {
  const OddCache odd(GENERATE(1u, 2u));
  auto net = chain();
  const auto x = input();
  const auto used = measure([&] {
    ebb::NoGradGuard no_grad;
    (void)net->forward(x);
  });
  CHECK(used.net_bytes == 0);
  CHECK(used.peak_bytes == 2 * activation_bytes());
}

TEST_CASE("Parameters and buffers count as such from their registration on") {
  const auto parameters = ebb::memory::category_bytes(ebb::memory::Category::parameter);
  const auto buffers = ebb::memory::category_bytes(ebb::memory::Category::buffer);
  ebb::nn::Sequential net(ebb::nn::Linear(kWidth, kWidth), ebb::nn::BatchNorm1d(kWidth));
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::parameter) - parameters ==
        weight_bytes() + bias_bytes() + 2 * float_bytes(kWidth));
  // running mean and variance, and the count of batches
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::buffer) - buffers ==
        2 * float_bytes(kWidth) + 512);
}
