#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of LayerNorm over the last dimensions, whose sizes are `normalized_shape`.
struct LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape)  // NOLINT: implicit
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<int64_t>, normalized_shape);
  /// Added to the variance.
  EBB_ARG(double, eps) = 1e-5;
  /// Whether a learned weight and bias follow.
  EBB_ARG(bool, elementwise_affine) = true;
};

namespace functional {

/// Options of layer_norm as a function.
struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)  // NOLINT: implicit
      : normalized_shape_(std::move(normalized_shape)) {}

  EBB_ARG(std::vector<int64_t>, normalized_shape);
  EBB_ARG(Tensor, weight) = Tensor();
  EBB_ARG(Tensor, bias) = Tensor();
  EBB_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace ebb::nn
