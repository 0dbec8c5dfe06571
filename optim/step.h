#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ebb/optim/optimizer.h>

// Not a public header: what the steps of the optimizers have in common.

namespace ebb::optim::detail {

/// A step in two parts. `prepare` is called for each parameter with a gradient, before any is
/// changed, with the state that the parameter has or a fresh one: it checks, and allocates what is
/// missing. What it returns is then run for all of them, and must not fail. If preparing throws,
/// nothing has changed: fresh states are dropped, and an old one is still as it was, if `prepare`
/// puts what it allocates into the update, not into the state.
template <typename State, typename Options, typename Prepare>
void step_in_two_parts(std::vector<OptimizerParamGroup>& groups, Optimizer::ParameterState& states,
                       Prepare&& prepare) {
  using Update = decltype(prepare(std::declval<const Tensor&>(), std::declval<State&>(),
                                  std::declval<const Options&>()));
  std::vector<Update> updates;
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
      updates.push_back(prepare(parameter, static_cast<State&>(*state), options));
    }
  }
  states.reserve(states.size() + fresh.size());
  states.merge(fresh);
  for (Update& update : updates) update();
}

}  // namespace ebb::optim::detail
