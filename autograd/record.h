#pragma once

#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>

#include <ebb/autograd/node.h>
#include <ebb/autograd/saved_tensor.h>
#include <ebb/core/thread_state.h>

// How an op is recorded. An op in autograd/ops is one call of `differentiable`:
//
//   Tensor mul(const Tensor& self, const Tensor& other) {
//     return differentiable(
//         "mul", "MulBackward0", {self, other}, [&] { return ops::mul(self, other); },
//         [&](Recorder& r) { return mul_formula(r, self, other); });
//   }
//
// where the formula says what is saved and how the gradients follow from it:
//
//   auto mul_formula(Recorder& r, const Tensor& self, const Tensor& other) {
//     return [self = r.save_if(r.needs(1), self), other = r.save_if(r.needs(0), other)](Backward& b) {
//       if (b.needs(0)) b.set(0, b.grad() * b.get(other));
//       if (b.needs(1)) b.set(1, b.grad() * b.get(self));
//     };
//   }
//
// A gradient that a formula sets may have the broadcast sizes of the output or another floating
// dtype: the engine sums it down and converts it to what the input was. A formula captures
// SavedTensors, sizes and scalars, never tensors. It uses public ops, so that create_graph works.

namespace ebb::autograd {

using TensorRefs = std::initializer_list<std::reference_wrapper<const Tensor>>;

/// Whether an op on these inputs is recorded: grad mode is on and one of them requires grad.
inline bool needs_recording(TensorRefs inputs) {
  if (!thread_state().grad_enabled) return false;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}
EBB_API bool needs_recording(TensorList inputs);

class FormulaNodeBase;

/// What a formula sees when backward runs it.
class EBB_API Backward {
 public:
  Backward(FormulaNodeBase& node, variable_list& grads, variable_list& results) noexcept
      : node_(node), grads_(grads), results_(results) {}

  /// The gradient of output i of the op; undefined only for an op with several outputs, where
  /// nothing depended on this one.
  [[nodiscard]] const Tensor& grad(size_t i = 0) const { return grads_[i]; }
  [[nodiscard]] bool has_grad(size_t i) const { return grads_[i].defined(); }
  /// The gradient, given up by the engine, so that its memory may be reused where nobody else
  /// holds it.
  [[nodiscard]] Tensor take_grad(size_t i = 0) { return std::move(grads_[i]); }
  /// Whether the gradient of input i of the op is wanted.
  [[nodiscard]] bool needs(size_t i) const;
  /// Sets the gradient of input i; left out or undefined means zero.
  void set(size_t i, Tensor gradient) { results_[i] = std::move(gradient); }
  /// A saved tensor, checked against later writes; undefined if it was saved as nothing.
  [[nodiscard]] Tensor get(const SavedTensor& saved) const;
  /// Output i of the op, if the formula asked for it with Recorder::keep_result.
  [[nodiscard]] Tensor result(size_t i = 0) const;

 private:
  FormulaNodeBase& node_;
  variable_list& grads_;
  variable_list& results_;
};

/// A node whose backward is a formula (below). The part that is the same for all formulas.
class EBB_API FormulaNodeBase : public Node {
 public:
  using Node::Node;
  variable_list apply(variable_list&& grads) final;
  void release_variables() noexcept final;

 protected:
  virtual void run(Backward& backward) = 0;
  virtual void drop_formula() noexcept = 0;

 private:
  friend class Backward;
  friend class Recorder;
  std::vector<SavedTensor> kept_results_;
};

template <typename Formula>
class FormulaNode final : public FormulaNodeBase {
 public:
  FormulaNode(const char* name, Formula&& formula)
      : FormulaNodeBase(name), formula_(std::move(formula)) {}

 protected:
  void run(Backward& backward) override { (*formula_)(backward); }
  void drop_formula() noexcept override { formula_.reset(); }

 private:
  std::optional<Formula> formula_;
};

/// Records one op: knows which inputs want a gradient, saves tensors, and ties the result to its
/// node. For an op in place it must be made before the write.
class EBB_API Recorder {
 public:
  /// `written`: the tensor that an op in place is about to write, else null.
  Recorder(const char* node_name, TensorRefs inputs, const Tensor* written = nullptr);
  Recorder(const char* node_name, TensorList inputs, const Tensor* written = nullptr);

