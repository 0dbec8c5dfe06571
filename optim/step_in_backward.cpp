#include <ebb/optim/step_in_backward.h>

#include <atomic>
#include <mutex>

#include <ebb/autograd/grad_mode.h>

namespace ebb::optim {

namespace {

/// Leaves an optimizer with one parameter until the end of the scope.
class OnlyParameter {
 public:
  OnlyParameter(Optimizer& optimizer, size_t group, const Tensor& parameter)
      : groups_(optimizer.param_groups()), all_(groups_.size()) {
    all_[group].push_back(parameter);
    swap();
  }
  ~OnlyParameter() { swap(); }
  OnlyParameter(const OnlyParameter&) = delete;
  OnlyParameter& operator=(const OnlyParameter&) = delete;

 private:
  void swap() noexcept {
    for (size_t i = 0; i < all_.size(); ++i) all_[i].swap(groups_[i].params());
  }
  std::vector<OptimizerParamGroup>& groups_;
  std::vector<std::vector<Tensor>> all_;
};

}  // namespace

// Known to the hooks, which hold no parameter: those would hold each other.
struct StepInBackward::State {
  explicit State(Optimizer& optimizer) : optimizer(optimizer) {}

  void step(const Tensor& parameter, size_t group) {
    if (accumulating.load() > 0) return;
    const OpName name("step_in_backward");
    EBB_CHECK(!GradMode::is_enabled(), "backward with create_graph makes gradients that belong to ",
              "a graph, which a step would spoil; remove the handle of step_in_backward for it");
    const std::lock_guard lock(mutex);
    const OnlyParameter only(optimizer, group, parameter);
    optimizer.step();
    parameter.mutable_grad().reset();
  }

  Optimizer& optimizer;
  std::mutex mutex;
  std::atomic<int> accumulating = 0;
};

StepInBackward step_in_backward(Optimizer& optimizer) {
  const OpName name("step_in_backward");
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& parameter : group.params()) {
      EBB_CHECK(!parameter.grad().defined(), "a parameter of sizes ", parameter.sizes(),
                " has a gradient of an earlier backward, which the first step would take in; call ",
                "step() or zero_grad() first, and to accumulate over several backwards use the ",
                "handle's accumulate()");
    }
  }
  const auto state = std::make_shared<StepInBackward::State>(optimizer);
  StepInBackward handle(state);
  handle.hooks_.reserve(optimizer.size());
  for (size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    for (const Tensor& parameter : optimizer.param_groups()[i].params()) {
      if (!parameter.requires_grad()) continue;
      handle.hooks_.emplace_back(
          parameter, parameter.register_post_accumulate_grad_hook(
                         [state, i](const Tensor& leaf) { state->step(leaf, i); }));
    }
  }
  return handle;
}

StepInBackward& StepInBackward::operator=(StepInBackward&& other) noexcept {
  if (this == &other) return *this;
  remove();
  state_ = std::move(other.state_);
  hooks_ = std::move(other.hooks_);
  return *this;
}

void StepInBackward::remove() noexcept {
  for (const auto& [parameter, hook] : hooks_) parameter.remove_hook(hook);
  hooks_.clear();
}

std::shared_ptr<void> StepInBackward::accumulate() const {
  ++state_->accumulating;
  return {nullptr, [state = state_](void*) { --state->accumulating; }};
}

}  // namespace ebb::optim
