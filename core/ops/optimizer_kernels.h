#pragma once

#include <ebb/core/ops/optimizer.h>
#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// Steps of optimizers. The iterator's compute type is float or double.
struct OptimizerKernels {
  /// Operands: parameter, gradient, and the momentum buffer where there is momentum.
  void (*sgd)(const TensorIterator& iterator, const ops::SgdStep& step);
  /// Operands: parameter, gradient, exp_avg, exp_avg_sq, and max_exp_avg_sq for AMSGrad.
  void (*adam)(const TensorIterator& iterator, const ops::AdamStep& step);
};

}  // namespace ebb
