#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::autograd {

class Node;

/// Where a gradient goes: an input of a node.
struct Edge {
  intrusive_ptr<Node> node;
  uint32_t input_nr = 0;
  [[nodiscard]] bool valid() const noexcept { return node.defined(); }
};
using edge_list = std::vector<Edge>;

/// What a gradient must look like to enter a node: the sizes, dtype and device of the output that
/// the node computed in the forward pass.
struct InputMetadata {
  DimVector sizes;
  ScalarType dtype = ScalarType::Undefined;
  Device device{};
};

/// A recorded op. Its inputs are the gradients of the op's outputs; its outputs, one for each edge,
/// the gradients of the op's inputs. See record.h for how ops make one.
class EBB_API Node : public RefCounted {
 public:
  explicit Node(const char* name);
  ~Node() override;

  /// Computes the gradients of the inputs; undefined where none is wanted (`should_compute`).
  virtual variable_list apply(variable_list&& grads) = 0;
  /// Drops what was saved for backward. The node cannot run again.
  virtual void release_variables() noexcept {}

  /// "MulBackward0"
  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// The order of recording on its thread; accumulation into leaves has the greatest.
  [[nodiscard]] uint64_t sequence_number() const noexcept { return sequence_number_; }

  [[nodiscard]] const edge_list& next_edges() const noexcept { return next_edges_; }
  [[nodiscard]] const Edge& next_edge(size_t i) const noexcept { return next_edges_[i]; }
  [[nodiscard]] size_t num_outputs() const noexcept { return next_edges_.size(); }
  [[nodiscard]] size_t num_inputs() const noexcept { return input_metadata_.size(); }
  [[nodiscard]] const InputMetadata& input_metadata(size_t i) const noexcept {
    return input_metadata_[i];
  }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  uint32_t add_input_metadata(const TensorBase& tensor);

  /// Whether somebody wants the gradient of input i of the op: it has an edge, and in this backward
  /// (`grad(outputs, inputs)`) something beyond the edge is asked for.
  [[nodiscard]] bool should_compute(size_t i) const noexcept;

 protected:
  void release_resources() noexcept override;
  void destroy() noexcept override;  // through a worklist: a chain of a million does not recurse

  // The autograd core may add members here (hooks, anomaly data, engine marks).
  const char* name_;
  uint64_t sequence_number_;
  edge_list next_edges_;
  std::vector<InputMetadata> input_metadata_;
};

}  // namespace ebb::autograd
