#include <ebb/autograd/copy_slices.h>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
#include <ebb/core/ops/factory.h>

namespace ebb::autograd {

CopySlices::CopySlices(const Tensor& base, const Tensor& view, intrusive_ptr<Node> op,
                       size_t self_input)
    : Node("CopySlices"),
      op_(std::move(op)),
      self_input_(self_input),
      base_sizes_(base.sizes()),
      base_strides_(base.strides()),
      sizes_(view.sizes()),
      strides_(view.strides()),
      offset_(view.storage_offset() - base.storage_offset()) {
  add_input_metadata(base);
  // The edges of the op, with that of the view led to the base. An op that does not list the view
  // gets one more: what lies outside the view keeps its history.
  const size_t count = op_->num_outputs();
  for (size_t i = 0; i < count; ++i) {
    add_next_edge(i == self_input_ ? gradient_edge(base)
                                   : Edge{op_->next_edge(i).node, op_->next_edge(i).input_nr});
  }
  if (self_input_ >= count) {
    self_input_ = count;
    add_next_edge(gradient_edge(base));
  }
  saves_ = true;
}

variable_list CopySlices::apply(variable_list&& grads) {
  if (spent()) raise_spent();
  variable_list results(num_outputs());
  Tensor grad = std::move(grads[0]);
  if (!grad.defined()) return results;
  Tensor base_grad(
      ops::empty_strided(base_sizes_, base_strides_, grad.scalar_type(), grad.device()));
  base_grad.copy_(grad);
  grad.reset();
  Tensor slice = base_grad.as_strided(sizes_, strides_, offset_);
  variable_list op_grads;
  op_grads.push_back(slice.clone());
  const ActingFor acting(op_.get(), this);
  variable_list op_results = op_->apply(std::move(op_grads));
  op_results.resize(num_outputs());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!should_compute(i)) continue;
    if (i != self_input_) {
      results[i] = std::move(op_results[i]);
    } else {
      if (op_results[i].defined()) {
        slice.copy_(op_results[i]);
      } else {
        slice.zero_();
      }
      results[i] = base_grad;
    }
  }
  return results;
}

void CopySlices::release_variables() noexcept { op_->spend(/*failed=*/true); }

intrusive_ptr<Node> slice_of(const Tensor& base, const Tensor& view) {
  const AutoGradMode recording(true);
  SavedTensor now = SavedTensor::of_copy(base, gradient_edge(base));
  const Tensor stand_in = now.unpack({});
  const Tensor slice = stand_in.as_strided(view.sizes(), view.strides(), view.storage_offset());
  return meta_of(slice)->grad_fn;
}

}  // namespace ebb::autograd
