#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ivalue.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/saved_tensor.h>

// Ops with a gradient of one's own:
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::AutogradContext* ctx, Tensor x) {
//       ctx->save_for_backward({x});
//       return x * x * x;
//     }
//     static autograd::variable_list backward(autograd::AutogradContext* ctx,
//                                             autograd::variable_list grads) {
//       return {grads[0] * 3 * ctx->get_saved_variables()[0].square()};
//     }
//   };
//   Tensor y = Cube::apply(x);

namespace ebb::autograd {

class CustomNode;

/// What forward and backward of a Function share.
class EBB_API AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Anything but tensors, by name.
  std::unordered_map<std::string, IValue> saved_data;

  /// Keeps inputs, outputs or other tensors for backward; a write in place meanwhile is an error in
  /// backward. Called at most once in forward.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The tensors that were saved, in that order. Throws an Error after the graph was freed.
  [[nodiscard]] variable_list get_saved_variables() const;
  /// Names inputs that forward has changed in place; they must be among its outputs.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// Names outputs that have no gradient. Those of integer dtype have none anyway.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// Whether backward gets zeros (the default) or an undefined tensor for an output that nothing
  /// depends on.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the gradient of argument `i` of apply is wanted: in forward, whether it is a tensor
  /// that requires grad. In backward `i` counts the tensors among the arguments only.
  [[nodiscard]] bool needs_input_grad(size_t i) const;

 private:
  friend class CustomNode;

  variable_list to_save_;
  std::vector<SavedTensor> saved_;
  variable_list dirty_;
  variable_list non_differentiable_;
  bool materialize_grads_ = true;
  bool freed_ = false;
  CustomNode* node_ = nullptr;
};

using CustomBackward = variable_list (*)(AutogradContext*, variable_list);

/// The node of a Function.
class EBB_API CustomNode final : public Node {
 public:
  CustomNode(const char* name, CustomBackward backward) : Node(name), backward_(backward) {
    context_.node_ = this;
  }
  variable_list apply(variable_list&& grads) override;
  void release_variables() noexcept override;

  [[nodiscard]] AutogradContext& context() noexcept { return context_; }
  /// Notes one argument of apply; those that are no tensor get no gradient.
  void add_argument(const Tensor* tensor);
  /// Whether a tensor that requires grad is among the arguments while grad mode is on.
  [[nodiscard]] bool is_recorded() const noexcept { return recorded_; }
  /// Ties the outputs to the node and saves what forward asked for.
  void finish(variable_list& outputs);

 private:
  friend class AutogradContext;
  void settle(Tensor& output, bool several);
  void make_views_refuse(const Tensor& output, bool several) const;

  AutogradContext context_;
  CustomBackward backward_;
  std::vector<bool> is_tensor_;  // of each argument
  variable_list inputs_;         // until finish
  bool recorded_ = false;
};

/// A name for the node of Function T: its type's.
EBB_API const char* function_name(const char* mangled);

namespace detail {

inline void add_argument(CustomNode& node, const Tensor& tensor) { node.add_argument(&tensor); }
inline void add_argument(CustomNode& node, const std::optional<Tensor>& tensor) {
  static const Tensor undefined;
  node.add_argument(tensor.has_value() ? &*tensor : &undefined);
}
inline void add_argument(CustomNode& node, TensorList tensors) {
  for (const Tensor& tensor : tensors) node.add_argument(&tensor);
}
inline void add_argument(CustomNode& node, const std::vector<Tensor>& tensors) {
  add_argument(node, TensorList(tensors));
}
template <typename T>
void add_argument(CustomNode& node, const T&) {
  node.add_argument(nullptr);
}

inline variable_list to_list(Tensor output) { return {std::move(output)}; }
inline variable_list to_list(variable_list outputs) { return outputs; }

}  // namespace detail

/// Derive from Function<T> with static members
///   Tensor or variable_list forward(AutogradContext*, any arguments...)
///   variable_list backward(AutogradContext*, variable_list grads)
/// and call T::apply(arguments...). Tensors among the arguments may also come in lists or be
/// optional. forward is not recorded; backward gives one gradient for each argument (and each
/// tensor of a list), undefined for those that are no tensor. It is recorded if the graph of the
/// gradient is asked for.
template <typename T>
struct Function {
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args)
      -> std::decay_t<decltype(X::forward(static_cast<AutogradContext*>(nullptr),
                                          std::forward<Args>(args)...))> {
    static const char* const name = function_name(typeid(X).name());
    const auto node = make_intrusive<CustomNode>(
        name, [](AutogradContext* ctx, variable_list grads) -> variable_list {
          return X::backward(ctx, std::move(grads));
        });
    (detail::add_argument(*node, args), ...);
    using Output = std::decay_t<decltype(X::forward(static_cast<AutogradContext*>(nullptr),
                                                    std::forward<Args>(args)...))>;
    variable_list outputs;
    {
      const AutoGradMode no_grad(false);
      outputs = detail::to_list(X::forward(&node->context(), std::forward<Args>(args)...));
    }
    node->finish(outputs);
    if constexpr (std::is_same_v<Output, Tensor>) {
      return std::move(outputs[0]);
    } else {
      return outputs;
    }
  }
};

}  // namespace ebb::autograd
