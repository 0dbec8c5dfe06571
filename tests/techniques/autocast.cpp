// Autocast: which ops cast what, and how long the casts of weights live.

#include <array>
#include <thread>
#include <vector>

#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include "catch.h"

using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::amp::AutocastGuard;
using ebb::amp::AutocastState;
using ebb::amp::AutocastStateGuard;
using ebb::memory::memory_allocated;
using ebb::memory::rounded;
using ebb::testing::measure;

namespace {

ebb::DeviceType here() { return ebb::get_default_device().type(); }
ebb::DeviceType elsewhere() { return here() == ebb::kCPU ? ebb::kCUDA : ebb::kCPU; }

/// A parameter of n * n elements and its bytes, whole and as a cast.
constexpr int64_t kSide = 64;
constexpr int64_t kBytes = kSide * kSide * 4;
constexpr int64_t kCastBytes = kBytes / 2;
Tensor weight() { return (ebb::randn({kSide, kSide}) / 8).requires_grad_(); }
Tensor input() { return ebb::randn({kSide, kSide}); }

bool same(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.equal(b);
}

}  // namespace

TEST_CASE("A guard casts for its device type until it ends, and an inner one makes an island") {
  const auto x = input(), w = weight();
  CHECK(ebb::mm(x, w).scalar_type() == ebb::kFloat);
  {
    const AutocastGuard outer(here(), ebb::kHalf);
    CHECK(ebb::mm(x, w).scalar_type() == ebb::kHalf);
    {
      const AutocastGuard other(here(), ebb::kBFloat16);
      CHECK(ebb::mm(x, w).scalar_type() == ebb::kBFloat16);
    }
    {
      const AutocastGuard island(here(), ebb::kBFloat16, /*enabled=*/false);
      CHECK(ebb::mm(x, w).scalar_type() == ebb::kFloat);
      CHECK_FALSE(ebb::autocast::is_autocast_enabled(here()));
    }
    CHECK(ebb::mm(x, w).scalar_type() == ebb::kHalf);
    CHECK(ebb::linear(x, w).scalar_type() == ebb::kHalf);
  }
  CHECK(ebb::mm(x, w).scalar_type() == ebb::kFloat);
  CHECK_FALSE(ebb::autocast::is_autocast_enabled(here()));
}

TEST_CASE("A guard for one device type leaves tensors of the other alone") {
  const AutocastGuard guard(elsewhere());
  CHECK(ebb::mm(input(), weight()).scalar_type() == ebb::kFloat);
}

TEST_CASE("The default dtype is float16 on CUDA and bfloat16 on the CPU") {
  CHECK(ebb::autocast::get_autocast_dtype(ebb::kCUDA) == ebb::kHalf);
  CHECK(ebb::autocast::get_autocast_dtype(ebb::kCPU) == ebb::kBFloat16);
  const AutocastGuard guard(here());
  CHECK(ebb::mm(input(), weight()).scalar_type() ==
        (here() == ebb::kCPU ? ebb::kBFloat16 : ebb::kHalf));
}

TEST_CASE("Autocast to another dtype is an error that changes nothing") {
  for (const auto dtype : {ebb::kFloat, ebb::kDouble, ebb::kInt}) {
    CHECK_THROWS_WITH(AutocastGuard(here(), dtype), ContainsSubstring("kHalf or kBFloat16"));
    CHECK_THROWS_AS(ebb::autocast::set_autocast_dtype(here(), dtype), ebb::Error);
  }
  CHECK(ebb::mm(input(), weight()).scalar_type() == ebb::kFloat);
}

TEST_CASE("Float64 and integers are not cast") {
  const AutocastGuard guard(here());
  const auto x = input().to(ebb::kDouble);
  CHECK(ebb::mm(x, x).scalar_type() == ebb::kDouble);
  CHECK(ebb::mse_loss(x, x).scalar_type() == ebb::kDouble);
  CHECK(x.sum().scalar_type() == ebb::kDouble);
  CHECK(ebb::ones({2}, ebb::kInt).sum().scalar_type() == ebb::kLong);
}

TEST_CASE("A dtype that the caller names wins") {
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto x = input().to(ebb::kHalf);
  CHECK(x.softmax(1, ebb::kDouble).scalar_type() == ebb::kDouble);
  CHECK(x.sum(ebb::kHalf).scalar_type() == ebb::kHalf);
}

TEST_CASE("An op in place is left alone") {
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto x = ebb::rand({4}, ebb::kHalf);
  CHECK(x.exp_().scalar_type() == ebb::kHalf);
  auto sum = ebb::zeros({kSide, kSide});
  CHECK(sum.addmm_(input(), input()).scalar_type() == ebb::kFloat);
}

