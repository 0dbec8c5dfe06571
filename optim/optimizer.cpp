#include <ebb/optim/optimizer.h>

#include <typeinfo>
#include <unordered_set>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/memory/block.h>

namespace ebb::optim {

namespace {

template <typename T>
[[noreturn]] void raise_missing(const T& object, const char* function) {
  ebb::detail::raise<Error>(std::string(function) + " is not defined for the class " +
                            typeid(object).name() + "; override it");
}

}  // namespace

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  raise_missing(*this, "OptimizerParamState::clone");
}
std::vector<Tensor> OptimizerParamState::tensors() const {
  raise_missing(*this, "OptimizerParamState::tensors");
}
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  raise_missing(*this, "OptimizerOptions::clone");
}
double OptimizerOptions::get_lr() const { raise_missing(*this, "OptimizerOptions::get_lr"); }
void OptimizerOptions::set_lr(double) { raise_missing(*this, "OptimizerOptions::set_lr"); }

OptimizerOptions& OptimizerParamGroup::options() {
  EBB_CHECK(has_options(), "the parameter group has no options of its own; an optimizer gives it ",
            "those, or set_options does");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup*>(this)->options();
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> param_groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  EBB_CHECK(defaults_ != nullptr, "an optimizer needs default options");
  for (const auto& group : param_groups) Optimizer::add_param_group(group);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))},
                std::move(defaults)) {}

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& group : param_groups_) {
    for (const Tensor& parameter : group.params()) seen.insert(parameter.impl());
  }
  for (const Tensor& parameter : param_group.params()) {
    EBB_CHECK(parameter.defined(), "can't optimize an undefined tensor");
    EBB_CHECK(parameter.is_leaf(), "can't optimize a non-leaf Tensor: a parameter must not be the ",
              "result of an op (sizes ", parameter.sizes(), ")");
    EBB_CHECK(seen.insert(parameter.impl()).second,
              "some parameters appear more than once in the optimizer, in one group or in several ",
              "(sizes ", parameter.sizes(), ")");
  }
  OptimizerParamGroup group(param_group);
  if (!group.has_options()) group.set_options(defaults_->clone());
  check_options(group.options());
  param_groups_.push_back(std::move(group));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  EBB_CHECK(!param_groups_.empty(), "the optimizer has no parameter group yet");
  const OptimizerParamGroup checked(parameters);
  add_param_group(checked);
  param_groups_.pop_back();
  auto& params = param_groups_.front().params();
  params.insert(params.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  const NoGradGuard no_grad;
  for (auto& group : param_groups_) {
    for (const Tensor& parameter : group.params()) {
      Tensor& grad = parameter.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad.reset();
      } else {
        grad.detach_();
        grad.zero_();
      }
    }
  }
}

size_t Optimizer::size() const noexcept {
  size_t count = 0;
  for (const auto& group : param_groups_) count += group.params().size();
  return count;
}

void Optimizer::check_options(const OptimizerOptions&) const {}

void Optimizer::check_all_options() const {
  check_options(*defaults_);
  for (const auto& group : param_groups_) check_options(group.options());
}

namespace detail {

Tensor call_closure(const Optimizer::LossClosure& closure) {
  if (!closure) return {};
  const AutoGradMode enabled(true);
  return closure();
}

Tensor empty_state(const Tensor& parameter) {
  Tensor state = empty_like(parameter.detach());
  memory::set_category(state.storage().block(), memory::Category::optimizer_state);
  return state;
}

Tensor zero_state(const Tensor& parameter) {
  Tensor state = empty_state(parameter);
  state.zero_();
  return state;
}

Tensor float_state(const Tensor& parameter) {
  Tensor state = parameter.detach().to(kFloat);
  memory::set_category(state.storage().block(), memory::Category::optimizer_state);
  return state;
}

void check_rounded(const Tensor& parameter) {
  EBB_CHECK(parameter.scalar_type() == kBFloat16 && parameter.is_contiguous(),
            "stochastic_rounding is for contiguous bfloat16 parameters, got ",
            to_string(parameter.scalar_type()), " ", parameter.sizes(), " of strides ",
            parameter.strides(), "; master_weights(true) serves float16 too");
}

std::vector<Tensor> defined_ones(std::initializer_list<Tensor> tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) result.push_back(tensor);
  }
  return result;
}

}  // namespace detail
}  // namespace ebb::optim
