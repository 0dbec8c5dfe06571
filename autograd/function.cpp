#include <ebb/autograd/function.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <typeinfo>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/view.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>

namespace ebb::autograd {

namespace {

bool holds(const variable_list& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return t.is_same(tensor); });
}

Tensor zeros_for(const InputMetadata& metadata) {
  Tensor zeros(ops::empty(metadata.sizes, metadata.dtype, metadata.device));
  ops::fill_fresh(zeros, 0);
  return zeros;
}

}  // namespace

const char* function_name(const char* mangled) {
  int status = 0;
  char* name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  return status == 0 ? name : mangled;  // kept for good: one for each Function
}

// --- AutogradContext ---

variable_list AutogradContext::get_saved_variables() const {
  const std::lock_guard lock(node_->lock_);
  if (freed_) node_->raise_spent();
  variable_list tensors;
  tensors.reserve(saved_.size());
  for (const SavedTensor& saved : saved_) {
    tensors.push_back(saved.unpack(intrusive_ptr<Node>::share(node_)));
  }
  return tensors;
}

bool AutogradContext::needs_input_grad(size_t i) const {
  const bool in_forward = !node_->inputs_.empty() || node_->num_outputs() == 0;
  if (!in_forward) return node_->should_compute(i);
  if (i >= node_->is_tensor_.size() || !node_->is_tensor_[i]) return false;
  const auto tensors_before = static_cast<size_t>(std::count(
      node_->is_tensor_.begin(), node_->is_tensor_.begin() + static_cast<int64_t>(i), true));
  const Tensor& input = node_->inputs_[tensors_before];
  return input.defined() && input.requires_grad();
}

// --- CustomNode ---

void CustomNode::add_argument(const Tensor* tensor) {
  is_tensor_.push_back(tensor != nullptr);
  if (tensor == nullptr) return;
  inputs_.push_back(*tensor);
  recorded_ = recorded_ || needs_recording({*tensor});
}

void CustomNode::finish(variable_list& outputs) {
  if (recorded_) {
    for (const Tensor& input : inputs_) add_next_edge(gradient_edge(input));
  }
  for (const Tensor& input : context_.dirty_) {
    EBB_CHECK(holds(outputs, input), name(),
              ": a tensor that was marked dirty is not among the outputs");
  }
  size_t differentiable = 0;
  for (const Tensor& output : outputs) {
    differentiable += recorded_ && output.defined() && output.is_floating_point() &&
                      !holds(context_.non_differentiable_, output);
  }
  for (Tensor& output : outputs) settle(output, differentiable > 1);
  if (recorded_) {
    for (const Tensor& tensor : context_.to_save_) {
      const AutogradMeta* meta = tensor.defined() ? meta_of(tensor) : nullptr;
      const bool is_output = meta != nullptr && meta->grad_fn.get() == this;
      context_.saved_.push_back(is_output ? SavedTensor::of_output(tensor, meta->output_nr)
                                          : SavedTensor(tensor));
    }
    saves_ = !context_.saved_.empty();
  }
  context_.to_save_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  inputs_.clear();
}

void CustomNode::settle(Tensor& output, bool several) {
  const auto self = intrusive_ptr<Node>::share(this);
  const bool is_input = output.defined() && holds(inputs_, output);
  const bool is_dirty = is_input && holds(context_.dirty_, output);
  const bool has_gradient = recorded_ && output.defined() && output.is_floating_point() &&
                            !holds(context_.non_differentiable_, output);
  if (is_dirty && has_gradient) {
    {
      const AutoGradMode grad_mode(true);
      check_inplace(output);
    }
    const Tensor* base = view_base(output);
    EBB_CHECK(base == nullptr || !several, name(),
              ": a view that is changed in place must be the only output");
    size_t input_nr = 0;
    while (!inputs_[input_nr].is_same(output)) ++input_nr;
    rebase_history(output, self, input_nr);
    return;
  }
  const uint32_t output_nr = add_input_metadata(output);
  if (!output.defined()) return;
  if (is_input && !is_dirty) {  // an output of its own, of the same memory
    const Tensor input = std::exchange(output, alias(output));
    if (has_gradient) mark_view(output, input, several);
  }
  if (has_gradient) {
    make_views_refuse(output, several);
    set_history(output, self, output_nr);
  } else if (recorded_ && !is_input && output.requires_grad()) {
    output = alias(output);
  }
}

/// A view that forward made of something shows memory that others see; a write could not be
/// recorded.
void CustomNode::make_views_refuse(const Tensor& output, bool several) const {
  AutogradMeta* meta = meta_of(output);
  if (meta == nullptr || meta->view == nullptr) return;
  meta->view->kind = several ? ViewKind::multi_output : ViewKind::custom_function;
}

variable_list CustomNode::apply(variable_list&& grads) {
  if (context_.materialize_grads_) {
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined() && input_metadata(i).dtype != ScalarType::Undefined) {
        grads[i] = zeros_for(input_metadata(i));
      }
    }
  }
  variable_list results = backward_(&context_, std::move(grads));
  while (results.size() > is_tensor_.size() && !results.back().defined()) results.pop_back();
  EBB_CHECK(results.size() == is_tensor_.size(), "function ", name(),
            " returned an incorrect number of gradients (expected ", is_tensor_.size(), ", got ",
            results.size(), ")");
  variable_list gradients;
  gradients.reserve(num_outputs());
  for (size_t i = 0; i < results.size(); ++i) {
    EBB_CHECK(is_tensor_[i] || !results[i].defined(), "function ", name(),
              " returned a gradient different from undefined at position ", i,
              ", but the corresponding forward input was not a tensor");
    if (is_tensor_[i]) gradients.push_back(std::move(results[i]));
  }
  return gradients;
}

void CustomNode::release_variables() noexcept {
  const std::lock_guard lock(lock_);
  context_.saved_.clear();
  context_.freed_ = true;
}

}  // namespace ebb::autograd