TEST_CASE("An absent bias stays absent, a given one is cast") {
  const auto x = input(), w = weight();
  const auto b = ebb::randn({kSide}).requires_grad_();
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto plain = ebb::linear(x.to(ebb::kHalf), w.detach().to(ebb::kHalf));
  CHECK(same(ebb::linear(x, w).detach(), plain));
  ebb::linear(x, w, b).sum().backward();
  CHECK(b.grad().scalar_type() == ebb::kFloat);
  CHECK(b.grad().eq(double(kSide)).all().item<bool>());
}

TEST_CASE("What an op is made of sees the dtypes of the op, not a second cast") {
  // The mask wants a gradient, so attention is written out with public ops, in float32 inside.
  const auto q = ebb::randn({2, 8, 4}), mask = ebb::randn({8, 8}).requires_grad_();
  const auto attention = [&](ebb::ScalarType dtype) {
    const auto x = q.to(dtype);
    return ebb::scaled_dot_product_attention(x, x, x, mask.to(dtype));
  };
  const auto expected = attention(ebb::kBFloat16);
  const AutocastGuard guard(here(), ebb::kBFloat16);
  const auto got = attention(ebb::kFloat);
  CHECK(same(got.detach(), expected.detach()));
}

TEST_CASE("An error inside an op leaves autocast on, and the shapes in its message") {
  const AutocastGuard guard(here(), ebb::kHalf);
  CHECK_THROWS_WITH(ebb::mm(ebb::ones({2, 3}), ebb::ones({2, 3})), ContainsSubstring("mm"));
  CHECK(ebb::mm(input(), weight()).scalar_type() == ebb::kHalf);
}

TEST_CASE("Gradients have the dtype of their leaves, and are near those of float32") {
  const auto x = input(), w = weight();
  const auto run = [&] {
    w.mutable_grad().reset();
    ebb::mse_loss(ebb::linear(x, w).tanh(), x).backward();
    return w.grad().clone();
  };
  const auto exact = run();
  Tensor low;
  {
    const AutocastGuard guard(here(), ebb::kBFloat16);
    low = run();
  }
  CHECK(low.scalar_type() == ebb::kFloat);
  // Each number of the chain is rounded to 8 bits, and the errors of a sum average out.
  CHECK((low - exact).norm().item<double>() < 0.02 * exact.norm().item<double>());
  CHECK_FALSE(low.equal(exact));
}

TEST_CASE("Backward gives the same bits inside the guard and after it") {
  const auto x = input(), w = weight();
  const auto run = [&](bool inside) {
    w.mutable_grad().reset();
    Tensor loss;
    {
      const auto before = ebb::linear(x, w);  // in float32
      const AutocastGuard guard(here(), ebb::kHalf);
      loss = ebb::linear(before, w).exp().log().sum();
      if (inside) loss.backward();
    }
    if (!inside) loss.backward();
    return w.grad().clone();
  };
  CHECK(run(true).equal(run(false)));
}

TEST_CASE("A hook in backward may open a guard of its own") {
  const auto x = input(), w = weight();
  ebb::ScalarType dtype = ebb::ScalarType::Undefined;
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto y = ebb::linear(x, w);
  y.register_hook([&](const Tensor& grad) {
    CHECK(ebb::mm(x, x).scalar_type() == ebb::kFloat);
    const AutocastGuard inner(here(), ebb::kBFloat16);
    dtype = ebb::mm(x, w).scalar_type();
    return grad;
  });
  y.sum().backward();
  CHECK(dtype == ebb::kBFloat16);
  CHECK(ebb::mm(x, w).scalar_type() == ebb::kHalf);
}

TEST_CASE("A weight that is used twice is cast once, and gets both gradients") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const auto start = memory_allocated();
  {
    const AutocastGuard guard(here(), ebb::kHalf);
    const auto first = ebb::mm(x, w);
    CHECK(memory_allocated() - start == 2 * kCastBytes);  // the cast and the result
    const auto second = ebb::mm(x, w);
    CHECK(memory_allocated() - start == 3 * kCastBytes);
    (first.sum() + second.sum()).backward();
  }
  CHECK(memory_allocated() - start == kBytes);  // the gradient
  const auto both = w.grad().clone();
  w.mutable_grad().reset();
  {
    const AutocastGuard guard(here(), ebb::kHalf);
    ebb::mm(x, w).sum().backward();
  }
  CHECK(both.equal(w.grad() * 2));
}

TEST_CASE("Without the cache a weight is cast at each use") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf).requires_grad_();  // so that backward needs the casts
  const auto start = memory_allocated();
  const AutocastGuard guard(here(), ebb::kHalf, true, /*cache_enabled=*/false);
  const auto first = ebb::mm(x, w);
  const auto second = ebb::mm(x, w);
  CHECK(memory_allocated() - start == 4 * kCastBytes);
}

