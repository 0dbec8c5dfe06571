#include <ebb/ebb.h>
#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

#include <optional>
#include <vector>

#include "catch.h"

// Checkpoint regions: what they hold, that the bits of the gradients are those of the plain run,
// and what they work together with.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 128;
constexpr int64_t kActivation = kRows * kWidth * 4;

Tensor numbers(IntArrayRef sizes, uint64_t seed = 5) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return randn(sizes);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

/// Linear, GELU, dropout, Linear.
nn::Sequential block(uint64_t seed = 3) {
  manual_seed(seed);
  return nn::Sequential(nn::Linear(kWidth, kWidth), nn::GELU(), nn::Dropout(0.3),
                        nn::Linear(kWidth, kWidth), nn::Tanh());
}

struct Gradients {
  Tensor loss;
  std::vector<Tensor> all;
};

/// The gradients of the input and of the parameters; `run` maps the input to a tensor.
template <typename Run>
Gradients gradients_of(nn::Sequential net, Run&& run) {
  manual_seed(17);
  net->zero_grad();
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor loss = run(x).square().mean();
  loss.backward();
  Gradients found{loss.detach(), {x.grad()}};
  for (const Tensor& p : net->parameters()) found.all.push_back(p.grad());
  return found;
}

void check_same(const Gradients& a, const Gradients& b) {
  CHECK(same_bits(a.loss, b.loss));
  REQUIRE(a.all.size() == b.all.size());
  for (size_t i = 0; i < a.all.size(); ++i) CHECK(same_bits(a.all[i], b.all[i]));
}

template <typename Run>
std::string error_of(Run&& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A region's gradients have the bits of the plain run, with dropout") {
  const nn::Sequential net = block();
  auto forward = [net](const Tensor& x) { return nn::Sequential(net)->forward(x); };
  check_same(gradients_of(net, forward),
             gradients_of(net, [&](const Tensor& x) { return checkpoint(forward, x); }));
}

TEST_CASE("A region holds its input and its result, and backward holds one activation at a time") {
  const nn::Sequential net = block();
  const auto forward = [net](const Tensor& x) { return nn::Sequential(net)->forward(x); };
  const Tensor x = numbers({kRows, kWidth});
  Tensor plain;
  Tensor region;
  const auto plain_run = measure([&] { plain = forward(x); });
  const auto region_run = measure([&] { region = checkpoint(forward, x); });
  // What GELU and the second Linear were given, and the result, against the result alone.
  CHECK(plain_run.net_bytes == 3 * kActivation);
  CHECK(region_run.net_bytes == kActivation);
  plain = Tensor();
  const int64_t before = memory::memory_allocated();
  region.sum().backward();
  int64_t gradients = 0;
  for (const Tensor& p : net->parameters()) {
    gradients += static_cast<int64_t>(memory::rounded(p.grad().nbytes()));
  }
  CHECK(memory::memory_allocated() == before + gradients);
  region = Tensor();
  CHECK(memory::memory_allocated() == before + gradients - kActivation);
}

TEST_CASE("Regions may be nested") {
  const nn::Sequential net = block();
  const auto inner = [net](const Tensor& x) { return nn::Sequential(net)->forward(x); };
  const auto outer = [inner](const Tensor& x) {
    return checkpoint(inner, (checkpoint(inner, x) * 2).sin()).cos();
  };
  const auto plain = [inner](const Tensor& x) { return inner((inner(x) * 2).sin()).cos(); };
  check_same(gradients_of(net, plain),
             gradients_of(net, [&](const Tensor& x) { return checkpoint(outer, x); }));
}

