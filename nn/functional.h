#pragma once

#include <ebb/autograd/tensor.h>
#include <ebb/nn/options.h>

/// What modules compute, as functions that are given their parameters.
namespace ebb::nn::functional {

/// input @ weight^T + bias: [..., in] with weight [out, in] gives [..., out].
EBB_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

/// Cross-correlation of [N, C, H, W] or [C, H, W] with weight [O, C / groups, kH, kW].
EBB_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                      const Conv2dFuncOptions& options = {});

/// The largest element, or the mean, of each window of [N, C, H, W] or [C, H, W].
EBB_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
EBB_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);

/// Normalises each channel (dimension 1), by the batch in training, else by the running statistics,
/// which may be undefined in training.
EBB_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                          const Tensor& running_var, const BatchNormFuncOptions& options = {});
/// Normalises over the last dimensions.
EBB_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);

/// The rows of weight [rows, width] that input, integers of any shape, names.
EBB_API Tensor embedding(const Tensor& input, const Tensor& weight,
                         const EmbeddingFuncOptions& options = {});
/// A further dimension of size `num_classes` (by default the greatest index + 1) with a 1 at the
/// index that `tensor` names.
EBB_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

/// Zeros with probability p, the rest scaled by 1 / (1 - p); the input itself without `training`.
EBB_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});

EBB_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
EBB_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
EBB_API Tensor silu(const Tensor& input);
EBB_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
EBB_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);

/// As in torch.nn.functional.
using ebb::scaled_dot_product_attention;

/// Losses: input and target of the same sizes (mse_loss), or scores [N, C, ...] and class indices
/// [N, ...]; cross_entropy also takes probabilities [N, C, ...] as its target.
EBB_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                        const MSELossFuncOptions& options = {});
EBB_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                        const NLLLossFuncOptions& options = {});
EBB_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                             const CrossEntropyFuncOptions& options = {});
/// cross_entropy of linear(input, weight, bias) of input [..., E], weight [C, E] and classes [...],
/// whose logits [..., C] are never held: neither forward nor backward has more than those of
/// `options.chunk` rows. Backward makes each product again, so that three products become four.
EBB_API Tensor linear_cross_entropy(const Tensor& input, const Tensor& weight, const Tensor& target,
                                    const LinearCrossEntropyFuncOptions& options = {});

}  // namespace ebb::nn::functional
