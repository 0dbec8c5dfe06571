#pragma once

#include <ebb/core/ops/optimizer.h>
#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// Contiguous tensors that a kernel takes at once: `count` of them for each of `noperands`
/// operands. Operand i of tensor k starts at data[k * noperands + i] and has numel[k] elements of
/// dtype[i].
struct TensorLists {
  /// The most that a list can hold.
  static constexpr int kMaxCount = 48;

  int noperands = 0;
  int count = 0;
  ScalarType compute_type = kFloat;
  ScalarType dtype[TensorIterator::kMaxOperands] = {};
  int64_t numel[kMaxCount] = {};
  char* data[kMaxCount * TensorIterator::kMaxOperands] = {};
};

/// Steps of optimizers. The compute type of an iterator or a list is float or double. The kernels
/// for lists give what the others give tensor by tensor; they are null on a device that gains
/// nothing from them.
struct OptimizerKernels {
  /// Operands: parameter, gradient, and the momentum buffer where there is momentum.
  void (*sgd)(const TensorIterator& iterator, const ops::SgdStep& step);
  /// Operands: parameter, gradient, exp_avg, exp_avg_sq, and max_exp_avg_sq for AMSGrad.
  void (*adam)(const TensorIterator& iterator, const ops::AdamStep& step);
  /// Operands: parameter, gradient, two factors of it, and exp_avg where there is beta1.
  void (*factored)(const TensorIterator& iterator, const ops::FactoredStep& step);
  /// Operand: gradient. It is multiplied by *inverse_scale; *found becomes 1 if an element was not
  /// finite before.
  void (*unscale)(const TensorIterator& iterator, const float* inverse_scale, float* found);

  void (*sgd_list)(const TensorLists& lists, const ops::SgdStep& step);
  void (*adam_list)(const TensorLists& lists, const ops::AdamStep& step);
  void (*unscale_list)(const TensorLists& lists, const float* inverse_scale, float* found);
  /// norms[k] becomes the norm of order p (1, 2 or infinity) of the k-th tensor. One operand.
  void (*norm_list)(const TensorLists& lists, double p, double* norms);
};

}  // namespace ebb
