#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Where the gradient of a leaf ends: it is added to `.grad`. It belongs to the leaf and knows it
/// weakly: the gradient of a leaf that nobody holds any more is dropped, for nobody could see it.
/// The tensor hooks of the leaf hang here, and run all the same.
class EBB_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  variable_list apply(variable_list&& grads) override;
  /// The leaf, undefined if it is gone.
  [[nodiscard]] Tensor leaf() const { return leaf_.lock(); }

 private:
  void accumulate(Tensor& into, Tensor grad);
  WeakTensor leaf_;
};

/// Whether nobody else sees the memory of `tensor` and all of it is in use, densely: then it may be
/// kept or written. A view that is the last owner of its base gives the base up.
EBB_API bool owns_memory(Tensor& tensor);

}  // namespace ebb::autograd
