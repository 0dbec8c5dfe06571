#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ebb/autograd/inline_list.h>
#include <ebb/autograd/small_lock.h>
#include <ebb/autograd/tensor.h>
#include <ebb/core/memory/stream.h>

namespace ebb::autograd {

class Node;

/// Where a gradient goes: an input of a node.
struct Edge {
  intrusive_ptr<Node> node;
  uint32_t input_nr = 0;
  [[nodiscard]] bool valid() const noexcept { return node.defined(); }
};
using edge_list = InlineList<Edge, 2>;

/// What a gradient must look like to enter a node: the sizes, dtype and device of the output that
/// the node computed in the forward pass, and the stream on which it did.
struct InputMetadata {
  DimVector sizes;
  ScalarType dtype = ScalarType::Undefined;
  Device device{};
  memory::StreamId stream = 0;
};

using GradientHook = std::function<Tensor(const Tensor&)>;

/// A hook of a tensor: sees the gradient that enters the node at `input_nr`.
struct TensorHook {
  uint32_t input_nr = 0;
  unsigned id = 0;
  std::shared_ptr<GradientHook> call;
};

/// A tensor that keeps its gradient though it is no leaf.
struct RetainedGrad {
  uint32_t input_nr = 0;
  weak_intrusive_ptr<TensorImpl> tensor;
};

/// The hooks of a node, in the order of registration.
struct NodeHooks {
  std::vector<TensorHook> tensor_hooks;
  std::vector<RetainedGrad> retained;
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
  /// Runs the hooks on the gradients that are about to enter.
  virtual void run_hooks(variable_list& grads);

  /// "MulBackward0"
  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// The op that recorded the node: "mul".
  [[nodiscard]] const char* op_name() const noexcept { return op_name_; }
  /// The order of recording on its thread; accumulation into leaves has the greatest.
  [[nodiscard]] uint64_t sequence_number() const noexcept { return sequence_number_; }
  [[nodiscard]] bool is_accumulate_grad() const noexcept { return is_accumulate_grad_; }

  [[nodiscard]] const edge_list& next_edges() const noexcept { return next_edges_; }
  [[nodiscard]] const Edge& next_edge(size_t i) const noexcept { return next_edges_[i]; }
  [[nodiscard]] size_t num_outputs() const noexcept { return next_edges_.size(); }
  [[nodiscard]] size_t num_inputs() const noexcept { return input_metadata_.size(); }
  [[nodiscard]] const InputMetadata& input_metadata(size_t i) const noexcept {
    return input_metadata_[i];
  }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  void set_next_edges(edge_list edges) noexcept { next_edges_ = std::move(edges); }
  uint32_t add_input_metadata(const TensorBase& tensor);

  /// Whether somebody wants the gradient of input i of the op: it has an edge, and in this backward
  /// (`grad(outputs, inputs)`) something beyond the edge is asked for.
  [[nodiscard]] bool should_compute(size_t i) const noexcept;

  /// What backward has used up: a node that saved something or had hooks runs once only.
  [[nodiscard]] bool spent() const noexcept { return spent_.load(std::memory_order_acquire); }
  /// Drops saved tensors and hooks. `failed`: backward threw, and what is left is worth nothing.
  void spend(bool failed) noexcept;
  /// The error of a second backward.
  [[noreturn]] void raise_spent() const;

  /// The hooks, made on the first call.
  NodeHooks& hooks();
  [[nodiscard]] bool has_hooks() const noexcept { return hooks_ != nullptr; }

  /// "mul, whose result has the sizes [2, 3]": for messages.
  [[nodiscard]] std::string describe_op() const;

 protected:
  void release_resources() noexcept override;
  void destroy() noexcept override;  // through a worklist: a chain of a million does not recurse

  /// Leaves it out of live_nodes.
  void uncount() noexcept;

  friend class Recorder;
  friend class AutogradContext;

  const char* name_;
  const char* op_name_;
  uint64_t sequence_number_;
  edge_list next_edges_;
  InlineList<InputMetadata, 1> input_metadata_;
  std::unique_ptr<NodeHooks> hooks_;
  SmallLock lock_;  // of a run against a release on another thread
  std::atomic<bool> spent_{false};
  bool saves_ = false;
  bool is_accumulate_grad_ = false;
  bool is_counted_ = true;  // among live_nodes

 private:
  friend class Worklist;
  Node* next_doomed_ = nullptr;
  weak_intrusive_ptr<Node> weak_self_;  // while its resources wait in the worklist
};

/// Calls the hooks in order; what a hook gives replaces the gradient. Throws an Error if that does
/// not have the sizes of `grad`.
EBB_API void run_tensor_hooks(const std::vector<TensorHook>& hooks, variable_list& grads);

/// How many recorded ops exist in the process, for leak tests: nodes but those of leaves, and those
/// that only weak owners know and that have let go of everything.
[[nodiscard]] EBB_API int64_t live_nodes() noexcept;

/// Within it, `should_compute(i)` of `inner` answers for `outer`: a node that runs inside another
/// one is not known to the engine.
class ActingFor {
 public:
  ActingFor(const Node* inner, const Node* outer) noexcept;
  ~ActingFor();
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

 private:
  const Node* outer_inner_;
  const Node* outer_outer_;
};

}  // namespace ebb::autograd
