#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

// One weight in two places: it counts once, and gets the sum of both gradients.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kWords = 50;
constexpr int64_t kWidth = 32;
constexpr int64_t kRows = 20;

int64_t bytes(int64_t numel, int64_t element = 4) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * element)));
}

/// Words to words: the table of the input is the weight of the output.
struct TiedImpl : nn::Cloneable<TiedImpl> {
  TiedImpl() { reset(); }  // NOLINT: no class derives from it
  void reset() override {
    table = register_module("table", nn::Embedding(kWords, kWidth));
    inner = register_module("inner", nn::Linear(kWidth, kWidth));
  }
  Tensor forward(const Tensor& words) { return linear(inner(table(words)).tanh(), table->weight); }
  nn::Embedding table{nullptr};
  nn::Linear inner{nullptr};
};

/// The same, whose output weight is registered a second time, under another name.
struct TwiceImpl : nn::Cloneable<TwiceImpl> {
  TwiceImpl() { reset(); }  // NOLINT: no class derives from it
  void reset() override {
    table = register_module("table", nn::Embedding(kWords, kWidth));
    out = register_parameter("out", table->weight);
  }
  Tensor forward(const Tensor& words) { return linear(table(words).tanh(), out); }
  nn::Embedding table{nullptr};
  Tensor out;
};

/// One layer, used twice under two names.
struct SharedLayerImpl : nn::Cloneable<SharedLayerImpl> {
  SharedLayerImpl() { reset(); }  // NOLINT: no class derives from it
  void reset() override {
    nn::Linear layer(kWidth, kWidth);
    first = register_module("first", layer);
    second = register_module("second", layer);
  }
  Tensor forward(const Tensor& x) { return second(first(x).relu()); }
  nn::Linear first{nullptr};
  nn::Linear second{nullptr};
};

Tensor words() {
  const GeneratorGuard guard(Generator(get_default_device(), 3));
  return randint(0, kWords, {kRows}, kLong);
}

}  // namespace

TEST_CASE("A tied weight counts once in memory, in parameters() and in the optimizer") {
  const int64_t weights = bytes(kWords * kWidth);
  const int64_t others = bytes(kWidth * kWidth) + bytes(kWidth);
  std::shared_ptr<TiedImpl> net;
  const auto made = measure([&] { net = std::make_shared<TiedImpl>(); });
  CHECK(made.net_bytes == weights + others);
  CHECK(net->parameters().size() == 3);
  CHECK(std::make_shared<TwiceImpl>()->parameters().size() == 1);
  CHECK(std::make_shared<SharedLayerImpl>()->parameters().size() == 2);

  net->forward(words()).sum().backward();
  optim::Adam adam(net->parameters(), optim::AdamOptions(1e-3));
  CHECK(adam.size() == 3);
  CHECK(measure([&] { adam.step(); }).net_bytes == 2 * (weights + others));
  CHECK_THROWS_WITH(adam.add_parameters({net->table->weight}), ContainsSubstring("more than once"));
  CHECK_THROWS_WITH(optim::SGD(std::vector<Tensor>{net->table->weight, net->table->weight}, 0.1),
                    ContainsSubstring("more than once"));
}

TEST_CASE("A tied weight gets the sum of the gradients of its uses, in the memory of one") {
  const auto net = std::make_shared<TiedImpl>();
  net->to(kDouble);
  const Tensor input = words();
  net->forward(input).pow(2).sum().backward();
  const Tensor grad = net->table->weight.grad();

  const Tensor as_table = net->table->weight.detach().clone().requires_grad_();
  const Tensor as_output = net->table->weight.detach().clone().requires_grad_();
  linear(net->inner(embedding(as_table, input)).tanh(), as_output).pow(2).sum().backward();
  CHECK(allclose(grad, as_table.grad() + as_output.grad(), 1e-12, 1e-12));

  net->zero_grad();
  const Tensor loss = net->forward(input).sum();
  const int64_t before = memory::category_bytes(memory::Category::gradient);
  loss.backward();
  CHECK(memory::category_bytes(memory::Category::gradient) - before ==
        bytes(kWords * kWidth, 8) + bytes(kWidth * kWidth, 8) + bytes(kWidth, 8));
}

TEST_CASE("A tied weight stays tied when the module moves, is cloned, or gets other values") {
  const auto net = std::make_shared<TwiceImpl>();
  const auto moved = measure([&] { net->to(kDouble); });
  CHECK(moved.net_bytes == bytes(kWords * kWidth, 8) - bytes(kWords * kWidth));
  CHECK(net->out.is_same(net->table->weight));
  CHECK(net->out.scalar_type() == kDouble);
  {
    const NoGradGuard no_grad;
    for (Tensor& parameter : net->parameters()) parameter.fill_(0.5);
  }
  CHECK(net->out.sum().item<double>() == 0.5 * kWords * kWidth);

  const auto tied = std::make_shared<TiedImpl>();
  const auto copy = std::dynamic_pointer_cast<TiedImpl>(tied->clone());
  CHECK(copy->parameters().size() == 3);
  CHECK_FALSE(copy->table->weight.is_alias_of(tied->table->weight));
  CHECK(equal(copy->forward(words()), tied->forward(words())));

  const auto shared = std::make_shared<SharedLayerImpl>();
  const auto twin = std::dynamic_pointer_cast<SharedLayerImpl>(shared->clone());
  CHECK(twin->parameters().size() == 2);
  CHECK(twin->first.ptr() == twin->second.ptr());
}

TEST_CASE("A clone that would untie a weight is an error that says what to do") {
  const auto net = std::make_shared<TwiceImpl>();
  CHECK_THROWS_WITH(net->clone(), ContainsSubstring("'out'") &&
                                      ContainsSubstring("'table.weight'") &&
                                      ContainsSubstring("one parameter"));
}

TEST_CASE("Under autocast a tied weight is cast once, and its gradient is the sum in float32") {
  const auto net = std::make_shared<SharedLayerImpl>();
  const Tensor x = rand({kRows, kWidth});
  const Device device = get_default_device();
  Tensor y;
  {
    const amp::AutocastGuard autocast(device.type(), kBFloat16);
    y = net->forward(x);
    const auto again = measure([&] { return net->forward(x); });
    // The input's cast, two results of the layer, and one of relu: no weight is cast again.
    CHECK(again.net_bytes <= 4 * bytes(kRows * kWidth, 2));
  }
  y.to(kFloat).sum().backward();
  CHECK(net->first->weight.grad().scalar_type() == kFloat);
  const Tensor half = net->first->weight.grad().clone();
  net->zero_grad();
  net->forward(x).sum().backward();
  const Tensor exact = net->first->weight.grad();
  CHECK(((half - exact).norm() / exact.norm()).item<float>() < 0x1p-6);  // a few roundings of 2^-8
}
