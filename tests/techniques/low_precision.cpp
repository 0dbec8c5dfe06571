// Parameters of two bytes without autocast: float32 master copies, and stochastic rounding.

#include <cmath>
#include <memory>
#include <vector>

#include <ebb/core/ops/functors/stochastic_round.h>
#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include "catch.h"

namespace optim = ebb::optim;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::amp::GradScaler;
using ebb::amp::GradScalerOptions;
using ebb::memory::Category;
using ebb::memory::category_bytes;
using ebb::memory::memory_allocated;
using ebb::testing::measure;

namespace {

constexpr int64_t kCount = 4096;

Tensor parameter(ebb::ScalarType dtype, double value = 1) {
  return ebb::full({kCount}, value, dtype).requires_grad_();
}
void give_gradient(const Tensor& p, double value) {
  p.mutable_grad() = ebb::full_like(p.detach(), value);
}
double first(const Tensor& tensor) { return tensor.detach().flatten()[0].item<double>(); }

/// An optimizer of each class, with the option set by `set`.
template <typename Set>
std::vector<std::unique_ptr<optim::Optimizer>> optimizers(const Tensor& p, Set&& set) {
  std::vector<std::unique_ptr<optim::Optimizer>> all;
  all.push_back(std::make_unique<optim::SGD>(std::vector{p}, set(optim::SGDOptions(0.25))));
  all.push_back(
      std::make_unique<optim::SGD>(std::vector{p}, set(optim::SGDOptions(0.25).momentum(0.5))));
  all.push_back(std::make_unique<optim::Adam>(std::vector{p}, set(optim::AdamOptions(0.25))));
  all.push_back(
      std::make_unique<optim::AdamW>(std::vector{p}, set(optim::AdamWOptions(0.25).amsgrad(true))));
  return all;
}
/// Bytes of state for each element in float32, of those optimizers.
constexpr int64_t kStateBytes[] = {0, 4, 8, 12};

constexpr auto kMaster = [](auto options) { return options.master_weights(true); };
constexpr auto kRounded = [](auto options) { return options.stochastic_rounding(true); };
constexpr auto kPlain = [](auto options) { return options; };

}  // namespace

TEST_CASE(
    "With master weights a parameter takes 2 bytes, its gradient 2, the copy 4, the state 4s") {
  for (const auto dtype : {ebb::kHalf, ebb::kBFloat16}) {
    for (size_t i = 0; i < 4; ++i) {
      const auto start = memory_allocated();
      const auto p = parameter(dtype);
      give_gradient(p, 1);
      CHECK(memory_allocated() - start == (2 + 2) * kCount);
      const auto optimizer = std::move(optimizers(p, kMaster)[i]);
      const auto step = measure([&] { optimizer->step(); });
      CHECK(step.net_bytes == (4 + kStateBytes[i]) * kCount);
      CHECK(step.peak_bytes == step.net_bytes);
      CHECK(category_bytes(Category::optimizer_state) == (4 + kStateBytes[i]) * kCount);
      CHECK(measure([&] { optimizer->step(); }).peak_bytes == 0);
    }
  }
}

TEST_CASE("With master weights the parameter is the float32 one, rounded") {
  ebb::manual_seed(1);
  const auto gradients = ebb::randn({5, kCount}).to(ebb::kBFloat16);
  for (size_t i = 0; i < 4; ++i) {
    const auto p = parameter(ebb::kBFloat16), exact = parameter(ebb::kFloat);
    const auto low = std::move(optimizers(p, kMaster)[i]);
    const auto high = std::move(optimizers(exact, kPlain)[i]);
    for (int64_t k = 0; k < 5; ++k) {
      p.mutable_grad() = gradients[k].clone();
      exact.mutable_grad() = gradients[k].to(ebb::kFloat);
      low->step();
      high->step();
      CHECK(p.detach().equal(exact.detach().to(ebb::kBFloat16)));
    }
  }
}

