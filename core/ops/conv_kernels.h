#pragma once

#include <cstdint>

#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// The sizes of a convolution of two-dimensional images.
struct ConvShape {
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   ///< of one group
  int64_t out_channels;  ///< of one group
  int64_t in[2];         ///< height, width
  int64_t out[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t padding[2];
  int64_t dilation[2];

  [[nodiscard]] int64_t in_pixels() const { return in[0] * in[1]; }
  [[nodiscard]] int64_t out_pixels() const { return out[0] * out[1]; }
  [[nodiscard]] int64_t taps() const { return kernel[0] * kernel[1]; }
};

/// A tensor [N, C, H, W] with any strides, in elements.
struct ImageView {
  const void* data;
  int64_t strides[4];
};

struct ConvArguments {
  ConvShape shape;
  ScalarType dtype;  ///< of all tensors; 16-bit floats are summed in float32
  ImageView image;   ///< the input; of backward_input: the gradient of the output
  /// [groups * out_channels, in_channels, kernel]; of backward_weight: the gradient of the output.
  /// Contiguous.
  const void* matrix;
  const void* bias = nullptr;  ///< [groups * out_channels], or null
  void* output;                ///< contiguous
  /// backward_weight on the CPU: in how many pieces the sum over the pixels of all images is cut, and
  /// a partial result in the accumulation type for each. They depend on the shape alone.
  int64_t pieces = 1;
  void* workspace = nullptr;
};

struct ConvKernels {
  void (*forward)(const ConvArguments& arguments);
  void (*backward_input)(const ConvArguments& arguments);
  void (*backward_weight)(const ConvArguments& arguments);
};

}  // namespace ebb
