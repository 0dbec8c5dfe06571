#pragma once

#include <cstdint>

#include <ebb/core/ops/line_shape.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// All tensors are contiguous and of the same sizes.
struct SoftmaxArguments {
  LineShape shape;
  ScalarType compute;  ///< Float or Double
  bool log = false;    ///< log_softmax
  const void* input;   ///< of the backward kernel: the gradient of the result
  ScalarType input_dtype;
  const void* result = nullptr;  ///< backward only: what the forward kernel gave
  ScalarType result_dtype = ScalarType::Float;
  void* output;
  ScalarType output_dtype;
};

struct SoftmaxKernels {
  void (*forward)(const SoftmaxArguments& arguments);
  void (*backward)(const SoftmaxArguments& arguments);
  /// log(sum(exp(line))) of each line, to an output [outer, inner].
  void (*logsumexp)(const SoftmaxArguments& arguments);
};

}  // namespace ebb
