#pragma once

#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// How a kernel moves over images: one number for both dimensions or a pair (height, width).
struct ConvParameters {
  IntArrayRef stride;
  IntArrayRef padding;
  IntArrayRef dilation;
  int64_t groups = 1;
};

/// The cross-correlation of input [N, C, H, W] or [C, H, W] with weight [O, C / groups, kH, kW],
/// plus bias [O]. All of one floating-point dtype; 16-bit floats are summed in float32. The windows
/// are read where they are: the result is the only allocation.
EBB_API TensorBase conv2d(const TensorBase& input, const TensorBase& weight,
                          const std::optional<TensorBase>& bias, const ConvParameters& parameters);
/// The gradient of conv2d's input, which has `input_size`.
EBB_API TensorBase conv2d_backward_input(IntArrayRef input_size, const TensorBase& grad_output,
                                         const TensorBase& weight,
                                         const ConvParameters& parameters);
/// The gradient of conv2d's weight, which has `weight_size`.
EBB_API TensorBase conv2d_backward_weight(IntArrayRef weight_size, const TensorBase& grad_output,
                                          const TensorBase& input,
                                          const ConvParameters& parameters);

}  // namespace ebb::ops
