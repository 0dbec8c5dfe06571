#pragma once

#include <memory>
#include <vector>

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// How a view came about; all but `normal` refuse writes in place that would have to be recorded.
enum class ViewKind : uint8_t { normal, no_grad, inference, multi_output, custom_function };

/// What a view knows of where it comes from. Its geometry is that of the tensor itself.
struct ViewInfo {
  Tensor base;  ///< the root, not a view itself
  ViewKind kind = ViewKind::normal;
  uint32_t version = 0;  ///< for which grad_fn was made
};

using PostAccumulateHook = std::function<void(const Tensor&)>;

/// What autograd keeps beside a tensor.
class EBB_API AutogradMeta final : public AutogradMetaInterface {
 public:
  [[nodiscard]] bool base_requires_grad() const noexcept override {
    return view != nullptr && view->base.requires_grad();
  }

  Tensor grad;
  intrusive_ptr<Node> grad_fn;  ///< null for a leaf
  uint32_t output_nr = 0;
  unsigned next_hook = 0;
  bool retains_grad = false;
  SmallLock lock;                   ///< of making accumulator and, for views, grad_fn
  intrusive_ptr<Node> accumulator;  ///< of a leaf; it knows the leaf weakly
  std::unique_ptr<ViewInfo> view;
  std::vector<std::pair<unsigned, std::shared_ptr<PostAccumulateHook>>> post_accumulate_hooks;
};

/// The metadata, or null if there is none yet.
inline AutogradMeta* meta_of(const TensorBase& tensor) noexcept {
  return static_cast<AutogradMeta*>(tensor.impl()->autograd_meta());
}
/// The metadata, made on the first call.
EBB_API AutogradMeta& materialize_meta(const TensorBase& tensor);

/// The node that computed `tensor`, or null; of a view whose base was written since it is made
/// anew.
EBB_API intrusive_ptr<Node> grad_fn(const Tensor& tensor);
/// The node that accumulates into the leaf `tensor`, made on the first call and made anew, with its
/// hooks, when the leaf has got other sizes, dtype or device since.
EBB_API intrusive_ptr<Node> grad_accumulator(const Tensor& tensor);
/// Where a gradient of `tensor` goes; not valid if none is wanted.
EBB_API Edge gradient_edge(const Tensor& tensor);
/// Makes `tensor` output `output_nr` of `node`.
EBB_API void set_history(const Tensor& tensor, intrusive_ptr<Node> node, uint32_t output_nr);
/// After a write in place: makes `tensor`, or its base if it is a view, the output of `node`.
/// `self_input`: which input of the op `tensor` is, or a number beyond the last.
EBB_API void rebase_history(const Tensor& tensor, intrusive_ptr<Node> node, size_t self_input);
/// Notes the gradient of a tensor that is no leaf but retains it.
EBB_API void retain_gradient(const Tensor& tensor, const Tensor& grad);

}  // namespace ebb::autograd
