#pragma once

#include <cstdint>

#include <ebb/core/ops/matmul_kernels.h>
#include <ebb/core/random/distributions.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// softmax(scale query key^T + mask) value for each matrix of a batch: `queries` rows of `width`
/// elements meet `keys` rows; values have `value_width`. All tensors but those named are of
/// `dtype`; 16-bit floats are multiplied and added in float32.
struct AttentionArguments {
  int64_t queries;
  int64_t keys;
  int64_t width;
  int64_t value_width;
  DimVector batch;  ///< at most kMaxBatchDims
  ScalarType dtype;
  double scale;
  bool is_causal = false;  ///< query i meets the keys up to i
  double dropout_p = 0;
  /// Weight (query i, key j) of matrix b is kept where random::bernoulli(draw, (b queries + i) keys
  /// + j, 1 - dropout_p) holds.
  random::Reservation draw;

  MatrixView query;
  MatrixView key;
  MatrixView value;
  MatrixView mask;            ///< [queries, keys]; no data: none
  bool mask_is_bool = false;  ///< keys where it is true are met; else it is added, in `dtype`
  void* output;               ///< [batch, queries, value_width], contiguous; forward writes it
  /// [batch, queries] in float32 (double for double), contiguous: of the scores of each query;
  /// infinite where it meets no key. Forward writes it.
  void* log_sum_exp;

  // Of backward alone; all but grad_output contiguous.
  MatrixView grad_output;
  void* products = nullptr;    ///< scratch like log_sum_exp: grad_output times output, summed up
  void* grad_query = nullptr;  ///< null: not wanted
  void* grad_key = nullptr;
  void* grad_value = nullptr;

  static constexpr size_t kMaxBatchDims = 8;
  /// The widest rows there are kernels for.
  static constexpr int64_t kMaxWidth = 256;
};

struct AttentionKernels {
  void (*forward)(const AttentionArguments& arguments);
  void (*backward)(const AttentionArguments& arguments);
};

}  // namespace ebb
