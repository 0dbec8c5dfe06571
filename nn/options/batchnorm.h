#pragma once

#include <cstdint>
#include <optional>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of BatchNorm1d, 2d and 3d for inputs with `num_features` channels.
struct BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}  // NOLINT: implicit

  EBB_ARG(int64_t, num_features);
  /// Added to the variance.
  EBB_ARG(double, eps) = 1e-5;
  /// The weight of a batch in the running statistics; nullopt: the mean over all batches.
  EBB_ARG(std::optional<double>, momentum) = 0.1;
  /// Whether a learned weight and bias follow.
  EBB_ARG(bool, affine) = true;
  /// Whether running statistics are kept, and used in evaluation.
  EBB_ARG(bool, track_running_stats) = true;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace functional {

/// Options of batch_norm as a function.
struct BatchNormFuncOptions {
  EBB_ARG(Tensor, weight) = Tensor();
  EBB_ARG(Tensor, bias) = Tensor();
  EBB_ARG(bool, training) = false;
  EBB_ARG(std::optional<double>, momentum) = 0.1;
  EBB_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace ebb::nn
