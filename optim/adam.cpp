#include <ebb/optim/adam.h>

#include <cmath>

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ops/optimizer.h>
#include <ebb/optim/adamw.h>
#include <ebb/optim/step.h>

// Adam and AdamW: they differ in the meaning of weight_decay alone.

namespace ebb::optim {

namespace detail {

void AdamNumbers::check(const char* name) const {
  const auto [beta1, beta2] = betas;
  EBB_CHECK(lr >= 0, name, ": Invalid learning rate: ", lr);
  EBB_CHECK(eps >= 0, name, ": Invalid epsilon value: ", eps);
  EBB_CHECK(beta1 >= 0 && beta1 < 1, name, ": Invalid beta parameter at index 0: ", beta1);
  EBB_CHECK(beta2 >= 0 && beta2 < 1, name, ": Invalid beta parameter at index 1: ", beta2);
  EBB_CHECK(weight_decay >= 0, name, ": Invalid weight_decay value: ", weight_decay);
}

ops::AdamStep AdamNumbers::at(int64_t step) const {
  const auto [beta1, beta2] = betas;
  const auto count = static_cast<double>(step);
  ops::AdamStep numbers;
  numbers.step_size = lr / (1 - std::pow(beta1, count));
  numbers.bias_correction2_sqrt = std::sqrt(1 - std::pow(beta2, count));
  numbers.beta1 = beta1;
  numbers.beta2 = beta2;
  numbers.eps = eps;
  (decoupled ? numbers.shrink : numbers.weight_decay) =
      decoupled ? 1 - lr * weight_decay : weight_decay;
  return numbers;
}

}  // namespace detail

namespace {

template <typename Options>
detail::AdamNumbers numbers_of(const Options& options) {
  return {options.lr(), options.betas(), options.eps(), options.weight_decay(),
          std::is_same_v<Options, AdamWOptions>};
}

template <typename Options>
void check(const char* name, const OptimizerOptions& any) {
  const auto* options = dynamic_cast<const Options*>(&any);
  EBB_CHECK(options != nullptr, name, ": the options of a parameter group must be ", name,
            "Options");
  numbers_of(*options).check(name);
  EBB_CHECK(!options->master_weights() || !options->stochastic_rounding(), name,
            ": master_weights and stochastic_rounding exclude each other");
}

template <typename State, typename Options>
auto prepare(const Optimizer& optimizer, const Tensor& parameter, State& state,
             const Options& options) {
  State next = state;
  next.step(state.step() + 1);
  const Tensor stepped = detail::stepped(parameter, next, options);
  const Tensor grad = detail::gradient(parameter, options);
  if (!next.exp_avg().defined()) next.exp_avg(detail::zero_state(stepped));
  if (!next.exp_avg_sq().defined()) next.exp_avg_sq(detail::zero_state(stepped));
  Tensor max_exp_avg_sq;
  if (options.amsgrad()) {
    if (!next.max_exp_avg_sq().defined()) next.max_exp_avg_sq(detail::zero_state(stepped));
    max_exp_avg_sq = next.max_exp_avg_sq();
  }
  ops::check_step(parameter, {grad, next.exp_avg(), next.exp_avg_sq(), max_exp_avg_sq});
  ops::AdamStep numbers = numbers_of(options).at(next.step());
  numbers.rounds_stochastically = options.stochastic_rounding();
  numbers.grad_factor = detail::grad_factor(optimizer, grad);
  const ops::AdamOperands operands = {stepped,           grad,           next.exp_avg(),
                                      next.exp_avg_sq(), max_exp_avg_sq, numbers};
  return detail::Update{operands, [&state, next, parameter, stepped]() mutable {
                          detail::finish_step(parameter, stepped, state, next);
                        }};
}

/// What Adam and AdamW do in a step.
template <typename State, typename Options>
Tensor step(Optimizer& optimizer, const char* op, const Optimizer::LossClosure& closure) {
  Tensor loss = detail::call_closure(closure);
  const OpName name(op);
  const NoGradGuard no_grad;
  auto& groups = optimizer.param_groups();
  const Tensor scratch = detail::rounding_scratch<Options>(groups, 4);
  detail::step_in_two_parts<State, Options>(
      groups, optimizer.state(),
      [&](const Tensor& parameter, State& state, const Options& options) {
        return prepare(optimizer, parameter, state, options);
      },
      [&](const auto& operands) { ops::adam_steps_(operands, scratch); });
  return loss;
}

}  // namespace

Adam::Adam(std::vector<OptimizerParamGroup> param_groups, const AdamOptions& defaults)
    : Optimizer(std::move(param_groups), defaults.clone()) {
  check_all_options();
}
Adam::Adam(std::vector<Tensor> params, const AdamOptions& defaults)
    : Adam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {}

void Adam::check_options(const OptimizerOptions& options) const {
  check<AdamOptions>("Adam", options);
}

Tensor Adam::step(LossClosure closure) {
  return ebb::optim::step<AdamParamState, AdamOptions>(*this, "Adam::step", closure);
}

AdamW::AdamW(std::vector<OptimizerParamGroup> param_groups, const AdamWOptions& defaults)
    : Optimizer(std::move(param_groups), defaults.clone()) {
  check_all_options();
}
AdamW::AdamW(std::vector<Tensor> params, const AdamWOptions& defaults)
    : AdamW(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {}

void AdamW::check_options(const OptimizerOptions& options) const {
  check<AdamWOptions>("AdamW", options);
}

Tensor AdamW::step(LossClosure closure) {
  return ebb::optim::step<AdamWParamState, AdamWOptions>(*this, "AdamW::step", closure);
}

}  // namespace ebb::optim