TEST_CASE("Casts stay through inner guards, and go with the outermost") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const auto start = memory_allocated();
  {
    const AutocastGuard outer(here(), ebb::kHalf);
    {
      const AutocastGuard inner(here(), ebb::kHalf);
      ebb::mm(x, w);
    }
    CHECK(memory_allocated() - start == kCastBytes);
    const auto again = measure([&] { ebb::mm(x, w); });
    CHECK(again.peak_bytes == kCastBytes);  // the result
    ebb::autocast::clear_cache();
    CHECK(memory_allocated() == start);
    ebb::mm(x, w);
    CHECK(memory_allocated() - start == kCastBytes);
  }
  CHECK(memory_allocated() == start);
}

TEST_CASE("A cast made under no-grad serves a later use that wants the gradient") {
  const auto w = weight();
  const auto x = input();
  const AutocastGuard guard(here(), ebb::kBFloat16);
  {
    const ebb::NoGradGuard no_grad;
    CHECK_FALSE(ebb::mm(x, w).requires_grad());
  }
  ebb::mm(x, w).sum().backward();
  REQUIRE(w.grad().defined());
  CHECK(w.grad().norm().item<double>() > 0);
}

TEST_CASE("Inference mode keeps no casts, and spoils none") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const auto start = memory_allocated();
  const AutocastGuard guard(here(), ebb::kHalf);
  {
    const ebb::InferenceMode inference;
    ebb::mm(x, w);
    CHECK(memory_allocated() == start);
  }
  ebb::mm(x, w).sum().backward();
  CHECK(w.grad().defined());
}

TEST_CASE("Casts of views, of results and of what wants no gradient are not kept") {
  const auto w = weight();
  const auto frozen = input();
  const auto leaf_view = input().t().requires_grad_();
  REQUIRE((leaf_view.is_leaf() && leaf_view.is_view()));
  const auto x = input().to(ebb::kHalf);
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto start = memory_allocated();
  for (int i = 0; i < 10; ++i) {
    ebb::mm(x, w.t());
    ebb::mm(x, leaf_view);
    ebb::mm(x, w * 2);
    ebb::mm(x, frozen);
    REQUIRE(memory_allocated() == start);
  }
}

TEST_CASE("A weight that is written in the scope is cast anew") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto before = ebb::mm(x, w).detach();
  const auto start = memory_allocated();
  {
    const ebb::NoGradGuard no_grad;
    w.mul_(2);
  }
  const auto after = ebb::mm(x, w).detach();
  CHECK(after.equal(before * 2));
  CHECK(memory_allocated() - start == kCastBytes);  // the result; the old cast is gone
  w.set_data(ebb::zeros({kSide, kSide}));
  CHECK(ebb::mm(x, w).eq(0).all().item<bool>());
}

TEST_CASE("Steps of training in one scope use the weights that the optimizer wrote") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const auto train = [&](bool one_scope) {
    const ebb::NoGradGuard no_grad;
    w.fill_(0.5);
    const ebb::AutoGradMode grad(true);
    ebb::optim::SGD optimizer({w}, 0.125);
    std::optional<AutocastGuard> whole;
    if (one_scope) whole.emplace(here(), ebb::kHalf);
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      std::optional<AutocastGuard> step;
      if (!one_scope) step.emplace(here(), ebb::kHalf);
      const auto loss = ebb::mm(x, w).tanh().sum();
      loss.backward();
      optimizer.step();
    }
    return w.detach().clone();
  };
  CHECK(train(true).equal(train(false)));
}

TEST_CASE("Casts of weights that are gone do not pile up") {
  const auto x = input().to(ebb::kHalf);
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto start = memory_allocated();
  int64_t most = 0;
  for (int i = 0; i < 500; ++i) {
    ebb::mm(x, weight());
    most = std::max(most, memory_allocated() - start);
  }
  CHECK(most > 0);
  CHECK(most <= 64 * kCastBytes);
}

TEST_CASE("Each thread has casts of its own, and drops its own alone", "[threads]") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const auto start = memory_allocated();
  const AutocastGuard guard(here(), ebb::kHalf);
  ebb::mm(x, w);
  ebb::ScalarType dtype = ebb::ScalarType::Undefined;
  int64_t held = 0;
  std::thread([&] {
    dtype = ebb::mm(x.to(ebb::kFloat), w).scalar_type();
    const AutocastGuard other(here(), ebb::kHalf);
    ebb::mm(x, w);
    held = memory_allocated() - start;
  }).join();
  CHECK(dtype == ebb::kFloat);  // a new thread casts nothing
  CHECK(held == 2 * kCastBytes);
  CHECK(memory_allocated() - start == kCastBytes);
  CHECK(measure([&] { ebb::mm(x, w); }).peak_bytes == kCastBytes);
}

