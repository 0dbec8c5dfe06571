#pragma once

#include <array>
#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/random/distributions.h>
#include <ebb/core/tensor/tensor_base.h>

// Attention without its matrix of weights: scores are made tile by tile with a running maximum and
// sum (Dao, Fu, Ermon, Rudra, Re, "FlashAttention", 2022; Rabe and Staats, "Self-attention does not
// need O(n^2) memory", 2021), and made again in backward.

namespace ebb::ops {

struct AttentionParameters {
  const TensorBase& mask;  ///< bool, or of the dtype of query; undefined: none
  double dropout_p = 0;
  bool is_causal = false;
  double scale = 1;
  random::Reservation draw{};  ///< for dropout: see reserve_attention_dropout
};

struct Attention {
  TensorBase output;       ///< [N..., L, Ev]
  TensorBase log_sum_exp;  ///< [N..., L], float32 or double
};

/// softmax(scale query key^T + mask) value of query [N..., L, E], key [N..., S, E] and value
/// [N..., S, Ev], whose batch dimensions broadcast; so does mask, to [N..., L, S]. A query that
/// meets no key gives zeros. Rows of up to 256 elements, any strides; the two results are all the
/// memory it takes.
EBB_API Attention scaled_dot_product_attention(const TensorBase& query, const TensorBase& key,
                                               const TensorBase& value,
                                               const AttentionParameters& parameters);

/// The gradients of query, key and value, as far as wanted, with the broadcast batch dimensions.
EBB_API std::array<TensorBase, 3> scaled_dot_product_attention_backward(
    const TensorBase& grad_output, const TensorBase& query, const TensorBase& key,
    const TensorBase& value, const Attention& forward, const AttentionParameters& parameters,
    const std::array<bool, 3>& wanted);

/// Whether there is a kernel for rows of these widths.
[[nodiscard]] EBB_API bool has_attention_kernel(const TensorBase& query, const TensorBase& value);

/// Checks the tensors and gives the batch dimensions. Throws unless they fit.
EBB_API DimVector check_attention(const TensorBase& query, const TensorBase& key,
                                  const TensorBase& value, const TensorBase& mask);

/// The random numbers for dropout of the weights [N..., L, S]: those that dropout of that tensor
/// would draw.
EBB_API random::Reservation reserve_attention_dropout(const TensorBase& query,
                                                      const TensorBase& key, IntArrayRef batch);

}  // namespace ebb::ops
