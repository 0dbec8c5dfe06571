#pragma once

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

}  // namespace ebb::autograd::engine
