#pragma once

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// The rows of `weight` [V, D] that `indices` (int64 or int32, any sizes) name: [..., D].
EBB_API TensorBase embedding(const TensorBase& weight, const TensorBase& indices);
/// The gradient of weight [num_weights, D]: the rows of grad_output added up in the order of
/// `indices`, but none for `padding_idx` (-1: all count); each divided by how often its index
/// occurs where `scale_grad_by_freq`.
EBB_API TensorBase embedding_backward(const TensorBase& grad_output, const TensorBase& indices,
                                      int64_t num_weights, int64_t padding_idx,
                                      bool scale_grad_by_freq);

}  // namespace ebb::ops
