#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// While it lives, backward itself takes the optimizer's steps; see step_in_backward.
class EBB_API StepInBackward {
 public:
  StepInBackward(StepInBackward&&) noexcept = default;
  StepInBackward& operator=(StepInBackward&& other) noexcept;
  StepInBackward(const StepInBackward&) = delete;
  StepInBackward& operator=(const StepInBackward&) = delete;
  /// backward accumulates gradients again, and step() is the user's.
  ~StepInBackward() { remove(); }
  /// The same, now.
  void remove() noexcept;

  /// While the result lives, backward only adds to the gradients. For accumulation: all parts of a
  /// batch but the last one run under it, and the backward of the last one steps with the sum. All
  /// gradients are live in between.
  [[nodiscard]] std::shared_ptr<void> accumulate() const;

 private:
  struct State;
  friend EBB_API StepInBackward step_in_backward(Optimizer& optimizer);
  explicit StepInBackward(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
  std::vector<std::pair<Tensor, unsigned>> hooks_;
};

/// Each parameter of the optimizer is updated, and its gradient freed, as soon as backward has
/// completed that gradient, so that those of one layer at most are live (Lv et al., "Full parameter
/// fine-tuning for large language models with limited resources", 2023). The results are those of
/// backward() and step(), bit for bit: a parameter with several uses is stepped once, with the sum.
///
///   const auto steps = ebb::optim::step_in_backward(optimizer);
///   for (...) loss(...).backward();   // neither step() nor zero_grad()
///
/// Each backward is a step; to accumulate over several see accumulate(). What needs all gradients
/// together cannot work: clip_grad_norm_ finds none and returns 0 (clip each in a register_hook
/// of the parameter instead), and GradScaler::step throws, since it finds none. backward with
/// create_graph throws. A parameter that a backward changed, but whose old value is needed by a
/// further backward of the same graph, is the usual error of saved tensors.
///
/// An exception in the middle of backward leaves each parameter with its state before the step or
/// after it; a gradient whose step failed stays, and zero_grad() drops it. The optimizer must
/// outlive the handle and not be moved; groups and parameters that are added later are not
/// included, and are for step(). Several threads may run backward.
///
/// Throws an Error if a parameter has a gradient already, which would be added to the first step.
[[nodiscard]] EBB_API StepInBackward step_in_backward(Optimizer& optimizer);

}  // namespace ebb::optim
