#pragma once

#include <cstdint>

#include <ebb/core/ops/quantize.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// A tensor and its quantised form, contiguous.
struct QuantizeArguments {
  ops::Code code;
  int64_t numel;
  int64_t block;
  void* data;  ///< the elements, read or written
  ScalarType dtype;
  uint8_t* codes;
  float* absmax;
};

/// A parameter, its gradient and its state, contiguous.
struct QuantizedAdamArguments {
  int64_t numel;
  int64_t block;
  void* parameter;
  ScalarType parameter_dtype;
  const void* grad;
  ScalarType grad_dtype;
  uint8_t* exp_avg;
  float* exp_avg_absmax;
  uint8_t* exp_avg_sq;
  float* exp_avg_sq_absmax;
  ops::AdamStep step;
};

/// Codes of one byte for blocks of elements.
struct QuantizeKernels {
  void (*quantize)(const QuantizeArguments& arguments);
  void (*dequantize)(const QuantizeArguments& arguments);
  void (*adam)(const QuantizedAdamArguments& arguments);
};

}  // namespace ebb
