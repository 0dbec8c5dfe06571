#pragma once

#include <cstdint>

#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// Contiguous elements of some dtype; no elements where data is null.
struct TypedData {
  void* data = nullptr;
  ScalarType dtype = ScalarType::Float;
  explicit operator bool() const { return data != nullptr; }
};

/// Batch normalization of [outer, channels, inner]; everything else has one element per channel.
struct BatchNormArguments {
  int64_t outer;
  int64_t channels;
  int64_t inner;
  ScalarType compute;  ///< Float or Double
  bool training;
  double momentum = 0;
  double eps = 0;
  TypedData input;
  TypedData weight;        ///< absent: ones
  TypedData bias;          ///< absent: zeros
  TypedData running_mean;  ///< in training updated, if it is there
  TypedData running_var;
  TypedData mean;  ///< of the compute type; in training written by forward, read by backward
  TypedData rstd;  ///< 1 / sqrt(var + eps)
  TypedData output;
  TypedData grad_output;  ///< of backward, as are those below; absent: not wanted
  TypedData grad_input;
  TypedData grad_weight;
  TypedData grad_bias;
};

/// Layer normalization of `rows` rows of n elements; weight and bias have n, mean and rstd `rows`.
struct LayerNormArguments {
  int64_t rows;
  int64_t n;
  ScalarType compute;
  double eps = 0;
  TypedData input;
  TypedData weight;
  TypedData bias;
  TypedData mean;  ///< of the compute type, written by forward, read by backward
  TypedData rstd;
  TypedData output;
  TypedData grad_output;
  TypedData grad_input;
  TypedData grad_weight;
  TypedData grad_bias;
  /// backward: in how many pieces the rows are summed for weight and bias, which depends on the
  /// shape alone, and pieces * 2 * n elements of the compute type.
  int64_t pieces = 1;
  void* workspace = nullptr;
};

struct NormKernels {
  void (*batch_norm)(const BatchNormArguments& arguments);
  void (*batch_norm_backward)(const BatchNormArguments& arguments);
  void (*layer_norm)(const LayerNormArguments& arguments);
  void (*layer_norm_backward)(const LayerNormArguments& arguments);
};

}  // namespace ebb
