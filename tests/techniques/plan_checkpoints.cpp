#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <vector>

#include "catch.h"

// Schedules for a budget of bytes.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

Tensor numbers(IntArrayRef sizes, uint64_t seed = 5) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return randn(sizes);
}

/// Linear and activation layers of different sizes.
nn::Sequential chain() {
  manual_seed(2);
  nn::Sequential net;
  const int64_t widths[] = {64, 80, 48, 96, 64, 112, 72, 64};
  for (size_t i = 0; i + 1 < std::size(widths); ++i) {
    net->push_back(nn::Linear(widths[i], widths[i + 1]));
    if (i % 3 == 0) net->push_back(nn::Tanh());   // keeps its result
    if (i % 3 == 1) net->push_back(nn::GELU());   // its input
    if (i % 3 == 2) net->push_back(nn::ReLU());
  }
  return net;
}

struct Outcome {
  int64_t peak;
  std::vector<Tensor> gradients;
};

/// A step whose backward starts from a gradient of the result.
template <typename Forward>
Outcome step(nn::Sequential net, const Tensor& x, Forward&& forward) {
  net->zero_grad();
  x.mutable_grad() = Tensor();
  const auto run = measure([&] {
    const Tensor y = forward(x);
    y.backward(ones_like(y));
  });
  Outcome outcome{run.peak_bytes, {x.grad()}};
  for (const Tensor& p : net->parameters()) outcome.gradients.push_back(p.grad());
  net->zero_grad();
  x.mutable_grad() = Tensor();
  return outcome;
}

