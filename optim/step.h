#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ebb/autograd/factories.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/optimizer.h>
#include <ebb/optim/optimizer.h>

// Not a public header: what the steps of the optimizers have in common.

namespace ebb::optim::detail {

/// What the optimizers of Adam's kind are told.
struct AdamNumbers {
  double lr;
  std::tuple<double, double> betas;
  double eps;
  double weight_decay;
  bool decoupled;  ///< weight_decay as AdamW has it

  /// Throws an Error that begins with `name` if one is out of range.
  void check(const char* name) const;
  /// What the kernel of step `step`, counted from 1, takes.
  [[nodiscard]] ops::AdamStep at(int64_t step) const;
};

/// What one parameter's step will do: the operands of the op, and what is to be done when it ran.
template <typename Operands, typename Finish>
struct Update {
  Operands operands;
  Finish finish;
};
template <typename Operands, typename Finish>
Update(Operands, Finish) -> Update<Operands, Finish>;

/// What is stepped for a parameter: itself, or with master_weights its float32 copy, which `next`
/// gets if it lacks one, or if the parameter was written by others since.
template <typename State, typename Options>
const Tensor& stepped(const Tensor& parameter, State& next, const Options& options) {
  if (!options.master_weights() || !is_reduced_floating_point(parameter.scalar_type())) {
    return parameter;
  }
  if (!next.master().defined() || next.master_version() != parameter._version()) {
    next.master(float_state(parameter));
  }
  return next.master();
}

/// After the step on `stepped`: the parameter becomes what its copy rounds to, and the new state
/// that of the parameter.
template <typename State>
void finish_step(const Tensor& parameter, const Tensor& stepped, State& state, State& next) {
  if (!stepped.is_same(parameter)) {
    ops::copy_(parameter, stepped);
    next.master_version(parameter._version());
  }
  state = std::move(next);
}

/// The gradient of a parameter; contiguous if the step rounds stochastically.
template <typename Options>
Tensor gradient(const Tensor& parameter, const Options& options) {
  return options.stochastic_rounding() ? parameter.grad().contiguous() : parameter.grad();
}

/// What the gradient of a parameter is multiplied by in the step.
inline double grad_factor(const Optimizer& optimizer, const Tensor& grad) {
  return grad.scalar_type() == kHalf ? optimizer.half_gradient_factor() : 1;
}

/// The scratch of the steps that round stochastically, which write `written` tensors for each
/// parameter; undefined if there are none.
template <typename Options>
Tensor rounding_scratch(const std::vector<OptimizerParamGroup>& groups, int64_t written) {
  int64_t largest = 0;
  std::optional<Device> device;
  for (const auto& group : groups) {
    if (!static_cast<const Options&>(group.options()).stochastic_rounding()) continue;
    for (const Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      check_rounded(parameter);
      EBB_CHECK(!device || *device == parameter.device(),
                "stochastic_rounding is for parameters on one device, got some on ", *device,
                " and on ", parameter.device(), "; give each device an optimizer");
      device = parameter.device();
      largest = std::max(largest, parameter.numel());
    }
  }
  if (!device) return {};
  return empty({written * std::min(largest, ops::kRoundedChunk)},
               TensorOptions(kFloat).device(*device));
}

/// A step in two parts. `prepare` is called for each parameter with a gradient, before any is
/// changed, with the state that the parameter has or a fresh one: it checks, and allocates what is
/// missing. Of the updates that it returns, `step` then runs all operands at once, and each is
/// finished; neither may fail. If preparing throws, nothing has changed: fresh states are dropped,
/// and an old one is still as it was, if `prepare` puts what it allocates into the update, not into
/// the state.
template <typename State, typename Options, typename Prepare, typename Step>
void step_in_two_parts(std::vector<OptimizerParamGroup>& groups, Optimizer::ParameterState& states,
                       Prepare&& prepare, Step&& step) {
  using Made = decltype(prepare(std::declval<const Tensor&>(), std::declval<State&>(),
                                std::declval<const Options&>()));
  std::vector<decltype(Made::operands)> operands;
  std::vector<decltype(Made::finish)> finishes;
  Optimizer::ParameterState fresh;
  for (auto& group : groups) {
    const auto& options = static_cast<const Options&>(group.options());
    for (const Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      const auto found = states.find(parameter.unsafeGetTensorImpl());
      OptimizerParamState* state = found == states.end() ? nullptr : found->second.get();
      if (state == nullptr) {
        auto& slot = fresh[parameter.unsafeGetTensorImpl()];
        slot = std::make_unique<State>();
        state = slot.get();
      }
      Made update = prepare(parameter, static_cast<State&>(*state), options);
      operands.push_back(std::move(update.operands));
      finishes.push_back(std::move(update.finish));
    }
  }
  states.reserve(states.size() + fresh.size());
  states.merge(fresh);
  step(operands);
  for (auto& finish : finishes) finish();
}

}  // namespace ebb::optim::detail
