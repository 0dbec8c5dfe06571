#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include <thread>
#include <vector>

#include "catch.h"

// Checkpoint regions together with the other techniques.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 32;
constexpr int64_t kWidth = 64;

Tensor numbers(IntArrayRef sizes, uint64_t seed = 5) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return randn(sizes);
}

nn::Sequential block() {
  manual_seed(3);
  return nn::Sequential(nn::Linear(kWidth, kWidth), nn::GELU(), nn::Dropout(0.3),
                        nn::Linear(kWidth, kWidth), nn::Tanh());
}

Tensor run_block(const nn::Sequential& net, const Tensor& x) {
  return nn::Sequential(net)->forward(x);
}

struct Run {
  Tensor loss;
  std::vector<Tensor> grads;
};

/// A loss and its gradients; `forward(x)` is called in a scope that `guard()` makes.
template <typename Forward, typename Guard>
Run train(nn::Sequential net, Forward&& forward, Guard&& guard) {
  manual_seed(17);
  net->zero_grad();
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  Tensor y;
  {
    [[maybe_unused]] const auto scope = guard();
    y = forward(x);
  }
  const Tensor loss = y.to(kFloat).square().mean();
  loss.backward();
  Run run{loss.detach(), {x.grad()}};
  for (const Tensor& p : net->parameters()) run.grads.push_back(p.grad());
  return run;
}

void check_same(const Run& a, const Run& b) {
  CHECK(equal(a.loss, b.loss));
  REQUIRE(a.grads.size() == b.grads.size());
  for (size_t i = 0; i < a.grads.size(); ++i) CHECK(equal(a.grads[i], b.grads[i]));
}

/// Two blocks in a row, each a region or not.
auto twice(const nn::Sequential& net, bool regions) {
  return [net, regions](const Tensor& x) {
    const auto forward = [net](const Tensor& in) { return run_block(net, in); };
    return regions ? checkpoint(forward, checkpoint(forward, x)) : forward(forward(x));
  };
}

struct Nothing {};

template <typename Guard>
void check_under(Guard&& guard) {
  const nn::Sequential net = block();
  check_same(train(net, twice(net, false), guard), train(net, twice(net, true), guard));
}

}  // namespace

TEST_CASE("Regions under autocast: the bits of the plain run, though backward is outside of it") {
  const DeviceType type = get_default_device().type();
  const nn::Sequential net = block();
  // One region: where two share a weight each has a cast of its own, whose gradients are added in
  // float32 and not in the low dtype.
  const auto forward = [net](const Tensor& x) { return run_block(net, x); };
  const auto region = [&](const Tensor& x) { return checkpoint(forward, x); };
  for (const ScalarType dtype : {kBFloat16, kHalf}) {
    const auto guard = [&] { return std::make_unique<amp::AutocastGuard>(type, dtype); };
    check_same(train(net, forward, guard), train(net, region, guard));
  }
  // Inside the region: the second run enters it anew.
  const auto inside = [net, type](const Tensor& x) {
    const amp::AutocastGuard guard(type, kBFloat16);
    return run_block(net, x);
  };
  check_same(train(net, inside, [] { return Nothing(); }),
             train(net, [&](const Tensor& x) { return checkpoint(inside, x); },
                   [] { return Nothing(); }));
}

TEST_CASE("Two regions that share a weight under autocast save as many tensors in both runs") {
  const nn::Linear layer(kWidth, kWidth);
  const DeviceType type = get_default_device().type();
  const auto forward = [layer](const Tensor& x) { return nn::Linear(layer)->forward(x).relu(); };
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  Tensor y;
  {
    const amp::AutocastGuard guard(type, kBFloat16);
    y = checkpoint(forward, checkpoint(forward, x));
    y = y + nn::Linear(layer)->forward(x);  // with the cast of the outer scope
  }
  CHECK_NOTHROW(y.sum().backward());
  CHECK(layer->weight.grad().scalar_type() == kFloat);
}

TEST_CASE("Regions with what they save rounded, inside and outside") {
  const nn::Sequential net = block();
  const auto save = [] { return std::make_unique<SaveAs>(kBFloat16, SaveAsOptions{.min_bytes = 0}); };
  // Outside only the inputs of the regions are rounded, so that the second run starts from others.
  const Run outside = train(net, twice(net, true), save);
  const Run plain = train(net, twice(net, false), [] { return Nothing(); });
  for (size_t i = 0; i < plain.grads.size(); ++i) {
    CHECK(allclose(outside.grads[i], plain.grads[i], 0.1, 1e-3));
  }
  const auto inside = [net, save](const Tensor& x) {
    const auto scope = save();
    return run_block(net, x);
  };
  const auto none = [] { return Nothing(); };
  const Run rounded = train(net, inside, none);
  check_same(rounded, train(net, [&](const Tensor& x) { return checkpoint(inside, x); }, none));
}

