// GradScaler: its states, its errors, and float16 training that needs it.

#include <limits>
#include <memory>

#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include "catch.h"

using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::amp::AutocastGuard;
using ebb::amp::GradScaler;
using ebb::amp::GradScalerOptions;
using ebb::memory::memory_allocated;
using ebb::optim::SGD;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor parameter(double value = 1) { return ebb::full({4}, value).requires_grad_(); }
void give_gradient(const Tensor& p, double value) {
  p.mutable_grad() = ebb::full_like(p.detach(), value);
}
double first(const Tensor& tensor) { return tensor.detach().flatten()[0].item<double>(); }

/// A scaler after its first scale().
GradScaler started(const GradScalerOptions& options = {}) {
  GradScaler scaler(options);
  static_cast<void>(scaler.scale(ebb::ones({})));
  return scaler;
}

/// A step with gradients of one value.
bool step_with(GradScaler& scaler, SGD& optimizer, const Tensor& p, double gradient) {
  give_gradient(p, gradient);
  const bool stepped = scaler.step(optimizer);
  scaler.update();
  return stepped;
}

}  // namespace

TEST_CASE("The defaults of the scaler are PyTorch's") {
  const GradScaler scaler;
  CHECK(scaler.is_enabled());
  CHECK(scaler.get_scale() == 65536);
  CHECK(scaler.state_dict() == GradScaler::StateDict{{"scale", 65536},
                                                     {"growth_factor", 2},
                                                     {"backoff_factor", 0.5},
                                                     {"growth_interval", 2000},
                                                     {"_growth_tracker", 0}});
}

TEST_CASE("Options of the scaler out of range are refused") {
  CHECK_THROWS_WITH(GradScaler(GradScalerOptions().growth_factor(1)),
                    ContainsSubstring("growth_factor"));
  CHECK_THROWS_WITH(GradScaler(GradScalerOptions().backoff_factor(1)),
                    ContainsSubstring("backoff_factor"));
  CHECK_THROWS_WITH(GradScaler(GradScalerOptions().growth_interval(0)),
                    ContainsSubstring("growth_interval"));
  CHECK_THROWS_WITH(GradScaler(GradScalerOptions().init_scale(0)), ContainsSubstring("scale"));
}

TEST_CASE("The loss is scaled and its gradients are unscaled again") {
  const auto p = parameter(2);
  SGD optimizer({p}, 0.5);
  GradScaler scaler;
  scaler.scale((p * 3).sum()).backward();
  CHECK(first(p.grad()) == 3 * 65536.0);
  scaler.unscale_(optimizer);
  CHECK(first(p.grad()) == 3);
  CHECK(scaler.step(optimizer));
  CHECK(first(p) == 0.5);
  scaler.update();
  CHECK(scaler.get_scale() == 65536);
  CHECK(scaler.get_growth_tracker() == 1);
  CHECK(scaler.skipped_steps() == 0);
}

TEST_CASE("A scalar loss of float16 is scaled in float32, which can hold it") {
  GradScaler scaler;
  const auto loss = ebb::full({}, 8, ebb::kHalf).requires_grad_();
  const auto scaled = scaler.scale(loss);
  CHECK(scaled.scalar_type() == ebb::kFloat);
  CHECK(scaled.item<double>() == 8 * 65536.0);
  scaled.backward();
  CHECK(loss.grad().scalar_type() == ebb::kHalf);
  const auto all = scaler.scale(std::vector<Tensor>{ebb::ones({}), ebb::ones({2})});
  CHECK(all.size() == 2);
  CHECK(first(all[1]) == 65536);
}

TEST_CASE("A step with an inf or NaN is skipped, told, and halves the scale") {
  for (const double bad : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    INFO("the bad element: " << bad);
    const auto p = parameter(1), q = parameter(1);
    SGD optimizer({p, q}, 0.5);
    auto scaler = started();
    give_gradient(p, 1);
    give_gradient(q, 1);
    q.mutable_grad()[2].fill_(bad);
    CHECK_FALSE(scaler.step(optimizer));
    CHECK(first(p) == 1);
    CHECK(first(q) == 1);
    CHECK(scaler.skipped_steps() == 1);
    scaler.update();
    CHECK(scaler.get_scale() == 32768);
    give_gradient(q, 32768);
    CHECK(step_with(scaler, optimizer, p, 32768));
    CHECK(first(p) == 0.5);
    CHECK(scaler.skipped_steps() == 1);
  }
}

