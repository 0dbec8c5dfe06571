#include <ebb/autograd/accumulate_grad.h>

#include <limits>
#include <mutex>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/view.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/binary.h>
#include <ebb/core/ops/copy.h>

namespace ebb::autograd {

AccumulateGrad::AccumulateGrad(Tensor variable)
    : Node("AccumulateGrad"), variable_(std::move(variable)) {
  --thread_state().next_sequence_number;  // it is no recorded op
  sequence_number_ = std::numeric_limits<uint64_t>::max();
  is_accumulate_grad_ = true;
  add_input_metadata(variable_);
}

bool owns_memory(Tensor& tensor) {
  if (tensor.use_count() != 1) return false;
  AutogradMeta* meta = meta_of(tensor);
  if (meta != nullptr && meta->view != nullptr && meta->view->base.use_count() == 1) {
    tensor.impl()->set_view_flag(false);
    meta->view.reset();
  }
  const Storage& storage = tensor.storage();
  return storage.use_count() == 1 && storage.nbytes() == tensor.nbytes() &&
         tensor.is_non_overlapping_and_dense();
}

namespace {

/// The gradient as memory of its own: itself where nobody else sees it, else a dense copy.
Tensor own(Tensor grad) {
  if (owns_memory(grad)) {
    grad.impl()->set_autograd_meta(nullptr);
    grad.impl()->set_requires_grad_flag(false);
    return grad;
  }
  return Tensor(ops::clone(grad));
}

void tag(const Tensor& grad) {
  if (memory::Block* block = grad.storage().block()) {
    memory::set_category(block, memory::Category::gradient);
  }
}

}  // namespace

void AccumulateGrad::accumulate(Tensor incoming) {
  const std::lock_guard lock(lock_);
  Tensor& grad = materialize_meta(variable_).grad;
  if (GradMode::is_enabled()) {  // create_graph: what was there stays as it is
    Tensor sum = grad.defined() ? grad + incoming : incoming.clone();
    grad = std::move(sum);
  } else if (grad.defined()) {
    ops::add(ops::Form::in_place, grad, incoming, 1);
  } else {
    grad = own(std::move(incoming));
  }
  tag(grad);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {};
  accumulate(std::move(grads[0]));
  const auto hooks = materialize_meta(variable_).post_accumulate_hooks;  // a hook may remove itself
  for (const auto& [id, hook] : hooks) (*hook)(variable_);
  return {};
}

void AccumulateGrad::run_hooks(variable_list& grads) {
  const AutogradMeta* meta = meta_of(variable_);
  if (meta != nullptr && !meta->hooks.empty()) run_tensor_hooks(meta->hooks, grads);
}

}  // namespace ebb::autograd
