#include <ebb/autograd/tensor.h>

#include <algorithm>

#include <ebb/autograd/autograd.h>
#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/view.h>

// The methods of Tensor that concern gradients.

namespace ebb {

using autograd::AutogradMeta;
using autograd::materialize_meta;
using autograd::meta_of;

namespace {

const Tensor& undefined_tensor() {
  static const auto* const tensor = new Tensor();
  return *tensor;
}

AutogradMeta* checked_meta(const Tensor& tensor) {
  static_cast<void>(tensor.sizes());  // raises if undefined
  return meta_of(tensor);
}

}  // namespace

Tensor& Tensor::set_requires_grad(bool requires_grad) {
  requires_grad_(requires_grad);
  return *this;
}

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  const OpName name("requires_grad_");
  EBB_CHECK(!requires_grad || is_floating_point(),
            "only tensors of floating-point dtype can require gradients, got ",
            to_string(scalar_type()));
  EBB_CHECK(!requires_grad || !is_inference() || thread_state().inference_mode,
            "an inference tensor cannot require grad outside InferenceMode: clone it first");
  if (!is_leaf()) {
    EBB_CHECK(requires_grad,
              "you can only change requires_grad flags of leaf variables; for a part of the graph "
              "that is not differentiated use detach()");
    return *this;
  }
  if (requires_grad) materialize_meta(*this);
  impl()->set_requires_grad_flag(requires_grad);
  return *this;
}

bool Tensor::is_leaf() const { return !grad_fn().defined(); }

const Tensor& Tensor::grad() const {
  const AutogradMeta* meta = checked_meta(*this);
  return meta == nullptr ? undefined_tensor() : meta->grad;
}

Tensor& Tensor::mutable_grad() const {
  static_cast<void>(sizes());
  return materialize_meta(*this).grad;
}

intrusive_ptr<autograd::Node> Tensor::grad_fn() const {
  static_cast<void>(sizes());
  return autograd::grad_fn(*this);
}

int64_t Tensor::output_nr() const {
  const AutogradMeta* meta = checked_meta(*this);
  return meta == nullptr ? 0 : meta->output_nr;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  static_cast<void>(sizes());
  autograd::backward({*this}, {gradient}, retain_graph, create_graph,
                     inputs.has_value() ? inputs->vec() : autograd::variable_list());
}

Tensor Tensor::detach() const {
  static_cast<void>(sizes());
  return autograd::alias(*this);
}

Tensor& Tensor::detach_() const {
  const OpName name("detach_");
  EBB_CHECK(!is_view(), "a view cannot be detached in place (sizes ", sizes(),
            "): use detach(), or make it from a detached base");
  if (AutogradMeta* meta = meta_of(*this)) {
    meta->grad_fn.reset();
    meta->output_nr = 0;
    meta->retains_grad = false;
  }
  impl()->set_requires_grad_flag(false);
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::data() const {
  static_cast<void>(sizes());
  const TensorImpl& self = *impl();
  return Tensor(make_intrusive<TensorImpl>(self.storage(), self.dtype(), self.device(),
                                           self.sizes(), self.strides(), self.storage_offset()));
}

void Tensor::set_data(const Tensor& fresh) const {
  const OpName name("set_data");
  static_cast<void>(sizes());
  EBB_CHECK(fresh.defined(), "expected a tensor with data, got an undefined one");
  EBB_CHECK(!requires_grad() || fresh.is_floating_point(),
            "a tensor that requires grad cannot take data of dtype ",
            to_string(fresh.scalar_type()));
  if (AutogradMeta* meta = meta_of(*this)) {
    impl()->set_view_flag(false);
    meta->view.reset();
  }
  impl()->set_data(*fresh.impl());
}

void Tensor::retain_grad() const {
  const OpName name("retain_grad");
  EBB_CHECK(requires_grad(), "the tensor does not require grad (sizes ", sizes(), ")");
  const auto node = grad_fn();
  AutogradMeta& meta = materialize_meta(*this);
  if (!node.defined() || meta.retains_grad) return;  // a leaf keeps its gradient anyway
  node->hooks().retained.push_back({meta.output_nr, impl_ptr()});
  meta.retains_grad = true;
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = checked_meta(*this);
  return meta != nullptr && meta->retains_grad;
}

bool Tensor::is_view() const { return defined() && autograd::view_base(*this) != nullptr; }

const Tensor& Tensor::_base() const {
  const Tensor* base = autograd::view_base(*this);
  EBB_CHECK(base != nullptr, "_base: the tensor is not a view");
  return *base;
}

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook) const {
  const OpName name("register_hook");
  EBB_CHECK(requires_grad(),
            "cannot register a hook on a tensor that does not require grad (sizes ", sizes(), ")");
  AutogradMeta& meta = materialize_meta(*this);
  const unsigned id = meta.next_hook++;
  const autograd::Edge edge = autograd::gradient_edge(*this);
  edge.node->hooks().tensor_hooks.push_back(
      {edge.input_nr, id, std::make_shared<autograd::GradientHook>(std::move(hook))});
  return id;
}

void Tensor::remove_hook(unsigned handle) const {
  AutogradMeta* meta = checked_meta(*this);
  if (meta == nullptr) return;
  std::erase_if(meta->post_accumulate_hooks,
                [&](const auto& hook) { return hook.first == handle; });
  const autograd::Edge edge = autograd::gradient_edge(*this);
  if (!edge.valid() || !edge.node->has_hooks()) return;  // or backward has dropped them
  std::erase_if(edge.node->hooks().tensor_hooks, [&](const autograd::TensorHook& hook) {
    return hook.id == handle && hook.input_nr == edge.input_nr;
  });
}

unsigned Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const {
  const OpName name("register_post_accumulate_grad_hook");
  EBB_CHECK(requires_grad() && is_leaf(),
            "post-accumulate-grad hooks are for leaves that require grad (sizes ", sizes(), ")");
  AutogradMeta& meta = materialize_meta(*this);
  const unsigned id = meta.next_hook++;
  meta.post_accumulate_hooks.emplace_back(
      id, std::make_shared<autograd::PostAccumulateHook>(std::move(hook)));
  return id;
}

}  // namespace ebb