TEST_CASE("Regions whose inputs are kept in the host's memory") {
  check_under([] { return std::make_unique<SaveOnCpu>(SaveOnCpuOptions{.min_bytes = 0}); });
  const nn::Sequential net = block();
  const auto inside = [net](const Tensor& x) {
    const SaveOnCpu scope(SaveOnCpuOptions{.min_bytes = 0});
    return run_block(net, x);
  };
  const auto none = [] { return Nothing(); };
  check_same(train(net, inside, none),
             train(net, [&](const Tensor& x) { return checkpoint(inside, x); }, none));
  if (get_default_device().is_cpu()) return;
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  Tensor y;
  const auto run = measure([&] {
    const SaveOnCpu scope(SaveOnCpuOptions{.min_bytes = 0});
    y = twice(net, true)(x * 1);
  });
  cuda::synchronize();
  CHECK(run.net_bytes == kRows * kWidth * 4);  // the result
}

TEST_CASE("batch_norm counts a batch once, in a region too") {
  const auto train = [](bool region) {
    manual_seed(2);
    nn::Sequential net(nn::Linear(8, 8), nn::BatchNorm1d(8), nn::ReLU());
    const auto forward = [net](const Tensor& x) { return run_block(net, x); };
    for (int i = 0; i < 3; ++i) {
      const Tensor x = numbers({16, 8}, static_cast<uint64_t>(i)).requires_grad_();
      (region ? checkpoint(forward, x) : forward(x)).square().sum().backward();
    }
    return net;
  };
  nn::Sequential plain = train(false);
  nn::Sequential region = train(true);
  const auto buffers = plain->buffers();
  REQUIRE(buffers.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(equal(buffers[i], region->buffers()[i]));
  for (size_t i = 0; i < plain->parameters().size(); ++i) {
    CHECK(equal(plain->parameters()[i].grad(), region->parameters()[i].grad()));
  }
}

TEST_CASE("A Function in a region, and a saved tensor that it reads twice") {
  struct TwiceRead : autograd::Function<TwiceRead> {
    static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
      context->save_for_backward({x});
      return x.square();
    }
    static autograd::variable_list backward(autograd::AutogradContext* context,
                                            autograd::variable_list grads) {
      const Tensor a = context->get_saved_variables()[0];
      const Tensor b = context->get_saved_variables()[0];
      return {grads[0] * (a + b)};
    }
  };
  const auto run = [](const Tensor& x) { return TwiceRead::apply(x.sin()).exp(); };
  const Tensor x = numbers({kRows}).requires_grad_();
  CHECK(equal(autograd::grad({run(x).sum()}, {x})[0],
              autograd::grad({checkpoint(run, x).sum()}, {x})[0]));
}

TEST_CASE("The optimizer steps in backward while regions run again") {
  const auto train = [](bool regions) {
    nn::Sequential net = block();
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
    const auto handle = optim::step_in_backward(optimizer);
    for (int step = 0; step < 3; ++step) {
      manual_seed(static_cast<uint64_t>(step));
      const auto forward = [net](const Tensor& in) { return run_block(net, in); };
      const Tensor x = numbers({kRows, kWidth});
      (regions ? checkpoint(forward, x) : forward(x)).square().mean().backward();
    }
    std::vector<Tensor> values;
    for (const Tensor& p : net->parameters()) values.push_back(p.detach().clone());
    return values;
  };
  const auto plain = train(false);
  const auto regions = train(true);
  for (size_t i = 0; i < plain.size(); ++i) CHECK(equal(plain[i], regions[i]));
}

TEST_CASE("Threads run backward through regions of one graph", "[threads]") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor y = checkpoint([](const Tensor& in) { return in.exp().sin().tanh(); }, x).sum();
  const Tensor expected = autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0];
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        right[t] += equal(autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0], expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 5));
}

TEST_CASE("For every n, the n-th allocation of a step with regions fails without a trace") {
  nn::Sequential net = block();
  const DeviceType type = get_default_device().type();
  const auto step = [&] {
    net->zero_grad();
    const Tensor x = numbers({kRows, kWidth});
    Tensor y;
    {
      const amp::AutocastGuard guard(type, kBFloat16);
      y = twice(net, true)(x);
    }
    y.to(kFloat).sum().backward();
  };
  step();
  net->zero_grad();
  const int64_t before = memory::memory_allocated();
  int64_t failures = 0;
  for (int64_t n = 1;; ++n) {
    INFO("request " << n);
    testing::fail_allocation(n);
    bool failed = false;
    try {
      step();
    } catch (const OutOfMemoryError&) {
      failed = true;
    }
    testing::fail_allocation(0);
    net->zero_grad();
    CHECK(memory::memory_allocated() == before);
    CHECK_FALSE(autograd::is_recomputing());
    if (!failed) break;
    ++failures;
  }
  CHECK(failures > 30);
  CHECK_NOTHROW(step());
}
