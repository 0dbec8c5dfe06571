// The optimizer's step within backward: each gradient is used up as soon as it is complete.

#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include <memory>
#include <thread>
#include <vector>

#include "bytes/networks.h"
#include "catch.h"

namespace {

namespace nn = ebb::nn;
namespace optim = ebb::optim;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::memory::memory_allocated;
using ebb::testing::measure;
using Make = std::unique_ptr<optim::Optimizer> (*)(std::vector<Tensor>);

template <typename Optimizer, typename Options>
std::unique_ptr<optim::Optimizer> make(std::vector<Tensor> parameters, const Options& options) {
  return std::make_unique<Optimizer>(std::move(parameters), options);
}

constexpr Make kOptimizers[] = {
    [](std::vector<Tensor> p) { return make<optim::SGD>(p, optim::SGDOptions(0.1)); },
    [](std::vector<Tensor> p) {
      return make<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
    },
    [](std::vector<Tensor> p) { return make<optim::Adam>(p, optim::AdamOptions(0.01)); },
    [](std::vector<Tensor> p) { return make<optim::AdamW>(p, optim::AdamWOptions(0.01)); },
    [](std::vector<Tensor> p) { return make<optim::Adam8bit>(p, optim::Adam8bitOptions(0.01)); },
    [](std::vector<Tensor> p) { return make<optim::Adafactor>(p, optim::AdafactorOptions()); },
};

nn::Sequential chain() {
  ebb::manual_seed(4);
  return bytes::chain();
}

bool same_parameters(const nn::Sequential& a, const nn::Sequential& b) {
  const auto p = a->parameters();
  const auto q = b->parameters();
  for (size_t i = 0; i < p.size(); ++i) {
    if (!p[i].equal(q[i])) return false;
  }
  return p.size() == q.size();
}

bool has_gradients(const nn::Sequential& net) {
  for (const Tensor& p : net->parameters()) {
    if (p.grad().defined()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("training with steps in backward is bit for bit backward and step") {
  for (const Make optimizer_for : kOptimizers) {
    auto net = chain();
    auto twin = chain();
    const auto plain = optimizer_for(net->parameters());
    const auto within = optimizer_for(twin->parameters());
    const auto steps = optim::step_in_backward(*within);
    for (int i = 0; i < 3; ++i) {
      const Tensor x = bytes::input();
      plain->zero_grad();
      net->forward(x).square().mean().backward();
      plain->step();
      twin->forward(x).square().mean().backward();
      CHECK_FALSE(has_gradients(twin));
      CHECK(same_parameters(net, twin));
    }
    CHECK(within->size() == plain->size());
    CHECK(within->state().size() == plain->state().size());
  }
}

TEST_CASE("the gradients of one layer at most are live, however deep the network") {
  const int64_t one_layer = bytes::weight_bytes() + bytes::bias_bytes();
  for (const int layers : {2, 5, 9}) {
    auto net = bytes::chain(layers);
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
    const Tensor x = bytes::input();
    const auto backward = [&] {
      const Tensor loss = net->forward(x).square().sum();
      const auto used = measure([&] { loss.backward(); });
      optimizer.zero_grad();
      return used;
    };
    const int64_t saved = layers * bytes::activation_bytes();
    const auto plain = backward();
    CHECK(plain.net_bytes == bytes::gradient_bytes(layers) - saved);
    const auto steps = optim::step_in_backward(optimizer);
    const auto within = backward();
    CHECK(within.net_bytes == -saved);
    // Above what the forward left: a layer's gradients beside that of its input.
    CHECK(within.peak_bytes == one_layer + bytes::activation_bytes());
  }
}

TEST_CASE("a parameter with several uses is stepped once, with the sum") {
  ebb::manual_seed(5);
  const Tensor x = ebb::randn({8, 8});
  const auto train = [&](bool within) {
    const Tensor w = (ebb::ones({8, 8}) / 8).requires_grad_();
    optim::Adam optimizer({w}, optim::AdamOptions(0.01));
    const auto loss = [&] { return x.matmul(w).tanh().matmul(w).matmul(w.t()).square().mean(); };
    if (within) {
      const auto steps = optim::step_in_backward(optimizer);
      loss().backward();
    } else {
      loss().backward();
      optimizer.step();
    }
    const auto& state = static_cast<const optim::AdamParamState&>(
        *optimizer.state().at(w.unsafeGetTensorImpl()));
    CHECK(state.step() == 1);
    return w.detach();
  };
  CHECK(train(true).equal(train(false)));
}

TEST_CASE("parameters in groups keep the options of their group") {
  const Tensor a = ebb::ones({3}).requires_grad_();
  const Tensor b = ebb::ones({3}).requires_grad_();
  optim::SGD optimizer({a}, optim::SGDOptions(0.5));
  optimizer.add_param_group(
      optim::OptimizerParamGroup({b}, std::make_unique<optim::SGDOptions>(0.25)));
  const auto steps = optim::step_in_backward(optimizer);
  (a + b).sum().backward();
  CHECK(a.equal(ebb::full({3}, 0.5)));
  CHECK(b.equal(ebb::full({3}, 0.75)));
  CHECK(optimizer.param_groups()[0].params().size() == 1);
  CHECK(optimizer.param_groups()[1].params().size() == 1);
}

TEST_CASE("under accumulate() backwards only add up, and the one after it steps with the sum") {
  ebb::manual_seed(6);
  auto net = chain();
  auto twin = chain();
  optim::Adam plain(net->parameters(), optim::AdamOptions(0.01));
  optim::Adam within(twin->parameters(), optim::AdamOptions(0.01));
  const auto steps = optim::step_in_backward(within);
  const Tensor x = bytes::input();
  for (const auto& part : ebb::accumulate_to(bytes::kBatch, 32)) {
    net->forward(part.of(x)).sum().backward();
    std::shared_ptr<void> accumulate;
    if (!part.is_last()) accumulate = steps.accumulate();
    twin->forward(part.of(x)).sum().backward();
    CHECK(has_gradients(twin) != part.is_last());
  }
  plain.step();
  CHECK(same_parameters(net, twin));
}

TEST_CASE("gradients of an earlier backward are refused, and the error says how to accumulate") {
  const Tensor w = ebb::ones({2, 3}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.5));
  w.sum().backward();
  CHECK_THROWS_WITH(optim::step_in_backward(optimizer),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("accumulate()"));
  optimizer.step();
  optimizer.zero_grad();
  CHECK_NOTHROW(optim::step_in_backward(optimizer));
}

TEST_CASE("create_graph is refused, and GradScaler finds out") {
  const Tensor w = ebb::ones({3}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.5));
  const auto steps = optim::step_in_backward(optimizer);
  CHECK_THROWS_WITH((w * w).sum().backward({}, true, true), ContainsSubstring("create_graph"));
  CHECK(w.equal(ebb::ones({3})));
  optimizer.zero_grad();
  ebb::amp::GradScaler scaler;
  scaler.scale((w * w).sum()).backward();
  CHECK_THROWS_AS(scaler.step(optimizer), ebb::Error);
}

TEST_CASE("a graph that is run again after its parameters changed is an error, not a wrong number") {
  const Tensor w = ebb::ones({3}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.5));
  const auto steps = optim::step_in_backward(optimizer);
  const Tensor loss = (w * w).sum();
  loss.backward({}, true);
  CHECK_THROWS_WITH(loss.backward(), ContainsSubstring("version"));
}

TEST_CASE("without its handle backward accumulates as ever") {
  const Tensor w = ebb::ones({3}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.5));
  auto steps = optim::step_in_backward(optimizer);
  auto moved = std::move(steps);
  w.sum().backward();
  CHECK(w.equal(ebb::full({3}, 0.5)));
  moved.remove();
  w.sum().backward();
  CHECK(w.equal(ebb::full({3}, 0.5)));
  CHECK(w.grad().equal(ebb::ones({3})));
  w.mutable_grad().reset();
  { const auto again = optim::step_in_backward(optimizer); }
  w.sum().backward();
  CHECK(w.grad().defined());
  // Parameters without gradients, and step() by hand, change nothing.
  w.mutable_grad().reset();
  const auto last = optim::step_in_backward(optimizer);
  optimizer.step();
  CHECK(w.equal(ebb::full({3}, 0.5)));
}

