#pragma once

#include <cstdint>

#include <ebb/core/ops/line_shape.h>
#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// A loss over the classes of each row: a line of `input`, which is contiguous [outer, n, inner].
/// The rest is of the compute type (Float or Double) and contiguous, unless said otherwise.
///
///   loss = sum over classes c of t[c] * (log_sum_exp - input[c])
///
/// where t[c] = weight[c] * ((1 - smoothing) * target[c] + smoothing / n), and target[c] is 1 at
/// the class of the row, 0 elsewhere, unless `probabilities` give it. A row whose class is
/// ignore_index counts for nothing. Without log_sum_exp (as if it were 0): nll_loss.
struct LossArguments {
  LineShape shape;
  ScalarType compute;
  ScalarType input_dtype;
  const void* input = nullptr;          ///< not read by the backward kernel of nll_loss
  const int64_t* target = nullptr;      ///< [outer, inner]: classes (the CPU's are in range), or
  const void* probabilities = nullptr;  ///< of the sizes of the input and its dtype
  const void* weight = nullptr;         ///< [n], or null: all 1
  const void* log_sum_exp = nullptr;    ///< [outer, inner], or null
  int64_t ignore_index = -100;
  double smoothing = 0;

  /// Forward: where the losses of the rows go ([outer, inner]), or null: then their sum, divided by
  /// `total` if `mean`, goes to `output`; both of loss_dtype.
  void* row_losses = nullptr;
  /// Backward: the gradient of the input, of input_dtype; without inner dimensions it may lie where
  /// the input does.
  void* output = nullptr;
  ScalarType loss_dtype = ScalarType::Undefined;
  bool mean = false;
  /// The weights of the rows' classes, added up: one element, written by forward, read by backward.
  void* total = nullptr;
  /// 2 doubles for each piece of kLossPiece rows.
  double* workspace = nullptr;

  /// Backward: of the losses of rows, or one element; of grad_dtype.
  const void* grad = nullptr;
  ScalarType grad_dtype = ScalarType::Float;
  bool grad_per_row = false;
};

/// Losses are added up piece by piece of so many rows, whatever the number of threads.
inline constexpr int64_t kLossPiece = 1024;
/// The elements in a piece of squared_difference.
inline constexpr int64_t kSquaresPiece = 16384;

/// The sum of (operand 0 - operand 1)^2, divided by `divisor`.
struct SquaredDifference {
  void* output;  ///< one element
  ScalarType output_dtype;
  double divisor;
};

struct LossKernels {
  void (*forward)(const LossArguments& arguments);
  void (*backward)(const LossArguments& arguments);
  void (*squared_difference)(const TensorIterator& iterator, const SquaredDifference& arguments);
};

}  // namespace ebb
