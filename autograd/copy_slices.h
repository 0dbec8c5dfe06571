#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// The history of a base after an op wrote through one of its views: outside the view the gradient
/// passes on, inside it goes through the op.
class EBB_API CopySlices final : public Node {
 public:
  /// `op`: the node of the op on the view, of which `self_input` is the view before the write (or a
  /// number beyond the last input: nothing of the old values is left).
  CopySlices(const Tensor& base, const Tensor& view, intrusive_ptr<Node> op, size_t self_input);
  variable_list apply(variable_list&& grads) override;
  void release_variables() noexcept override;

 private:
  intrusive_ptr<Node> op_;
  size_t self_input_;  // in the list of edges
  DimVector base_sizes_;
  DimVector base_strides_;
  DimVector sizes_;
  DimVector strides_;
  int64_t offset_;  // of the view from the start of the base
};

/// A grad_fn for `view` as a slice of what its base is now.
EBB_API intrusive_ptr<Node> slice_of(const Tensor& base, const Tensor& view);

}  // namespace ebb::autograd
