#pragma once

#include <cstdint>
#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/ops/reduction.h>
#include <ebb/core/tensor/tensor_base.h>

// The losses without gradients. Classes are dimension 1 of `self` ([N, C, d1, ...]), or the only
// one
// ([C]). `weight`: one number for each class, or undefined. `reduction`: see Reduction; the mean
// divides by the weights of the rows' classes, added up.

namespace ebb::ops {

/// How a loss over classes is set up.
struct ClassLoss {
  TensorBase weight;
  int64_t reduction = Reduction::Mean;
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};

/// A loss, and what its backward needs beside the inputs. `total_weight` and `log_sum_exp` are of
/// dtype Double for Double, else Float.
struct ClassLossResult {
  TensorBase loss;
  TensorBase total_weight;  ///< one element
  TensorBase log_sum_exp;   ///< of the sizes of a class target; undefined for nll_loss
};

/// Throws an IndexError for a class of `target` (int64, row-major) that is neither ignore_index nor
/// in [0, classes). On a device its kernels find it.
void check_classes(const TensorBase& target, int64_t classes, int64_t ignore_index);

/// Minus self at the target class. target: int64 [N, d1, ...]; classes out of range, apart from
/// ignore_index, are an IndexError.
EBB_API ClassLossResult nll_loss(const TensorBase& self, const TensorBase& target,
                                 const ClassLoss& loss);
/// The gradient of self, which is of `sizes`.
EBB_API TensorBase nll_loss_backward(const TensorBase& grad_output, const TensorBase& target,
                                     const TensorBase& total_weight, IntArrayRef sizes,
                                     const ClassLoss& loss);

/// nll_loss of log_softmax. target: classes, or probabilities of self's sizes and dtype.
EBB_API ClassLossResult cross_entropy_loss(const TensorBase& self, const TensorBase& target,
                                           const ClassLoss& loss);
EBB_API TensorBase cross_entropy_loss_backward(const TensorBase& grad_output,
                                               const TensorBase& self, const TensorBase& target,
                                               const TensorBase& log_sum_exp,
                                               const TensorBase& total_weight,
                                               const ClassLoss& loss);

/// (self - target)^2, broadcast, reduced.
EBB_API TensorBase mse_loss(const TensorBase& self, const TensorBase& target, int64_t reduction);
/// The gradient of self, of the broadcast sizes.
EBB_API TensorBase mse_loss_backward(const TensorBase& grad_output, const TensorBase& self,
                                     const TensorBase& target, int64_t reduction);

}  // namespace ebb::ops