TEST_CASE("A state can be entered on another thread, with casts of its own", "[threads]") {
  const auto w = weight();
  const auto x = input().to(ebb::kHalf);
  const AutocastGuard guard(here(), ebb::kHalf);
  ebb::mm(x, w);
  const auto state = AutocastState::current();
  CHECK(state.any_enabled());
  const auto start = memory_allocated();
  ebb::ScalarType dtype = ebb::ScalarType::Undefined;
  std::thread([&] {
    const AutocastStateGuard entered(state);
    dtype = ebb::mm(x, w).scalar_type();
    CHECK(memory_allocated() - start == kCastBytes);
  }).join();
  CHECK(dtype == ebb::kHalf);
  CHECK(memory_allocated() == start);
  {
    const AutocastStateGuard entered(state);
    ebb::mm(x, w);
    CHECK(memory_allocated() - start == kCastBytes);
  }
  CHECK(memory_allocated() == start);
  CHECK(measure([&] { ebb::mm(x, w); }).peak_bytes == kCastBytes);  // the outer cast is there still
}

TEST_CASE("A state that casts nothing can be entered too") {
  const auto state = AutocastState::current();
  const AutocastGuard guard(here(), ebb::kHalf);
  {
    const AutocastStateGuard entered(state);
    CHECK(ebb::mm(input(), input()).scalar_type() == ebb::kFloat);
  }
  CHECK(ebb::mm(input(), input()).scalar_type() == ebb::kHalf);
}

TEST_CASE("LibTorch's functions do what a guard does") {
  using namespace ebb::autocast;  // NOLINT
  const auto w = weight();
  const auto x = input().to(ebb::kBFloat16);
  const auto start = memory_allocated();
  const auto before = get_autocast_dtype(here());
  set_autocast_enabled(here(), true);
  set_autocast_dtype(here(), ebb::kBFloat16);
  CHECK(is_autocast_enabled(here()));
  CHECK(is_autocast_cache_enabled());
  CHECK(ebb::mm(x, w).scalar_type() == ebb::kBFloat16);
  CHECK(memory_allocated() == start);  // nothing is kept outside a nesting
  CHECK(increment_nesting() == 1);
  ebb::mm(x, w);
  CHECK(memory_allocated() - start == kCastBytes);
  set_autocast_cache_enabled(false);
  CHECK(measure([&] { ebb::mm(x, w); }).peak_bytes == 2 * kCastBytes);
  set_autocast_cache_enabled(true);
  CHECK(decrement_nesting() == 0);
  CHECK(memory_allocated() == start);
  set_autocast_enabled(here(), false);
  set_autocast_dtype(here(), before);
  CHECK(ebb::mm(input(), w).scalar_type() == ebb::kFloat);
}

TEST_CASE("A request that fails during a cast leaves nothing behind, and the next step is right") {
  const auto w = weight();
  const auto x = input();
  const auto step = [&] {
    w.mutable_grad().reset();
    const AutocastGuard guard(here(), ebb::kHalf);
    ebb::mse_loss(ebb::linear(x, w).relu(), x).backward();
  };
  step();
  const auto expected = w.grad().clone();
  w.mutable_grad().reset();
  const auto start = memory_allocated();
  int failures = 0;
  for (int n = 1;; ++n) {
    ebb::testing::FailAllocation failure(n);
    try {
      step();
    } catch (const ebb::OutOfMemoryError&) {
      ++failures;
    }
    if (!failure.fired()) break;
    failure.clear();
    w.mutable_grad().reset();
    REQUIRE(memory_allocated() == start);
    REQUIRE(ebb::mm(x, x).scalar_type() == ebb::kFloat);
  }
  CHECK(failures > 5);
  CHECK(w.grad().equal(expected));
}

TEST_CASE("An MLP under autocast needs the stated bytes") {
  // Three layers of kSide by kSide without bias; the input and what is saved are in the low dtype.
  const std::array<Tensor, 3> weights = {weight(), weight(), weight()};
  const auto x = input();
  const auto forward = [&] {
    Tensor h = x;
    for (const auto& w : weights) h = ebb::linear(h, w).relu();
    return h;
  };
  const auto start = memory_allocated();
  {
    const auto y = forward();
    CHECK(memory_allocated() - start == 3 * kBytes);  // what each relu gave
  }
  const AutocastGuard guard(here(), ebb::kHalf);
  const auto y = forward();
  // The cast of the input, three casts of weights, what each relu gave.
  CHECK(memory_allocated() - start == 7 * kCastBytes);
}
