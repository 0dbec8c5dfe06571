#include <ebb/autograd/view.h>

namespace ebb::autograd {

const Tensor* view_base(const TensorBase& tensor) noexcept {
  if (!tensor.defined()) return nullptr;
  const AutogradMeta* meta = meta_of(tensor);
  return meta == nullptr || meta->view == nullptr ? nullptr : &meta->view->base;
}

void mark_view(const Tensor& view, const Tensor& self, bool multi_output) {
  TensorImpl* impl = view.impl();
  if (self.is_inference()) {
    impl->set_inference(true);
    return;
  }
  impl->set_inference(false);
  if (view.is_same(self)) return;
  const AutogradMeta* from = meta_of(self);
  const bool is_view_of_view = from != nullptr && from->view != nullptr;
  const ThreadState& state = thread_state();
  ViewKind kind = multi_output ? ViewKind::multi_output : ViewKind::normal;
  if (state.inference_mode) {
    kind = ViewKind::inference;
  } else if (!state.grad_enabled) {
    kind = ViewKind::no_grad;
  }
  if (is_view_of_view && from->view->kind != ViewKind::normal) kind = from->view->kind;
  AutogradMeta& meta = materialize_meta(view);
  meta.view = std::make_unique<ViewInfo>();
  meta.view->base = is_view_of_view ? from->view->base : self;
  meta.view->kind = kind;
  meta.view->version = impl->version();
  impl->set_view_flag(true);
}

void check_view_kind(const Tensor& view, bool indirect) {
  const ViewKind kind = meta_of(view)->view->kind;
  if (kind == ViewKind::normal) return;
  const char* what =
      indirect ? "the base of a view, or another view of it, was written in place, and the view "
               : "a view cannot be written in place, because it ";
  const char* why = kind == ViewKind::no_grad
                        ? "was made under no-grad: make the view with grad mode on, or write "
                          "under NoGradGuard"
                    : kind == ViewKind::inference
                        ? "was made in inference mode: make the view outside of it"
                    : kind == ViewKind::multi_output
                        ? "is one of several that one op gave (split, chunk, unbind): write "
                          "out of place, or make the views one by one"
                        : "was made by a custom Function: clone the result before the write";
  EBB_CHECK(false, what, why, " (sizes ", view.sizes(), ")");
}

Tensor alias(const TensorBase& tensor) {
  const TensorImpl& impl = *tensor.impl();
  auto fresh = make_intrusive<TensorImpl>(impl.storage(), impl.dtype(), impl.device(), impl.sizes(),
                                          impl.strides(), impl.storage_offset());
  fresh->set_version(impl.share_version());
  fresh->set_inference(impl.is_inference());
  return Tensor(std::move(fresh));
}

}  // namespace ebb::autograd