TEST_CASE("Steps too small for the parameter add up in the master weights") {
  const auto p = parameter(ebb::kBFloat16), lost = parameter(ebb::kBFloat16);
  optim::SGD master({p}, optim::SGDOptions(1).master_weights(true)), plain({lost}, 1);
  for (int i = 0; i < 64; ++i) {
    give_gradient(p, -0x1p-12);  // bfloat16 has 8 digits
    give_gradient(lost, -0x1p-12);
    master.step();
    plain.step();
  }
  CHECK(first(p) == 1 + 0x1p-6);
  CHECK(first(lost) == 1);
}

TEST_CASE("A parameter that was written between steps is copied anew") {
  const auto p = parameter(ebb::kHalf);
  optim::SGD optimizer({p}, optim::SGDOptions(0.5).master_weights(true));
  give_gradient(p, 1);
  optimizer.step();
  CHECK(first(p) == 0.5);
  {
    const ebb::NoGradGuard no_grad;
    p.fill_(4);
  }
  optimizer.step();
  CHECK(first(p) == 3.5);
}

TEST_CASE("Master weights change nothing for float32 parameters") {
  const auto p = parameter(ebb::kFloat);
  optim::SGD optimizer({p}, optim::SGDOptions(0.5).master_weights(true));
  give_gradient(p, 1);
  CHECK(measure([&] { optimizer.step(); }).peak_bytes == 0);
  CHECK(first(p) == 0.5);
}

TEST_CASE("Float16 training with master weights and a scaler keeps gradients that float16 loses") {
  const auto p = parameter(ebb::kHalf, 0);
  optim::SGD optimizer({p}, optim::SGDOptions(1).master_weights(true));
  GradScaler scaler(GradScalerOptions().init_scale(65536));
  // Each true gradient is 2^-26, below the least number of float16, 2^-24.
  const auto loss = [&] { return p.to(ebb::kFloat).sum() * 0x1p-26; };
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    scaler.scale(loss()).backward();
    CHECK(first(p.grad()) == 0x1p-10);
    CHECK(scaler.step(optimizer));
    scaler.update();
  }
  const auto& state =
      static_cast<optim::SGDParamState&>(*optimizer.state().at(p.unsafeGetTensorImpl()));
  CHECK(first(state.master()) == -3 * 0x1p-26);
  p.mutable_grad().fill_(std::numeric_limits<double>::infinity());
  static_cast<void>(scaler.scale(loss()));
  CHECK_FALSE(scaler.step(optimizer));
  scaler.update();
  CHECK(scaler.get_scale() == 32768);
  CHECK(optimizer.half_gradient_factor() == 1);
}