TEST_CASE("The scale grows after growth_interval good updates in a row") {
  const auto p = parameter();
  SGD optimizer({p}, 0);
  auto scaler = started(GradScalerOptions().init_scale(8).growth_interval(3));
  step_with(scaler, optimizer, p, 1);
  step_with(scaler, optimizer, p, 1);
  CHECK(scaler.get_scale() == 8);
  step_with(scaler, optimizer, p, kInfinity);  // starts the count again
  CHECK(scaler.get_scale() == 4);
  for (int i = 0; i < 3; ++i) step_with(scaler, optimizer, p, 1);
  CHECK(scaler.get_scale() == 8);
  CHECK(scaler.get_growth_tracker() == 0);
}

TEST_CASE("The scale does not grow to infinity") {
  const auto p = parameter();
  SGD optimizer({p}, 0);
  auto scaler = started(GradScalerOptions().init_scale(std::ldexp(1, 127)).growth_interval(1));
  step_with(scaler, optimizer, p, 1);
  CHECK(scaler.get_scale() == std::ldexp(1, 127));
}

TEST_CASE("The scale does not sink below its floor without a word") {
  const auto p = parameter();
  SGD optimizer({p}, 0.5);
  auto scaler = started(GradScalerOptions().init_scale(2));
  step_with(scaler, optimizer, p, kInfinity);
  CHECK(scaler.get_scale() == 1);
  CHECK_THROWS_WITH(step_with(scaler, optimizer, p, kInfinity),
                    ContainsSubstring("min_scale") && ContainsSubstring("2 steps were skipped"));
  CHECK(scaler.get_scale() == 1);
  CHECK(step_with(scaler, optimizer, p, 1));  // training may go on
  CHECK(first(p) == 0.5);

  auto sinking = started(GradScalerOptions().init_scale(2).min_scale(0));
  for (int i = 0; i < 3; ++i) step_with(sinking, optimizer, p, kInfinity);
  CHECK(sinking.get_scale() == 0.25);
}

TEST_CASE("Several optimizers step apart and are updated together") {
  const auto p = parameter(), q = parameter();
  SGD one({p}, 1), two({q}, 1);
  auto scaler = started(GradScalerOptions().init_scale(2));
  give_gradient(p, 1);
  give_gradient(q, kInfinity);
  scaler.unscale_(two);
  CHECK(scaler.step(one));
  CHECK_FALSE(scaler.step(two));
  CHECK(first(p) == 0.5);
  CHECK(first(q) == 1);
  scaler.update();
  CHECK(scaler.get_scale() == 1);
}

TEST_CASE("Misuse of the scaler is an error that says what to do") {
  const auto p = parameter();
  SGD optimizer({p}, 1);
  GradScaler fresh;
  CHECK_THROWS_WITH(fresh.unscale_(optimizer), ContainsSubstring("call scale(loss)"));
  CHECK_THROWS_WITH(fresh.step(optimizer), ContainsSubstring("call scale(loss)"));
  CHECK_THROWS_WITH(fresh.update(), ContainsSubstring("call scale(loss)"));

  auto scaler = started();
  CHECK_THROWS_WITH(scaler.step(optimizer), ContainsSubstring("no inf checks were recorded"));
  CHECK_THROWS_WITH(scaler.update(), ContainsSubstring("no inf checks were recorded prior"));
  give_gradient(p, 1);
  scaler.unscale_(optimizer);
  CHECK_THROWS_WITH(scaler.unscale_(optimizer),
                    ContainsSubstring("already been called") && ContainsSubstring("update()"));
  CHECK_THROWS_WITH(scaler.state_dict(), ContainsSubstring("update()"));
  scaler.step(optimizer);
  CHECK_THROWS_WITH(scaler.step(optimizer), ContainsSubstring("step() has already been called") &&
                                                ContainsSubstring("update()"));
  CHECK_THROWS_WITH(scaler.unscale_(optimizer), ContainsSubstring("after step()"));
  scaler.update();
  CHECK_THROWS_WITH(scaler.update(-1), ContainsSubstring("positive and finite"));
  CHECK_THROWS_WITH(scaler.update(kInfinity), ContainsSubstring("positive and finite"));
  scaler.update(16.0);
  CHECK(scaler.get_scale() == 16);
}

