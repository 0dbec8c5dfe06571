#pragma once

#include <array>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

// Normalization. Statistics are taken, kept and used in float32 for 16-bit inputs. Tensors that may
// be absent are undefined then.

namespace ebb::ops {

/// A normalized tensor and what its gradient needs.
struct Normalized {
  TensorBase output;
  TensorBase mean;
  TensorBase rstd;  ///< 1 / sqrt(var + eps)
};

/// What batch_norm takes beside its input: one element for each channel.
struct BatchNormParameters {
  const TensorBase& weight;
  const TensorBase& bias;
  const TensorBase& running_mean;
  const TensorBase& running_var;
  bool training;
  double eps;
};

/// input [N, C, ...] normalized over all but the channels: by its own statistics in training, which
/// then move the running ones by `momentum` (the variance divided by n - 1), else by the running
/// ones. mean and rstd [C] are defined in training only.
EBB_API Normalized batch_norm(const TensorBase& input, const BatchNormParameters& parameters,
                              double momentum);
/// The gradients of input, weight and bias, as far as wanted.
EBB_API std::array<TensorBase, 3> batch_norm_backward(
    const TensorBase& grad_output, const TensorBase& input, const BatchNormParameters& parameters,
    const TensorBase& mean, const TensorBase& rstd, const std::array<bool, 3>& wanted);

/// input [..., *normalized_shape] normalized over the last dimensions; weight and bias are of
/// normalized_shape. mean and rstd have the sizes of input with those dimensions of size 1.
EBB_API Normalized layer_norm(const TensorBase& input, IntArrayRef normalized_shape,
                              const TensorBase& weight, const TensorBase& bias, double eps);
/// The gradients of input, weight and bias, as far as wanted.
EBB_API std::array<TensorBase, 3> layer_norm_backward(
    const TensorBase& grad_output, const TensorBase& input, IntArrayRef normalized_shape,
    const TensorBase& weight, const TensorBase& mean, const TensorBase& rstd,
    const std::array<bool, 3>& wanted);

}  // namespace ebb::ops
