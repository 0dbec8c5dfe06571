#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

// What is not trained costs neither gradients nor what only they need; updates of low rank.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 96;
constexpr int64_t kOut = 80;
constexpr int64_t kRank = 4;

int64_t bytes(int64_t numel) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * 4)));
}

const int64_t kActivation = bytes(kRows * kWidth);
const int64_t kWeight = bytes(kWidth * kWidth);

Tensor numbers(IntArrayRef sizes) {
  const GeneratorGuard guard(Generator(get_default_device(), 5));
  return randn(sizes);
}

void freeze(nn::Module& module) {
  for (Tensor& parameter : module.parameters()) parameter.set_requires_grad(false);
}

nn::Linear square() { return nn::Linear(nn::LinearOptions(kWidth, kWidth).bias(false)); }

struct Adapted {
  nn::Linear base{nn::LinearOptions(kWidth, kOut)};
  nn::LoRALinear layer{base, kRank, 8.0};
  Adapted() {
    const NoGradGuard no_grad;
    layer->lora_b.copy_(numbers({kOut, kRank}));
  }
};

}  // namespace

TEST_CASE("A frozen layer in the middle keeps its weight for its input's gradient, and no input") {
  nn::Linear first = square();
  nn::Linear middle = square();
  nn::Linear last = square();
  const Tensor x = numbers({kRows, kWidth});
  Tensor y;
  const auto forward = [&] { y = last(middle(first(x))); };
  const auto trained = measure(forward);
  CHECK(trained.net_bytes == 3 * kActivation);  // two outputs that are inputs, and y
  y.reset();
  freeze(*middle);
  const auto frozen = measure(forward);
  // The output of the first layer, the input of the frozen one, is gone.
  CHECK(frozen.net_bytes == 2 * kActivation);
  const auto backward = measure([&] { y.sum().backward(); });
  CHECK(backward.net_bytes == 2 * kWeight - kActivation);  // no gradient of the frozen weight
  CHECK_FALSE(middle->weight.grad().defined());
}

TEST_CASE("Freezing the first layers frees all that they kept, and a frozen bias costs nothing") {
  nn::Sequential body(square(), nn::ReLU(), square(), nn::ReLU());
  nn::Linear head = square();
  const Tensor x = numbers({kRows, kWidth});
  Tensor y;
  const auto forward = [&] { y = head(body->forward(x)); };
  const int64_t trained = measure(forward).net_bytes;
  CHECK(trained == 3 * kActivation);  // the results of two relus, and y
  y.reset();
  freeze(*body);
  CHECK(measure(forward).net_bytes == trained - kActivation);
  CHECK(measure([&] { y.sum().backward(); }).net_bytes == kWeight - kActivation);
}

TEST_CASE("What freezing changes between forward and backward is no matter of the graph") {
  nn::Linear layer = square();
  const Tensor y = layer(numbers({kRows, kWidth})).sum();
  freeze(*layer);
  // The graph was recorded for a leaf that does not want a gradient any more.
  CHECK_NOTHROW(y.backward());
  CHECK_FALSE(layer(numbers({kRows, kWidth})).requires_grad());
}

TEST_CASE("A LoRALinear starts as the layer that it adapts, and shares its memory") {
  nn::Linear base(nn::LinearOptions(kWidth, kOut));
  const Tensor x = numbers({kRows, kWidth});
  const Tensor before = base(x).detach();
  nn::LoRALinear layer{nullptr};
  const auto made = measure([&] { layer = nn::LoRALinear(base, kRank); });
  CHECK(made.net_bytes == bytes(kRank * kWidth) + bytes(kOut * kRank));
  CHECK(layer->base->weight.is_same(base->weight));
  CHECK(equal(layer(x), before));
  CHECK(layer->scaling() == 1);
  std::vector<std::string> trained;
  for (const auto& item : layer->named_parameters()) {
    if (item.value().requires_grad()) trained.push_back(item.key());
  }
  CHECK(trained == std::vector<std::string>{"lora_a", "lora_b"});
  CHECK(layer->named_parameters().contains("base.weight"));
}

