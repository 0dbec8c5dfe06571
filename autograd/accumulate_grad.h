#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Where the gradient of a leaf ends: it is added to `.grad`. It keeps the leaf alive; the leaf
/// knows it weakly.
class EBB_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  variable_list apply(variable_list&& grads) override;
  void run_hooks(variable_list& grads) override;
  /// Called when nobody but weak owners is left.
  void release_variables() noexcept override { variable_.reset(); }
  [[nodiscard]] const Tensor& variable() const noexcept { return variable_; }

 private:
  void accumulate(Tensor grad);
  Tensor variable_;
};

/// Whether nobody else sees the memory of `tensor` and all of it is in use, densely: then it may be
/// kept or written. A view that is the last owner of its base gives the base up.
EBB_API bool owns_memory(Tensor& tensor);

}  // namespace ebb::autograd
