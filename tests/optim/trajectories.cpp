#include <functional>
#include <memory>
#include <vector>

#include "programs_expected.h"

// The steps of the optimizers against what LibTorch printed for tests/programs/optimizers.cpp, in
// double precision, with six decimals.

namespace optim = ebb::optim;
using ebb::Tensor;
using programs::wave;

namespace {

constexpr double kTolerance = 0.6e-6;

const programs::Expected& expected() {
  static const programs::Expected lines("optimizers");
  return lines;
}

/// A parameter vector, and a loss to minimise over it.
struct Problem {
  Tensor parameter;
  std::function<Tensor(const Tensor&)> loss;
};

Problem least_squares() {
  const auto features = wave({6, 3}, 0.4, ebb::kDouble);
  const auto weights = ebb::tensor({1.0, -2.0, 0.5}, ebb::kDouble);
  const auto targets = features.matmul(weights) + 0.1 * wave({6}, 2.0, ebb::kDouble);
  return {ebb::full({3}, 0.5, ebb::kDouble).requires_grad_(true),
          [=](const Tensor& w) { return (features.matmul(w) - targets).pow(2).mean(); }};
}

Problem rosenbrock() {
  return {ebb::tensor({-1.2, 1.0}, ebb::kDouble).requires_grad_(true),
          [](const Tensor& p) { return (1 - p[0]).pow(2) + 100 * (p[1] - p[0].pow(2)).pow(2); }};
}

template <typename Optimizer, typename Options>
void check_trajectory(const std::string& label, const Options& options, const Problem& problem) {
  Optimizer optimizer(std::vector<Tensor>{problem.parameter}, options);
  for (int step = 1; step <= 20; ++step) {
    optimizer.zero_grad();
    problem.loss(problem.parameter).backward();
    optimizer.step();
    if (step == 1 || step == 5 || step == 10 || step == 20) {
      expected().check(label + "." + std::to_string(step), problem.parameter, kTolerance);
    }
  }
}

}  // namespace

TEST_CASE("SGD takes LibTorch's way") {
  using optim::SGD;
  using optim::SGDOptions;
  check_trajectory<SGD>("sgd", SGDOptions(0.3), least_squares());
  check_trajectory<SGD>("sgd.rosenbrock", SGDOptions(1e-3), rosenbrock());
  check_trajectory<SGD>("sgd.momentum", SGDOptions(0.1).momentum(0.8), least_squares());
  check_trajectory<SGD>("sgd.dampening", SGDOptions(0.1).momentum(0.8).dampening(0.5),
                        least_squares());
  check_trajectory<SGD>("sgd.nesterov", SGDOptions(0.1).momentum(0.8).nesterov(true),
                        least_squares());
  check_trajectory<SGD>("sgd.nesterov.rosenbrock", SGDOptions(2e-4).momentum(0.9).nesterov(true),
                        rosenbrock());
  check_trajectory<SGD>("sgd.weight_decay", SGDOptions(0.3).weight_decay(0.1), least_squares());
}

TEST_CASE("Adam takes LibTorch's way") {
  using optim::Adam;
  using optim::AdamOptions;
  check_trajectory<Adam>("adam", AdamOptions(0.1), least_squares());
  check_trajectory<Adam>("adam.rosenbrock", AdamOptions(0.05), rosenbrock());
  check_trajectory<Adam>("adam.betas", AdamOptions(0.2).betas({0.5, 0.9}).eps(1e-3),
                         least_squares());
  check_trajectory<Adam>("adam.amsgrad", AdamOptions(0.2).betas({0.5, 0.6}).amsgrad(true),
                         least_squares());
  check_trajectory<Adam>("adam.weight_decay", AdamOptions(0.1).weight_decay(0.5), least_squares());
}

TEST_CASE("AdamW takes LibTorch's way") {
  using optim::AdamW;
  using optim::AdamWOptions;
  check_trajectory<AdamW>("adamw", AdamWOptions(0.1), least_squares());
  check_trajectory<AdamW>("adamw.weight_decay", AdamWOptions(0.1).weight_decay(0.5),
                          least_squares());
  check_trajectory<AdamW>("adamw.rosenbrock", AdamWOptions(0.05).amsgrad(true), rosenbrock());
}

