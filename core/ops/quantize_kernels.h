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

/// Codes of one byte for blocks of elements.
struct QuantizeKernels {
  void (*quantize)(const QuantizeArguments& arguments);
  void (*dequantize)(const QuantizeArguments& arguments);
};

}  // namespace ebb
