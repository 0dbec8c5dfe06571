#pragma once

#include <cstdint>

#include <ebb/core/ops/line_shape.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

struct ScanArguments {
  LineShape shape;
  ScalarType compute;  ///< Float, Double or Long
  const void* input;   ///< contiguous
  ScalarType input_dtype;
  void* output;  ///< contiguous
  ScalarType output_dtype;
};

/// Running sums and products along the lines of a contiguous tensor.
struct ScanKernels {
  void (*cumsum)(const ScanArguments& arguments);
  void (*cumprod)(const ScanArguments& arguments);
};

}  // namespace ebb