TEST_CASE("A region takes and gives any tensors") {
  const Tensor a = numbers({8}, 1).requires_grad_();
  const Tensor b = numbers({8}, 2);
  const std::vector<Tensor> more = {numbers({8}, 3).requires_grad_(), numbers({8}, 4)};
  const auto run = [](const Tensor& x, const Tensor& y, double factor,
                      const std::vector<Tensor>& rest) {
    return std::tuple(x.sin() * y * factor, std::vector<Tensor>{rest[0].exp() * rest[1], x * 2});
  };
  const auto total = [](const std::tuple<Tensor, std::vector<Tensor>>& results) {
    return (std::get<0>(results) + std::get<1>(results)[0] * std::get<1>(results)[1]).sum();
  };
  const auto plain = autograd::grad({total(run(a, b, 3.0, more))}, {a, more[0]});
  const auto region = autograd::grad({total(checkpoint(run, a, b, 3.0, more))}, {a, more[0]});
  CHECK(same_bits(plain[0], region[0]));
  CHECK(same_bits(plain[1], region[1]));
}

TEST_CASE("A region whose input needs no gradient trains its parameters") {
  nn::Sequential net = block();
  const auto forward = [net](const Tensor& x) { return nn::Sequential(net)->forward(x); };
  const auto train = [&](bool region) {
    manual_seed(1);
    net->zero_grad();
    const Tensor x = numbers({kRows, kWidth});
    (region ? checkpoint(forward, x) : forward(x)).sum().backward();
    return net->parameters()[0].grad().clone();
  };
  CHECK(same_bits(train(false), train(true)));
}

TEST_CASE("create_graph, retain_graph and double backward run through regions") {
  const auto run = [](const std::vector<Tensor>& in) {
    return checkpoint([](const Tensor& a, const Tensor& b) { return (a * b).tanh() * a.exp(); },
                      in[0], in[1]);
  };
  const auto leaf = [](uint64_t seed) {
    const GeneratorGuard guard(Generator(get_default_device(), seed));
    return randn({5}, kDouble).requires_grad_();
  };
  CHECK(testing::gradcheck(run, {leaf(1), leaf(2)}));
  CHECK(testing::gradgradcheck(run, {leaf(1), leaf(2)}));

  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor y = checkpoint([](const Tensor& in) { return in.exp().sin().tanh(); }, x).sum();
  const int64_t before = memory::memory_allocated();
  const Tensor first = autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0];
  CHECK(memory::memory_allocated() == before + kActivation);  // the gradient: nothing stays
  const Tensor second = autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0];
  CHECK(memory::memory_allocated() == before + 2 * kActivation);
  CHECK(same_bits(first, second));
  CHECK(same_bits(first, autograd::grad({y}, {x})[0]));
}

TEST_CASE("The second run stops at the last tensor that is needed, unless it may not") {
  for (const bool early_stop : {true, false}) {
    int calls = 0;
    int ends = 0;
    const auto run = [&](const Tensor& x) {
      ++calls;
      const Tensor y = x.exp() + 1;
      ++ends;
      return y;
    };
    const Tensor x = numbers({8}).requires_grad_();
    checkpoint(CheckpointOptions{.early_stop = early_stop}, run, x).sum().backward();
    CHECK(calls == 2);
    CHECK(ends == (early_stop ? 1 : 2));
  }
}

TEST_CASE("Backward runs a region once, and not at all if nothing in it is needed") {
  int calls = 0;
  const auto run = [&](const Tensor& x) {
    ++calls;
    return x.exp().sin().cos();
  };
  const Tensor x = numbers({8}).requires_grad_();
  checkpoint(run, x).sum().backward();
  CHECK(calls == 2);
  const Tensor linear = checkpoint(
      [&](const Tensor& in) {
        ++calls;
        return in + 1;
      },
      x);
  linear.sum().backward();
  CHECK(calls == 3);
  {
    const NoGradGuard no_grad;
    checkpoint(run, x);
  }
  CHECK(calls == 4);
}

TEST_CASE("A region that is never used for backward leaves nothing") {
  const auto run = measure([] {
    const Tensor x = numbers({kRows, kWidth}).requires_grad_();
    const Tensor y = checkpoint([](const Tensor& in) { return in.exp().sin(); }, x);
  });
  CHECK(run.net_bytes == 0);
}