TEST_CASE("Float16 gradients are not unscaled, since they would lose what the scale saved") {
  const auto p = ebb::ones({4}, ebb::kHalf).requires_grad_();
  SGD optimizer({p}, 1);
  auto scaler = started();
  give_gradient(p, 1);
  CHECK_THROWS_WITH(scaler.unscale_(optimizer), ContainsSubstring("FP16 gradients"));
  CHECK(first(p.grad()) == 1);
}

TEST_CASE("A disabled scaler steps and changes nothing") {
  const auto p = parameter();
  SGD optimizer({p}, 0.5);
  GradScaler scaler(GradScalerOptions().enabled(false));
  const auto loss = (p * 1).sum();
  CHECK(scaler.scale(loss).is_same(loss));
  loss.backward();
  scaler.unscale_(optimizer);
  CHECK(scaler.step(optimizer));
  scaler.update();
  CHECK(first(p) == 0.5);
  CHECK(scaler.get_scale() == 1);
  CHECK(scaler.state_dict().empty());
  GradScaler enabled;
  CHECK_THROWS_WITH(enabled.load_state_dict(scaler.state_dict()),
                    ContainsSubstring("disabled instance"));
}

TEST_CASE("A scaler goes on where its state was saved") {
  const auto p = parameter();
  SGD optimizer({p}, 0);
  auto scaler = started(GradScalerOptions().init_scale(8).growth_factor(4).growth_interval(2));
  step_with(scaler, optimizer, p, 1);
  auto loaded = started();
  loaded.load_state_dict(scaler.state_dict());
  CHECK(loaded.state_dict() == scaler.state_dict());
  step_with(loaded, optimizer, p, 1);
  CHECK(loaded.get_scale() == 32);
  CHECK_THROWS_WITH(loaded.load_state_dict({{"scale", 2}}), ContainsSubstring("growth_factor"));
  CHECK(loaded.get_scale() == 32);
}

TEST_CASE("The scaler takes 512 bytes from unscale_ to update, and nothing that fails harms") {
  const auto p = parameter();
  SGD optimizer({p}, 1);
  auto scaler = started(GradScalerOptions().init_scale(2));
  give_gradient(p, 1);
  const auto start = memory_allocated();
  for (int n = 1; n <= 2; ++n) {
    ebb::testing::FailAllocation failure(n);
    CHECK_THROWS_AS(scaler.unscale_(optimizer), ebb::OutOfMemoryError);
    CHECK(memory_allocated() == start);
    CHECK(first(p.grad()) == 1);
  }
  const auto used = ebb::testing::measure([&] { scaler.unscale_(optimizer); });
  CHECK(used.peak_bytes == 1024);
  CHECK(used.net_bytes == 512);
  CHECK(first(p.grad()) == 0.5);
  scaler.step(optimizer);
  scaler.update();
  CHECK(memory_allocated() == start);
}

TEST_CASE("Gradients too small for float16 reach the weight with the scaler, and not without") {
  const auto w = parameter(0.5);
  SGD optimizer({w}, 1);
  const auto x = ebb::full({1, 4}, std::ldexp(1, -10));
  const auto train = [&](GradScaler& scaler) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard guard(ebb::get_default_device().type(), ebb::kHalf);
      loss = ebb::linear(x, w.view({1, 4})).to(ebb::kFloat).sum() * std::ldexp(1, -16);
    }
    scaler.scale(loss).backward();
    CHECK(scaler.step(optimizer));
    scaler.update();
    return first(w.grad());
  };
  GradScaler none(GradScalerOptions().enabled(false));
  CHECK(train(none) == 0);
  GradScaler scaler;
  CHECK(train(scaler) == std::ldexp(1, -26));
}

TEST_CASE("Accumulated micro-batches give the step of the whole batch under autocast") {
  const auto make = [] { return ebb::full({8, 8}, 0.25).requires_grad_(); };
  const auto x = ebb::randint(-4, 5, {4, 8}).to(ebb::kFloat);  // exact in float16
  const auto train = [&](int64_t micro) {
    const auto w = make();
    SGD optimizer({w}, 0.125);
    GradScaler scaler(GradScalerOptions().init_scale(256));
    for (const auto& part : x.split(micro)) {
      Tensor loss;
      {
        const AutocastGuard guard(ebb::get_default_device().type(), ebb::kHalf);
        loss = ebb::linear(part, w).to(ebb::kFloat).sum();
      }
      scaler.scale(loss).backward();
    }
    CHECK(scaler.step(optimizer));
    scaler.update();
    return w.detach();
  };
  CHECK(train(4).equal(train(1)));
}
