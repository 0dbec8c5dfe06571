#pragma once

#include <cstdint>

#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// Planes of in[0] x in[1] pixels and their windows.
struct PoolShape {
  int64_t planes;
  int64_t in[2];  ///< height, width
  int64_t out[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t padding[2];
  int64_t dilation[2];
};

/// All tensors are contiguous.
struct PoolArguments {
  PoolShape shape;
  ScalarType dtype;
  const void* input;
  void* output;
  void* offsets = nullptr;  ///< of max pooling: uint8, or int32 where `wide_offsets`
  bool wide_offsets = false;
  bool count_include_pad = true;
  int64_t divisor = 0;  ///< 0: the size of the window
};

struct PoolKernels {
  /// input -> output, offsets
  void (*max)(const PoolArguments& arguments);
  /// grad_output (input), offsets -> grad_input (output)
  void (*max_backward)(const PoolArguments& arguments);
  /// input, offsets -> output
  void (*max_gather)(const PoolArguments& arguments);
  void (*average)(const PoolArguments& arguments);
  /// grad_output (input) -> grad_input (output)
  void (*average_backward)(const PoolArguments& arguments);
};

}  // namespace ebb