TEST_CASE("the handle frees its parameters with the optimizer") {
  const auto before = memory_allocated();
  {
    auto net = chain();
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
    const auto steps = optim::step_in_backward(optimizer);
    net->forward(bytes::input()).sum().backward();
  }
  CHECK(memory_allocated() == before);
}

TEST_CASE("after an allocation fails anywhere each parameter was stepped or is as it was") {
  auto expected = chain();
  optim::Adam reference(expected->parameters(), optim::AdamOptions(0.01));
  const Tensor x = bytes::input();
  expected->forward(x).sum().backward();
  reference.step();
  const auto after = expected->parameters();
  const auto before = chain()->parameters();
  int failures = 0;
  for (int n = 1;; ++n) {
    auto net = chain();
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
    const auto steps = optim::step_in_backward(optimizer);
    const Tensor loss = net->forward(x).sum();
    ebb::testing::FailAllocation failure(n);
    try {
      loss.backward();
      if (!failure.fired()) break;
    } catch (const ebb::OutOfMemoryError&) {
      ++failures;
    }
    failure.clear();
    CHECK(optimizer.size() == after.size());
    const auto now = net->parameters();
    for (size_t i = 0; i < now.size(); ++i) {
      const bool stepped = optimizer.state().count(now[i].unsafeGetTensorImpl()) != 0;
      CHECK(now[i].equal(stepped ? after[i] : before[i]));
    }
    optimizer.zero_grad();
    net->forward(x).sum().backward();
    CHECK_FALSE(has_gradients(net));
  }
  CHECK(failures > 20);
}

TEST_CASE("an exception in the middle leaves the steps so far, and the optimizer whole") {
  const Tensor a = ebb::ones({2}).requires_grad_();
  const Tensor b = ebb::ones({2}).requires_grad_();
  optim::SGD optimizer({a, b}, optim::SGDOptions(0.5));
  const auto steps = optim::step_in_backward(optimizer);
  const unsigned hook = a.register_hook([](const Tensor&) { throw std::runtime_error("stop"); });
  CHECK_THROWS_WITH(((a * 2).exp() + b).sum().backward(), ContainsSubstring("stop"));
  CHECK(a.equal(ebb::ones({2})));
  CHECK(b.equal(ebb::full({2}, 0.5)));
  CHECK(optimizer.parameters().size() == 2);
  a.remove_hook(hook);
  a.sum().backward();
  CHECK(a.equal(ebb::full({2}, 0.5)));
}

TEST_CASE("several threads may run backward at once", "[threads]") {
  constexpr int kThreads = 4;
  std::vector<Tensor> parameters;
  for (int i = 0; i < kThreads; ++i) parameters.push_back(ebb::zeros({64}).requires_grad_());
  optim::SGD optimizer(parameters, optim::SGDOptions(1));
  const auto steps = optim::step_in_backward(optimizer);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([p = parameters[static_cast<size_t>(i)]] {
      for (int k = 0; k < 25; ++k) p.sum().backward();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Tensor& p : parameters) CHECK(p.equal(ebb::full({64}, -25.0)));
}