TEST_CASE("parameter groups step with their own options, as in LibTorch") {
  auto fast = ebb::ones({2}, ebb::kDouble).requires_grad_(true);
  auto slow = ebb::ones({2}, ebb::kDouble).requires_grad_(true);
  auto late = ebb::ones({2}, ebb::kDouble).requires_grad_(true);
  auto without_grad = ebb::ones({2}, ebb::kDouble).requires_grad_(true);

  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{fast, without_grad},
                      std::make_unique<optim::SGDOptions>(0.5));
  groups.emplace_back(std::vector<Tensor>{slow});  // takes the defaults
  optim::SGD optimizer(groups, optim::SGDOptions(0.01));
  optimizer.add_param_group(optim::OptimizerParamGroup(
      {late}, std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.1).weight_decay(1))));
  CHECK(optimizer.param_groups().size() == 3);
  CHECK(optimizer.param_groups()[0].params().size() == 2);
  CHECK(optimizer.size() == 4);
  CHECK(optimizer.param_groups()[1].options().get_lr() == 0.01);

  const auto backward = [&] {
    optimizer.zero_grad();
    (fast.sum() + slow.sum() * 2 + late.pow(2).sum()).backward();
  };
  backward();
  optimizer.step();
  expected().check("groups.fast", fast, kTolerance);
  expected().check("groups.slow", slow, kTolerance);
  expected().check("groups.late", late, kTolerance);
  expected().check("groups.without_grad", without_grad, kTolerance);

  static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(0.25);
  optimizer.param_groups()[1].options().set_lr(1);
  backward();
  optimizer.step();
  expected().check("groups.new_lr.fast", fast, kTolerance);
  expected().check("groups.new_lr.slow", slow, kTolerance);
  optimizer.zero_grad();
  optimizer.step();
  expected().check("zero_grad.step", fast, kTolerance);
}

TEST_CASE("a closure computes the loss with grad mode on") {
  auto p = ebb::tensor({3.0}, ebb::kDouble).requires_grad_(true);
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  const ebb::NoGradGuard no_grad;
  const auto loss = optimizer.step([&] {
    optimizer.zero_grad();
    const auto value = p.pow(2).sum();
    value.backward();
    return value;
  });
  expected().check("closure.loss", loss, kTolerance);
  expected().check("closure.parameter", p, kTolerance);
  CHECK_FALSE(optimizer.step().defined());
}

TEST_CASE("StepLR changes the learning rates when LibTorch does") {
  auto p = ebb::tensor({1.0}, ebb::kDouble).requires_grad_(true);
  auto q = ebb::tensor({1.0}, ebb::kDouble).requires_grad_(true);
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{p}, std::make_unique<optim::SGDOptions>(0.8));
  groups.emplace_back(std::vector<Tensor>{q}, std::make_unique<optim::SGDOptions>(0.1));
  optim::SGD optimizer(groups, optim::SGDOptions(1));
  optim::StepLR scheduler(optimizer, /*step_size=*/2, /*gamma=*/0.5);
  std::vector<double> first, second;
  for (int epoch = 0; epoch < 7; ++epoch) {
    optimizer.zero_grad();
    (p + q).pow(2).sum().backward();
    optimizer.step();
    scheduler.step();
    first.push_back(optimizer.param_groups()[0].options().get_lr());
    second.push_back(optimizer.param_groups()[1].options().get_lr());
  }
  expected().check("step_lr.first", ebb::tensor(first, ebb::kDouble), kTolerance);
  expected().check("step_lr.second", ebb::tensor(second, ebb::kDouble), kTolerance);
  expected().check("step_lr.p", p, kTolerance);
  expected().check("step_lr.q", q, kTolerance);
  CHECK_THROWS_AS(optim::StepLR(optimizer, 0), ebb::Error);
}
