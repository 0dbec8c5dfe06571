#pragma once

#include <functional>

#include <ebb/autograd/node.h>

namespace ebb::autograd::engine {

/// What one call of backward or grad is asked for.
struct Request {
  edge_list roots;                    ///< where the gradients enter
  variable_list root_grads;           ///< one for each root
  const edge_list* inputs = nullptr;  ///< only what leads to these is computed; null: all
  bool accumulate =
      true;  ///< into `.grad` of leaves; otherwise the gradients of `inputs` are returned
  bool keep_graph = false;
  bool create_graph = false;
};

/// Runs the nodes from the roots on the calling thread, in descending order of recording. Returns
/// the gradients of the inputs (undefined where there is no path) unless they are accumulated. May
/// be called within backward. On an exception each `.grad` is its old value or a complete sum, and
/// unless keep_graph the graph is spent.
EBB_API variable_list run(Request request);

/// In the backward that runs on this thread, if any: whether gradients are to enter `node`.
[[nodiscard]] bool is_wanted(const Node& node) noexcept;

/// Calls `action` when the node that backward runs on this thread has run, or when backward ends,
/// also by an exception. False, and nothing is called, where no backward runs.
[[nodiscard]] EBB_API bool after_node(std::function<void()> action);
/// The same, when the backward that runs on this thread ends.
EBB_API bool after_backward(std::function<void()> action);

}  // namespace ebb::autograd::engine
