#pragma once

#include <optional>

#include <ebb/autograd/tensor.h>

namespace ebb::autograd {

/// Computes the sum of the gradients of `tensors` with respect to the leaves that they depend on
/// and adds it to `.grad()` of these. `grad_tensors`: the gradient of each tensor, of its sizes; a
/// list that is empty or an entry that is undefined stands for 1 where the tensor has one element.
/// The graph is spent unless `retain_graph` (by default: as `create_graph`). With `create_graph`
/// the gradients have a graph of their own. `inputs`: accumulate into these tensors only. Throws an
/// Error if a tensor does not require grad, or if sizes differ.
EBB_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                      std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                      const variable_list& inputs = {});

/// The sum of the gradients of `outputs` with respect to each of `inputs`; `.grad()` stays as it
/// is. The other arguments are those of `backward`. Throws an Error if an input has no part in the
/// outputs, unless `allow_unused`: then its gradient is undefined.
[[nodiscard]] EBB_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                           const variable_list& grad_outputs = {},
                           std::optional<bool> retain_graph = std::nullopt,
                           bool create_graph = false, bool allow_unused = false);

}  // namespace ebb::autograd