  /// Whether input i requires grad.
  [[nodiscard]] bool needs(size_t i) const { return edges_[i].valid(); }
  /// Keeps a tensor for backward. Of the tensor that is about to be written in place a copy is
  /// kept.
  [[nodiscard]] SavedTensor save(const Tensor& tensor);
  [[nodiscard]] SavedTensor save(const std::optional<Tensor>& tensor) {
    return tensor && tensor->defined() ? save(*tensor) : SavedTensor();
  }
  template <typename T>
  [[nodiscard]] SavedTensor save_if(bool condition, const T& tensor) {
    return condition ? save(tensor) : SavedTensor();
  }
  /// Keeps output i of the op for backward, once it is there: Backward::result(i).
  void keep_result(uint32_t i = 0) { kept_ |= 1U << i; }

  /// Makes `result` (fresh, of a floating-point dtype) the output of a node with this formula.
  template <typename Formula>
  void record(Tensor& result, Formula formula) {
    finish(make_intrusive<FormulaNode<Formula>>(name_, std::move(formula)), {result});
  }
  /// The same for several outputs. Undefined tensors and tensors that are not floating-point keep
  /// their place, but get no gradient.
  template <typename Formula>
  void record(TensorRefs results, Formula formula) {
    finish(make_intrusive<FormulaNode<Formula>>(name_, std::move(formula)), results);
  }
  /// The same for as many outputs as there are in a list.
  template <typename Formula>
  void record_all(const std::vector<Tensor>& results, Formula formula) {
    finish(make_intrusive<FormulaNode<Formula>>(name_, std::move(formula)), results);
  }
  /// After the write: makes self, and its base if it is a view, the output of the node.
  template <typename Formula>
  void record_in_place(const Tensor& self, Formula formula) {
    finish_in_place(make_intrusive<FormulaNode<Formula>>(name_, std::move(formula)), self);
  }

 private:
  void finish(intrusive_ptr<FormulaNodeBase> node, TensorRefs results);
  void finish(intrusive_ptr<FormulaNodeBase> node, const std::vector<Tensor>& results);
  template <typename Results>
  void tie(const intrusive_ptr<FormulaNodeBase>& node, const Results& results);
  void finish_in_place(intrusive_ptr<FormulaNodeBase> node, const Tensor& self);
  void prepare_write(const Tensor& written);
  void collect(const Tensor& input);

  const char* name_;
  edge_list edges_;
  const Tensor* written_;
  size_t written_input_ = ~size_t{0};  // which input is written
  Tensor written_copy_;
  uint32_t kept_ = 0;
  bool saves_ = false;
};

/// Throws unless `self` may be written in place now: not a leaf that requires grad (nor a view of
/// one) while grad mode is on, not an output of a multi-output view op, nor a view made under
/// no-grad, nor a tensor whose elements overlap.
EBB_API void check_inplace(const Tensor& self);

/// The whole of an op with one output. `forward()` gives a TensorBase; `formula(recorder)`, called
/// after it and only if the op is recorded, gives the formula. Inputs are numbered as listed.
template <typename Forward, typename MakeFormula>
Tensor differentiable(const char* op, const char* node_name, TensorRefs inputs, Forward&& forward,
                      MakeFormula&& formula) {
  const OpName name(op);
  Tensor result(forward());
  if (needs_recording(inputs)) {
    Recorder recorder(node_name, inputs);
    recorder.record(result, formula(recorder));
  }
  return result;
}

/// The whole of an op in place on `self`, which must be among the inputs. `formula(recorder)` is
/// called before the write, `forward()` writes (core bumps the version).
template <typename Forward, typename MakeFormula>
const Tensor& differentiable_(const char* op, const char* node_name, const Tensor& self,
                              TensorRefs inputs, Forward&& forward, MakeFormula&& formula) {
  const OpName name(op);
  check_inplace(self);
  if (!needs_recording(inputs)) {
    forward();
    return self;
  }
  Recorder recorder(node_name, inputs, &self);
  auto made = formula(recorder);
  forward();
  recorder.record_in_place(self, std::move(made));
  return self;
}

/// An op that has no gradient: its result never requires grad.
template <typename Forward>
Tensor not_differentiable(const char* op, Forward&& forward) {
  const OpName name(op);
  return Tensor(forward());
}

/// How a view op returns its result. `result` shares the memory of `self`; the formula gives the
/// gradient of self from that of the view. The view remembers its root base and geometry, so that
/// writes through either are seen by both (autograd/view.h). `multi_output`: one of several views
/// made by one call (split, unbind): refuses writes in place while grad mode is on.
template <typename MakeFormula>
Tensor differentiable_view(const char* node_name, const Tensor& self, TensorBase result,
                           MakeFormula&& formula, bool multi_output = false);

}  // namespace ebb::autograd

#include <ebb/autograd/view.h>