TEST_CASE("Writes in place inside a region are allowed where they are without one") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto run = [](const Tensor& in) {
    Tensor y = in * 2;
    y.add_(in).mul_(in);
    y.relu_();
    return y.sin();
  };
  CHECK(same_bits(autograd::grad({run(x).sum()}, {x})[0],
                  autograd::grad({checkpoint(run, x).sum()}, {x})[0]));
  const auto wrong = [](const Tensor& in) {
    Tensor y = in.exp();
    y.mul_(2);
    return y.sin();
  };
  for (const bool early_stop : {true, false}) {
    const Tensor y = checkpoint(CheckpointOptions{.early_stop = early_stop}, wrong, x);
    CHECK_THAT(error_of([&] { y.sum().backward(); }),
               ContainsSubstring("modified by an inplace operation"));
  }
}

TEST_CASE("A write to an argument or to a parameter between the runs is noticed") {
  const Tensor x = numbers({8});
  const Tensor w = numbers({8}, 2).requires_grad_();
  const Tensor y = checkpoint([w](const Tensor& in) { return (in * w).sin(); }, x);
  x.add_(1);
  CHECK_THAT(error_of([&] { y.sum().backward(); }),
             ContainsSubstring("modified by an inplace operation"));

  const nn::Linear layer(4, 4);
  const Tensor z =
      checkpoint([layer](const Tensor& in) { return nn::Linear(layer)->forward(in).sin(); },
                 numbers({3, 4}).requires_grad_());
  {
    const NoGradGuard no_grad;
    layer->weight.add_(1);
  }
  CHECK_THAT(error_of([&] { z.sum().backward(); }),
             ContainsSubstring("modified by an inplace operation"));
}

TEST_CASE("A recomputation that differs is an error that says how") {
  int calls = 0;
  const Tensor x = numbers({8}).requires_grad_();
  const auto wrong = [&](auto run) {
    calls = 0;
    const Tensor y = checkpoint([&, run](const Tensor& in) { return run(in, ++calls > 1); }, x);
    return error_of([&] { y.sum().backward(); });
  };
  CHECK_THAT(wrong([](const Tensor& in, bool again) { return again ? in.exp() : in.sin(); }),
             ContainsSubstring("saved tensor 0") && ContainsSubstring("sin saved Float[8]") &&
                 ContainsSubstring("exp saved Float[8]") &&
                 ContainsSubstring("the same in both runs"));
  CHECK_THAT(wrong([](const Tensor& in, bool again) {
               return again ? in.narrow(0, 0, 4).sin().sum() : in.sin().sum();
             }),
             ContainsSubstring("sin saved Float[8]") && ContainsSubstring("sin saved Float[4]"));
  CHECK_THAT(wrong([](const Tensor& in, bool again) { return again ? in * 1 : in.sin(); }),
             ContainsSubstring("saved 0 tensors, the first run 1"));
}

TEST_CASE("An exception in the recomputation passes, and the next attempt works") {
  bool fails = false;
  const Tensor x = numbers({8}).requires_grad_();
  const auto run = [&](const Tensor& in) {
    const Tensor y = in.exp();
    if (fails) throw std::runtime_error("not now");
    return y.sin().cos();
  };
  const Tensor y = checkpoint(run, x).sum();
  fails = true;
  const int64_t before = memory::memory_allocated();
  CHECK_THROWS_WITH(autograd::grad({y}, {x}, {}, /*retain_graph=*/true), "not now");
  CHECK(memory::memory_allocated() == before);
  CHECK_FALSE(autograd::is_recomputing());
  CHECK(GradMode::is_enabled());
  fails = false;
  CHECK(same_bits(autograd::grad({y}, {x})[0], autograd::grad({run(x).sum()}, {x})[0]));
}
