#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ebb/optim/optimizer.h>

// Not a public header: what the steps of the optimizers have in common.

namespace ebb::optim::detail {

/// What one parameter's step will do: the operands of the op, and what is to be done when it ran.
template <typename Operands, typename Finish>
struct Update {
  Operands operands;
  Finish finish;
};
template <typename Operands, typename Finish>
Update(Operands, Finish) -> Update<Operands, Finish>;

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