/// Equal layers that keep their result.
ChainCosts equal_layers(size_t count, int64_t bytes) {
  ChainCosts costs;
  StageCost cost;
  cost.result_bytes = cost.gradient_bytes = bytes;
  cost.keeps_result = true;
  cost.forward_bytes = cost.region_forward_bytes = cost.backward_bytes = bytes;
  cost.forward_seconds = cost.backward_seconds = 1;
  costs.stages.assign(count, cost);
  costs.input_gradient_bytes = bytes;
  return costs;
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("The predicted peak of Linear and activation layers is the measured one, to the byte") {
  const nn::Sequential net = chain();
  const Tensor x = numbers({512, 64}).requires_grad_();
  const ChainCosts costs = measure_stages(stages_of(net), x);
  const CheckpointPlan plain = plan_checkpoints(costs, INT64_MAX);
  CHECK(plain.extra_forward_seconds() == 0);
  const Outcome all = step(net, x, [&](const Tensor& in) { return nn::Sequential(net)->forward(in); });
  CHECK(plain.peak_bytes() == all.peak);

  const std::string refusal = error_of([&] { static_cast<void>(plan_checkpoints(costs, 1)); });
  CHECK_THAT(refusal, ContainsSubstring("the least possible is "));
  const int64_t least = std::stoll(refusal.substr(refusal.find("possible is ") + 12));
  REQUIRE(least < all.peak);

  int different = 0;
  int64_t last = -1;
  for (int64_t budget = least; budget <= all.peak; budget += (all.peak - least) / 40 + 1) {
    const CheckpointPlan plan = plan_checkpoints(costs, budget);
    INFO("budget " << budget << "\n" << plan);
    CHECK(plan.peak_bytes() <= budget);
    if (plan.peak_bytes() != last) ++different;
    last = plan.peak_bytes();
    const Outcome found =
        step(net, x, [&](const Tensor& in) { return checkpoint_sequential(net, plan, in); });
    CHECK(found.peak == plan.peak_bytes());
    for (size_t i = 0; i < all.gradients.size(); ++i) {
      CHECK(equal(all.gradients[i], found.gradients[i]));
    }
    for (int64_t segments = 1; segments <= 14; ++segments) {
      const Outcome equal_parts = step(net, x, [&](const Tensor& in) {
        return checkpoint_sequential(net, segments, in);
      });
      if (equal_parts.peak > budget) continue;
      double seconds = 0;
      const int64_t length = 14 / segments;
      for (int64_t i = 0; i < length * (segments - 1); ++i) {
        seconds += costs.stages[static_cast<size_t>(i)].forward_seconds;
      }
      CHECK(plan.extra_forward_seconds() <= seconds + 1e-12);
    }
  }
  CHECK(different >= 3);
}

TEST_CASE("A plan of equal layers needs less the more it may run again") {
  const ChainCosts costs = equal_layers(16, 1000);
  const CheckpointPlan plain = plan_checkpoints(costs, INT64_MAX);
  double last = 0;
  int64_t least = 0;
  for (int64_t budget = plain.peak_bytes(); budget > 0; budget -= 500) {
    try {
      const CheckpointPlan plan = plan_checkpoints(costs, budget);
      CHECK(plan.peak_bytes() <= budget);
      CHECK(plan.extra_forward_seconds() >= last);
      last = plan.extra_forward_seconds();
      least = plan.peak_bytes();
    } catch (const Error&) {
      break;
    }
  }
  // 16 layers by regions in regions: far below the four segments of 4, which hold 8 activations.
  CHECK(last > 16);
  CHECK(least < plain.peak_bytes() / 2);
}

TEST_CASE("At the budget of four equal segments a plan runs no more layers again") {
  const ChainCosts costs = equal_layers(16, 1000);
  std::vector<PlannedPart> parts;
  for (int64_t begin = 0; begin < 16; begin += 4) {
    std::vector<PlannedPart> inside;
    for (int64_t i = begin; i < begin + 4; ++i) inside.push_back({i, i + 1, false, {}});
    if (begin < 12)
      parts.push_back({begin, begin + 4, true, inside});
    else
      parts.insert(parts.end(), inside.begin(), inside.end());
  }
  const CheckpointPlan segments(parts, costs);
  CHECK(segments.extra_forward_seconds() == 12);
  const CheckpointPlan plan = plan_checkpoints(costs, segments.peak_bytes());
  CHECK(plan.extra_forward_seconds() <= 12);
  CHECK(plan.peak_bytes() <= segments.peak_bytes());
}

TEST_CASE("A plan prints as a schedule") {
  const CheckpointPlan plan(
      {{0, 2, true, {{0, 1, true, {{0, 1, false, {}}}}, {1, 2, false, {}}}}, {2, 3, false, {}}},
      equal_layers(3, 512));
  std::ostringstream text;
  text << plan;
  CHECK_THAT(text.str(), ContainsSubstring("of a forward again\n") &&
                             ContainsSubstring("layers 0 to 1: keep the input; in backward again:\n"
                                               "  layers 0 to 0: keep the input; in backward "
                                               "again:\n    layer 0: keep all\n"
                                               "  layer 1: keep all\nlayer 2: keep all\n"));
}

TEST_CASE("Measuring layers leaves no trace") {
  manual_seed(6);
  nn::Sequential net(nn::Linear(16, 16), nn::BatchNorm1d(16), nn::Dropout(0.5), nn::Linear(16, 4));
  net->parameters()[0].mutable_grad() = ones_like(net->parameters()[0]);
  const Tensor mean = net->buffers()[0].clone();
  const Tensor x = numbers({8, 16});
  const GeneratorState host = default_generator().get_state();
  const GeneratorState device = default_generator(get_default_device()).get_state();
  const auto run = measure([&] {
    const ChainCosts costs = measure_stages(stages_of(net), x);
    CHECK(costs.stages.size() == 4);
    CHECK(costs.input_gradient_bytes == 0);
    // A weight of 16 x 16 is 1024 bytes, a bias 512.
    CHECK(costs.stages[0].parameter_gradient_bytes == 1536);
  });
  CHECK(run.net_bytes == 0);
  CHECK(default_generator().get_state() == host);
  CHECK(default_generator(get_default_device()).get_state() == device);
  CHECK(equal(net->buffers()[0], mean));
  CHECK(net->buffers()[2].item<int64_t>() == 0);
  CHECK(equal(net->parameters()[0].grad(), ones_like(net->parameters()[0])));
  CHECK_FALSE(net->parameters()[1].grad().defined());
  CHECK_FALSE(autograd::is_recomputing());
}

TEST_CASE("A plan fits only the chain that it was made for") {
  const CheckpointPlan plan = plan_checkpoints(equal_layers(3, 512), INT64_MAX);
  const std::vector<Stage> two(2, [](const Tensor& x) { return x.sin(); });
  CHECK_THAT(error_of([&] { checkpoint_sequential(two, plan, numbers({4})); }),
             ContainsSubstring("a plan for 3 layers does not fit the 2"));
  CHECK_THAT(error_of([] { static_cast<void>(plan_checkpoints(ChainCosts(), 1)); }),
             ContainsSubstring("no layers"));
}

namespace {

/// All schedules of the layers from `begin` to `end`, but those that only begin a region again.
std::vector<std::vector<PlannedPart>> all_schedules(int64_t begin, int64_t end, bool is_inside) {
  if (begin == end) return {{}};
  std::vector<std::vector<PlannedPart>> all;
  const auto extend = [&](const PlannedPart& first) {
    for (auto& rest : all_schedules(first.end, end, false)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  };
  extend({begin, begin + 1, false, {}});
  for (int64_t middle = begin + 1; middle < end + (is_inside ? 0 : 1); ++middle) {
    for (const auto& inside : all_schedules(begin, middle, true)) {
      extend({begin, middle, true, inside});
    }
  }
  return all;
}

/// Layers of any sizes; some pass on the memory of their input.
ChainCosts any_layers(size_t count, std::mt19937& random) {
  const auto up_to = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  ChainCosts costs;
  costs.input_gradient_bytes = up_to(1) * up_to(100);
  for (size_t i = 0; i < count; ++i) {
    StageCost cost;
    const int64_t made = 1 + up_to(100);
    cost.result_bytes = up_to(4) == 0 ? 0 : made;
    cost.gradient_bytes = made;
    cost.kept_bytes = up_to(1) * up_to(100);
    cost.keeps_input = up_to(1) == 1;
    cost.keeps_result = up_to(1) == 1;
    cost.parameter_gradient_bytes = up_to(1) * up_to(60);
    cost.region_forward_bytes = cost.result_bytes + up_to(1) * up_to(60);
    cost.forward_bytes = cost.region_forward_bytes + cost.kept_bytes;
    cost.backward_bytes = made + up_to(1) * up_to(60);
    cost.forward_seconds = static_cast<double>(1 + up_to(9));
    costs.stages.push_back(cost);
  }
  return costs;
}

}  // namespace

TEST_CASE("No schedule within the budget runs less again than the plan, and none needs less") {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    const ChainCosts costs = any_layers(1 + static_cast<size_t>(round) % 5, random);
    std::map<int64_t, double> fastest;  // by peak
    for (const auto& parts : all_schedules(0, static_cast<int64_t>(costs.stages.size()), false)) {
      const CheckpointPlan schedule(parts, costs);
      const auto [at, is_new] = fastest.emplace(schedule.peak_bytes(), 1e9);
      at->second = std::min(at->second, schedule.extra_forward_seconds());
    }
    double best = 1e9;
    for (const auto& [budget, seconds] : fastest) {
      best = std::min(best, seconds);
      const CheckpointPlan plan = plan_checkpoints(costs, budget);
      INFO("round " << round << ", " << costs.stages.size() << " layers, budget " << budget);
      CHECK(plan.peak_bytes() <= budget);
      CHECK(plan.extra_forward_seconds() == best);
    }
    const int64_t least = fastest.begin()->first;
    CHECK_THAT(error_of([&] { static_cast<void>(plan_checkpoints(costs, least - 1)); }),
               ContainsSubstring("the least possible is " + std::to_string(least) + " bytes"));
  }
}

TEST_CASE("A plan for 60 layers of any sizes halves their peak") {
  std::mt19937 random(23);
  const ChainCosts costs = any_layers(60, random);
  const int64_t half = plan_checkpoints(costs, INT64_MAX).peak_bytes() / 2;
  const CheckpointPlan plan = plan_checkpoints(costs, half);
  CHECK(plan.peak_bytes() <= half);
  CHECK(plan.extra_forward_ratio() < 1);
}
