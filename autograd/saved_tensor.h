#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

struct SavedTensorState;  // what saved-tensor hooks packed it to (autograd/saved_tensor_hooks.h)

/// A tensor that a node keeps for backward: the memory and geometry, the version at the time, and
/// the way back into the graph. It holds no TensorImpl, so that a tensor that is written in place
/// later cannot form a cycle with the node that saved it. While it lives its block counts as
/// `saved`. Move-only.
class EBB_API SavedTensor {
 public:
  /// Nothing: what is saved for a gradient that nobody wants.
  SavedTensor() noexcept = default;
  /// An input of the op (or anything else that is not an output of the node). Undefined tensors are
  /// allowed. Runs the pack hooks of the thread, if any.
  explicit SavedTensor(const Tensor& tensor);
  /// Output `output_nr` of the node that is being recorded: it keeps the node weakly.
  static SavedTensor of_output(const Tensor& tensor, uint32_t output_nr);
  SavedTensor(SavedTensor&& other) noexcept;
  SavedTensor& operator=(SavedTensor&& other) noexcept;
  ~SavedTensor();

  [[nodiscard]] bool defined() const noexcept;
  /// The tensor with its place in the graph. `node`: the node that saved it, whose output it may be.
  /// Throws an Error that names the op, both versions and the fix if it was written in place since.
  [[nodiscard]] Tensor unpack(const intrusive_ptr<Node>& node) const;
  /// Lets go of the memory.
  void reset() noexcept;

 private:
  // The autograd core defines the members: storage, geometry, version counter and version, edge
  // (or weakly the node), requires_grad, hook state.
};

}  // namespace ebb::autograd
