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
  /// Output `output_nr` of the node that is being recorded: it does not hold the node.
  static SavedTensor of_output(const Tensor& tensor, uint32_t output_nr);
  /// A copy that stands for `original`, whose place in the graph is `edge`.
  static SavedTensor of_copy(const Tensor& copy, Edge edge);
  SavedTensor(SavedTensor&& other) noexcept;
  SavedTensor& operator=(SavedTensor&& other) noexcept;
  ~SavedTensor();

  [[nodiscard]] bool defined() const noexcept { return defined_; }
  /// The tensor with its place in the graph. `node`: the node that saved it, whose output it may
  /// be. Throws an Error that names the op, both versions and the fix if it was written in place
  /// since. Without `with_history` the tensor is a constant.
  [[nodiscard]] Tensor unpack(const intrusive_ptr<Node>& node, bool with_history = true) const;
  /// Lets go of the memory.
  void reset() noexcept;

 private:
  SavedTensor(const Tensor& tensor, Edge edge, bool is_output);
  void take(SavedTensor& other) noexcept;
  void pack(const Tensor& tensor);
  void snapshot(const Tensor& tensor);
  void check_version(const Node* node) const;
  [[nodiscard]] Tensor with_place(intrusive_ptr<TensorImpl> impl,
                                  const intrusive_ptr<Node>& node) const;

  Storage storage_;
  intrusive_ptr<VersionCounter> counter_;
  Edge edge_;  // of an output only the number
  SavedTensorState* state_ = nullptr;
  DimVector sizes_;
  DimVector strides_;
  int64_t storage_offset_ = 0;
  uint32_t version_ = 0;
  ScalarType dtype_ = ScalarType::Undefined;
  Device device_{};
  bool defined_ = false;
  bool is_output_ = false;
  bool requires_grad_ = false;
  bool is_wrapped_number_ = false;
};

}  // namespace ebb::autograd
