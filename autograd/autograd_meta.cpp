#include <ebb/autograd/autograd_meta.h>

#include <algorithm>
#include <mutex>

#include <ebb/autograd/accumulate_grad.h>
#include <ebb/autograd/copy_slices.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/view.h>

namespace ebb::autograd {

AutogradMeta& materialize_meta(const TensorBase& tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl->autograd_meta() == nullptr) impl->set_autograd_meta(std::make_unique<AutogradMeta>());
  return static_cast<AutogradMeta&>(*impl->autograd_meta());
}

namespace {

void hang_retained(const Tensor& tensor, AutogradMeta& meta) {
  meta.grad_fn->hooks().retained.push_back({meta.output_nr, tensor.impl_ptr()});
}

/// Whether gradients for `accumulator` are gradients for `leaf` as it is now.
bool fits(const Node& accumulator, const Tensor& leaf) {
  const InputMetadata& expected = accumulator.input_metadata(0);
  return leaf.sizes() == IntArrayRef(expected.sizes) && leaf.scalar_type() == expected.dtype &&
         leaf.device() == expected.device;
}

/// A view sees what was written into its base: its history is that of a slice of the base.
void regenerate(const Tensor& view, AutogradMeta& meta) {
  const uint32_t version = view.impl()->version();
  if (meta.view->version == version || !meta.view->base.requires_grad()) return;
  check_view_kind(view, /*indirect=*/true);
  meta.grad_fn = slice_of(meta.view->base, view);
  meta.output_nr = 0;
  meta.view->version = version;
  view.impl()->set_requires_grad_flag(true);
  if (meta.retains_grad) hang_retained(view, meta);
}

}  // namespace

intrusive_ptr<Node> grad_fn(const Tensor& tensor) {
  AutogradMeta* meta = meta_of(tensor);
  if (meta == nullptr) return {};
  if (meta->view == nullptr) return meta->grad_fn;
  const std::lock_guard lock(meta->lock);
  regenerate(tensor, *meta);
  return meta->grad_fn;
}

intrusive_ptr<Node> grad_accumulator(const Tensor& tensor) {
  AutogradMeta& meta = materialize_meta(tensor);
  const std::lock_guard lock(meta.lock);
  if (!meta.accumulator.defined() || !fits(*meta.accumulator, tensor)) {
    intrusive_ptr<Node> fresh = make_intrusive<AccumulateGrad>(tensor);
    if (meta.accumulator.defined() && meta.accumulator->has_hooks()) {
      fresh->hooks().tensor_hooks = meta.accumulator->hooks().tensor_hooks;
    }
    meta.accumulator = std::move(fresh);
  }
  return meta.accumulator;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (auto node = grad_fn(tensor); node.defined()) {
    return {std::move(node), meta_of(tensor)->output_nr};
  }
  if (!tensor.requires_grad()) return {};
  return {grad_accumulator(tensor), 0};
}

void set_history(const Tensor& tensor, intrusive_ptr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = materialize_meta(tensor);
  TensorImpl* impl = tensor.impl();
  if (meta.retains_grad && meta.grad_fn.defined() && meta.grad_fn->has_hooks()) {
    auto& retained = meta.grad_fn->hooks().retained;
    std::erase_if(retained, [&](const auto& r) { return r.tensor.unsafe_get() == impl; });
  }
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  impl->set_requires_grad_flag(true);
  if (meta.view != nullptr) meta.view->version = impl->version();
  if (meta.retains_grad) hang_retained(tensor, meta);
}

void rebase_history(const Tensor& tensor, intrusive_ptr<Node> node, size_t self_input) {
  const Tensor* base = view_base(tensor);
  if (base == nullptr) {
    const uint32_t output_nr = node->add_input_metadata(tensor);
    set_history(tensor, std::move(node), output_nr);
    return;
  }
  node->add_input_metadata(tensor);
  auto copy = make_intrusive<CopySlices>(*base, tensor, std::move(node), self_input);
  set_history(*base, std::move(copy), 0);
  // The view itself is made anew, as a slice of the base, when somebody asks for its grad_fn.
  AutogradMeta& meta = materialize_meta(tensor);
  meta.view->version = tensor.impl()->version() - 1;
  tensor.impl()->set_requires_grad_flag(true);
}

void retain_gradient(const Tensor& tensor, const Tensor& grad) {
  Tensor& retained = materialize_meta(tensor).grad;
  Tensor sum = retained.defined() ? retained + grad : grad.clone();
  retained = std::move(sum);
}

}  // namespace ebb::autograd
