#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/ops/loss.h>

// The cross entropy of a linear layer for some rows at a time, so that the logits [rows, classes],
// in a language model the largest tensor of a step, are never held.

namespace ebb::ops {

/// How the loss is set up. `chunk`: how many rows at a time; 0: linear_cross_entropy_chunk.
struct LinearCrossEntropy {
  int64_t reduction = Reduction::Mean;
  int64_t ignore_index = -100;
  double label_smoothing = 0;
  int64_t chunk = 0;
  bool wide = false;  ///< the loss of 16-bit inputs is float32, as cross_entropy's under autocast
};

/// So many rows that their logits have no more elements than the input, but at least 128, so that
/// products stay worth their while.
EBB_API int64_t linear_cross_entropy_chunk(int64_t rows, int64_t features, int64_t classes);

/// input [rows, features], weight [classes, features], bias [classes] or undefined, target [rows].
/// Beside the result it allocates the logits of one chunk. `loss` is [rows] or []; sums are made in
/// float32 (double for Double).
EBB_API ClassLossResult linear_cross_entropy(const TensorBase& input, const TensorBase& weight,
                                             const std::optional<TensorBase>& bias,
                                             const TensorBase& target,
                                             const LinearCrossEntropy& loss);

/// The gradients of input, weight and bias, as far as they are wanted, from logits computed again,
/// chunk by chunk, in whose memory their gradient is made. The gradients of weight and bias are
/// added up in float32 (double for Double).
EBB_API std::array<TensorBase, 3> linear_cross_entropy_backward(
    const TensorBase& grad_output, const TensorBase& input, const TensorBase& weight,
    const std::optional<TensorBase>& bias, const TensorBase& target, const TensorBase& log_sum_exp,
    const TensorBase& total_weight, const LinearCrossEntropy& loss, std::array<bool, 3> wanted);

}  // namespace ebb::ops