TEST_CASE("A step of a LoRALinear has gradients and state of low rank alone") {
  Adapted net;
  const Tensor x = numbers({kRows, kWidth});
  const int64_t low_rank = bytes(kRank * kWidth) + bytes(kOut * kRank);
  const int64_t output = bytes(kRows * kOut);
  const int64_t inner = bytes(kRows * kRank);
  Tensor y;
  const auto forward = measure([&] { y = net.layer(x); });
  CHECK(forward.net_bytes == output + inner);  // beside x, which is held anyway
  CHECK(forward.peak_bytes == 2 * output + inner);
  const auto backward = measure([&] { y.sum().backward(); });
  CHECK(backward.net_bytes == low_rank - inner);
  y.reset();
  std::vector<Tensor> trained;
  for (const Tensor& p : net.layer->parameters()) {
    if (p.requires_grad()) trained.push_back(p);
  }
  optim::Adam adam(trained, optim::AdamOptions(1e-3));
  CHECK(measure([&] { adam.step(); }).net_bytes == 2 * low_rank);
  CHECK_FALSE(net.base->weight.grad().defined());
}

TEST_CASE("Output and gradients of a LoRALinear are those of the full weight's update") {
  Adapted net;
  net.layer->to(kDouble);
  const Tensor x = numbers({2, 3, kWidth}).to(kDouble).requires_grad_();
  const Tensor a = net.layer->lora_a;
  const Tensor b = net.layer->lora_b;
  const Tensor y = net.layer(x);
  const Tensor expected = linear(x, net.base->weight + 2 * mm(b, a), net.base->bias);
  CHECK(allclose(y, expected, 1e-12, 1e-12));
  const Tensor grad = numbers({2, 3, kOut}).to(kDouble);
  const auto got = autograd::grad({y}, {x, a, b}, {grad});
  const auto wanted = autograd::grad({expected}, {x, a, b}, {grad});
  for (size_t i = 0; i < got.size(); ++i) CHECK(allclose(got[i], wanted[i], 1e-10, 1e-10));

  nn::LoRALinear small(nn::LoRALinearOptions(3, 2, 1).alpha(3));
  small->to(kDouble);
  const Tensor input = numbers({2, 3}).to(kDouble).requires_grad_();
  const auto f = [&](const std::vector<Tensor>& in) { return small(in[0]); };
  CHECK(testing::gradcheck(f, {input, small->lora_a, small->lora_b}));
}

TEST_CASE("A merged LoRALinear gives the same from its base alone, and unmerges to rounding") {
  Adapted net;
  const Tensor x = numbers({kRows, kWidth});
  const Tensor weight = net.base->weight.detach().clone();
  const Tensor expected = net.layer(x).detach();
  CHECK_THROWS_WITH(net.layer->unmerge(), ContainsSubstring("call merge() first"));
  const auto merging = measure([&] { net.layer->merge(); });
  CHECK(merging.net_bytes == 0);
  CHECK(net.layer->is_merged());
  CHECK_THROWS_WITH(net.layer->merge(), ContainsSubstring("merged already"));
  CHECK_THROWS_WITH(net.layer(x), ContainsSubstring("unmerge()"));  // in training
  net.layer->eval();
  // Sums of 96 products of size one, rounded in another order.
  CHECK(allclose(net.layer(x), expected, 1e-4, 1e-4));
  CHECK(equal(net.base(x), net.layer(x)));
  CHECK(measure([&] { return net.layer(x); }).peak_bytes == bytes(kRows * kOut));
  net.layer->unmerge();
  CHECK(allclose(net.base->weight, weight, 1e-6, 1e-6));
  net.layer->train();
  CHECK(net.layer(x).requires_grad());
}

TEST_CASE("A LoRALinear clones, moves and says what is wrong") {
  Adapted net;
  const Tensor x = numbers({kRows, kWidth});
  const auto copy = std::dynamic_pointer_cast<nn::LoRALinearImpl>(net.layer->clone());
  CHECK(equal(copy->forward(x), net.layer(x)));
  CHECK_FALSE(copy->base->weight.is_alias_of(net.base->weight));
  CHECK_FALSE(copy->base->weight.requires_grad());
  CHECK(copy->lora_a.requires_grad());
  net.layer->to(kBFloat16);
  CHECK(net.layer(x.to(kBFloat16)).scalar_type() == kBFloat16);
  CHECK(net.base->weight.scalar_type() == kBFloat16);
  CHECK_THROWS_WITH(nn::LoRALinear(nn::LoRALinearOptions(3, 2, 0)), ContainsSubstring("rank"));
}

TEST_CASE("A failed request while merging leaves weight and state as they were") {
  Adapted net;
  const Tensor weight = net.base->weight.detach().clone();
  int64_t n = 1;
  for (bool fired = true; fired; ++n) {
    testing::FailAllocation fail(n);
    try {
      net.layer->merge();
    } catch (const OutOfMemoryError&) {
      CHECK_FALSE(net.layer->is_merged());
      CHECK(equal(net.base->weight, weight));
    }
    fired = fail.fired();
  }
  CHECK(net.layer->is_merged());
}
