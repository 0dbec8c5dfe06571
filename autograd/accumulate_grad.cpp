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

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node("AccumulateGrad"), leaf_(leaf) {
  --thread_state().next_sequence_number;  // it is no recorded op
  uncount();
  sequence_number_ = std::numeric_limits<uint64_t>::max();
  is_accumulate_grad_ = true;
  add_input_metadata(leaf);
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

void AccumulateGrad::accumulate(Tensor& grad, Tensor incoming) {
  const std::lock_guard lock(lock_);
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
  const Tensor leaf = leaf_.lock();
  if (!leaf.defined() || !grads[0].defined()) return {};
  AutogradMeta& meta = materialize_meta(leaf);
  accumulate(meta.grad, std::move(grads[0]));
  const auto hooks = meta.post_accumulate_hooks;  // a copy: a hook may remove itself
  for (const auto& [id, hook] : hooks) (*hook)(leaf);
  return {};
}

}  // namespace ebb::autograd