TEST_CASE("Stochastic rounding gives a neighbour, exact numbers as they are, and the mean") {
  const ebb::functors::StochasticRound round;
  CHECK(round(0xffffffffu, 1.0f) == 1.0f);
  CHECK(round(0, 1.0f + 0x1p-8f) == 1.0f);
  CHECK(round(0x7fff0000u, 1.0f + 0x1p-8f) == 1.0f);
  CHECK(round(0x80000000u, 1.0f + 0x1p-8f) == 1.0f + 0x1p-7f);
  CHECK(round(0x80000000u, -1.0f - 0x1p-8f) == -1.0f - 0x1p-7f);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(round(0xffffffffu, infinity) == infinity);
  CHECK(std::isnan(round(0xffffffffu, std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isfinite(round(0xffffffffu, std::numeric_limits<float>::max())));
}

TEST_CASE("Pure bfloat16 with stochastic rounding takes 2 bytes, 2 of gradient, and 2s of state") {
  for (size_t i = 0; i < 4; ++i) {
    const auto p = parameter(ebb::kBFloat16);
    give_gradient(p, 1);
    const auto optimizer = std::move(optimizers(p, kRounded)[i]);
    const auto step = measure([&] { optimizer->step(); });
    CHECK(step.net_bytes == kStateBytes[i] / 2 * kCount);
    // The scratch: float32 for all that the optimizer may write, of the largest parameter.
    CHECK(step.peak_bytes == step.net_bytes + (i < 2 ? 2 : 4) * 4 * kCount);
  }
}

TEST_CASE("Steps too small for bfloat16 arrive on average, and the same for a seed") {
  const auto train = [](uint64_t seed) {
    const auto p = parameter(ebb::kBFloat16);
    optim::SGD optimizer({p}, optim::SGDOptions(1).stochastic_rounding(true));
    ebb::manual_seed(seed);
    for (int i = 0; i < 64; ++i) {
      give_gradient(p, -0x1p-12);
      optimizer.step();
    }
    return p.detach();
  };
  const auto got = train(3);
  // 64 steps of 2^-12 are two units of 2^-7; each element's deviation is below sqrt(2) units.
  const double mean = got.to(ebb::kDouble).mean().item<double>();
  CHECK(std::abs(mean - (1 + 0x1p-6)) < 5 * std::sqrt(2.0) * 0x1p-7 / std::sqrt(double{kCount}));
  CHECK(got.ne(1 + 0x1p-6).any().item<bool>());
  CHECK(got.equal(train(3)));
  CHECK_FALSE(got.equal(train(4)));
}

TEST_CASE("Stochastic rounding steps long parameters in pieces, all of them") {
  const auto p = ebb::ones({3, 65536 / 2 + 7}, ebb::kBFloat16).requires_grad_();
  optim::Adam optimizer({p}, optim::AdamOptions(0.5).stochastic_rounding(true));
  give_gradient(p, 2);
  const auto step = measure([&] { optimizer.step(); });
  CHECK(step.peak_bytes - step.net_bytes == 4 * 4 * 65536);
  // The first step of Adam is lr, up to eps: 0.5 or the next number.
  CHECK((p.detach() - 0.5).abs().le(0x1p-8).all().item<bool>());
}

TEST_CASE("A gradient with strides is stepped as a dense one") {
  const auto p = ebb::zeros({2, 3}, ebb::kBFloat16).requires_grad_();
  p.mutable_grad() = ebb::arange(6).to(ebb::kBFloat16).view({3, 2}).t();
  optim::SGD optimizer({p}, optim::SGDOptions(1).stochastic_rounding(true));
  optimizer.step();
  CHECK(p.detach().equal(-p.grad()));
}

TEST_CASE("What cannot be rounded stochastically is refused before anything changes") {
  const auto set = kRounded(optim::SGDOptions(1));
  const auto good = parameter(ebb::kBFloat16);
  give_gradient(good, 1);
  for (const auto dtype : {ebb::kHalf, ebb::kFloat}) {
    const auto p = parameter(dtype);
    give_gradient(p, 1);
    optim::SGD optimizer({good, p}, set);
    CHECK_THROWS_WITH(optimizer.step(), ContainsSubstring("stochastic_rounding is for contiguous"));
    CHECK(first(good) == 1);
  }
  CHECK_THROWS_WITH(
      optim::SGD({good}, optim::SGDOptions(1).master_weights(true).stochastic_rounding(true)),
      ContainsSubstring("exclude each other"));
  CHECK_THROWS_WITH(
      optim::Adam({good}, optim::AdamOptions(1).master_weights(true).stochastic_rounding(true)),
      ContainsSubstring("exclude each other"));
}

TEST_CASE("A step that runs out of memory changes neither parameter nor state") {
  const auto check = [](auto set) {
    for (size_t i = 0; i < 4; ++i) {
      const auto p = parameter(ebb::kBFloat16);
      give_gradient(p, 1);
      const auto optimizer = std::move(optimizers(p, set)[i]);
      const auto start = memory_allocated();
      for (int n = 1;; ++n) {
        ebb::testing::FailAllocation failure(n);
        try {
          optimizer->step();
        } catch (const ebb::OutOfMemoryError&) {
        }
        if (!failure.fired()) break;
        failure.clear();
        REQUIRE(first(p) == 1);
        REQUIRE(memory_allocated() == start);
      }
      CHECK(first(p) != 1);
    }
  };
  check(kMaster);
  check(kRounded);
}
