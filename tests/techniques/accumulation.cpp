// Gradients of a batch, accumulated over its parts.

#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "bytes/networks.h"
#include "catch.h"

namespace {

namespace nn = ebb::nn;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::accumulate_to;
using ebb::testing::measure;

std::vector<Tensor> take_gradients(nn::Sequential& net) {
  std::vector<Tensor> result;
  for (const Tensor& p : net->parameters()) {
    result.push_back(p.grad().clone());
    p.mutable_grad().reset();
  }
  return result;
}

std::vector<int64_t> sizes_of(int64_t batch, int64_t micro) {
  std::vector<int64_t> sizes;
  for (const auto& part : accumulate_to(batch, micro)) sizes.push_back(part.size);
  return sizes;
}

}  // namespace

TEST_CASE("a batch is split into as few parts as will do, of nearly the same size") {
  CHECK(sizes_of(8, 8) == std::vector<int64_t>{8});
  CHECK(sizes_of(8, 100) == std::vector<int64_t>{8});
  CHECK(sizes_of(8, 4) == std::vector<int64_t>{4, 4});
  CHECK(sizes_of(10, 4) == std::vector<int64_t>{4, 3, 3});
  CHECK(sizes_of(3, 1) == std::vector<int64_t>{1, 1, 1});
  const auto parts = accumulate_to(10, 4);
  CHECK(parts[1].begin == 4);
  CHECK(parts[2].begin == 7);
  CHECK_FALSE(parts[1].is_last());
  CHECK(parts[2].is_last());
  CHECK(parts[0].weight() == 0.4);
  CHECK_THROWS_WITH(accumulate_to(0, 1), ContainsSubstring("batch of 0 in parts of 1"));
  CHECK_THROWS_WITH(accumulate_to(1, 0), ContainsSubstring("batch of 1 in parts of 0"));
}

TEST_CASE("a part of a tensor is a view of its examples") {
  const Tensor x = ebb::arange(20).view({10, 2});
  const auto parts = accumulate_to(10, 4);
  CHECK(parts[1].of(x).equal(x.slice(0, 4, 7)));
  CHECK(measure([&] { return parts[1].of(x); }).net_bytes == 0);
  CHECK_THROWS_WITH(parts[1].of(ebb::ones({9, 2})),
                    ContainsSubstring("10 examples") && ContainsSubstring("[9, 2]"));
  CHECK_THROWS_WITH(parts[1].of(ebb::ones({})), ContainsSubstring("10 examples"));
}

TEST_CASE("equal parts under a sum give the gradients of the batch bit for bit where sums are exact") {
  // Small integers: no order of summation rounds.
  ebb::manual_seed(1);
  const Tensor w = ebb::randint(-4, 5, {6, 3}).to(ebb::kFloat).requires_grad_();
  const Tensor x = ebb::randint(-8, 9, {12, 6}).to(ebb::kFloat);
  x.matmul(w).square().sum().backward();
  const Tensor whole = w.grad().clone();
  w.mutable_grad().reset();
  for (const auto& part : accumulate_to(12, 3)) part.of(x).matmul(w).square().sum().backward();
  CHECK(w.grad().equal(whole));
}

TEST_CASE("the parts in turn are bit for bit the gradients of their summed losses") {
  ebb::manual_seed(2);
  auto net = bytes::chain();
  const Tensor x = bytes::input();
  const auto parts = accumulate_to(bytes::kBatch, 24);
  // Gradients of each part by itself, added in the same order.
  std::vector<Tensor> expected;
  for (const auto& part : parts) {
    net->forward(part.of(x)).sum().backward();
    const auto grads = take_gradients(net);
    for (size_t i = 0; i < grads.size(); ++i) {
      if (expected.size() < grads.size()) {
        expected.push_back(grads[i]);
      } else {
        expected[i].add_(grads[i]);
      }
    }
  }
  for (const auto& part : parts) net->forward(part.of(x)).sum().backward();
  const auto accumulated = take_gradients(net);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(accumulated[i].equal(expected[i]));
}

TEST_CASE("weighted parts of any sizes give the gradients of the batch's mean, to rounding") {
  ebb::manual_seed(3);
  auto net = bytes::chain();
  net->to(ebb::kDouble);
  const Tensor x = bytes::input().to(ebb::kDouble);
  const Tensor y = ebb::randn_like(x);
  ebb::mse_loss(net->forward(x), y).backward();
  const auto whole = take_gradients(net);
  for (const int64_t micro : {1, 7, 48, 96}) {
    for (const auto& part : accumulate_to(bytes::kBatch, micro)) {
      (ebb::mse_loss(net->forward(part.of(x)), part.of(y)) * part.weight()).backward();
    }
    const auto accumulated = take_gradients(net);
    for (size_t i = 0; i < whole.size(); ++i) {
      CHECK(ebb::allclose(accumulated[i], whole[i], 1e-11, 1e-15));
    }
  }
}

TEST_CASE("accumulation holds the activations of one part, and the gradients once") {
  auto net = bytes::chain();
  const Tensor x = bytes::input();
  const auto forward = [&](const Tensor& input) {
    return measure([&] { return net->forward(input); }).net_bytes;
  };
  const auto parts = accumulate_to(bytes::kBatch, bytes::kBatch / 4);
  CHECK(forward(x) == 4 * forward(parts[0].of(x)));

  const auto accumulate = measure([&] {
    for (const auto& part : parts) net->forward(part.of(x)).sum().backward();
  });
  CHECK(accumulate.net_bytes == bytes::gradient_bytes());
  take_gradients(net);
  const auto one = measure([&] { net->forward(parts[0].of(x)).sum().backward(); });
  const auto with_gradients =
      measure([&] { net->forward(parts[1].of(x)).sum().backward(); });
  // From the second part on the gradients are there beside a part's forward and backward.
  CHECK(accumulate.peak_bytes == bytes::gradient_bytes() + with_gradients.peak_bytes);
  CHECK(one.net_bytes == bytes::gradient_bytes());
  CHECK(with_gradients.net_bytes == 0);
}
