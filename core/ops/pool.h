#pragma once

#include <optional>
#include <utility>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// Windows over images [N, C, H, W] or [C, H, W]: one number for both dimensions or a pair (height,
/// width). No stride means the size of the window.
struct PoolParameters {
  IntArrayRef kernel_size;
  IntArrayRef stride;
  IntArrayRef padding;
  IntArrayRef dilation;
  bool ceil_mode = false;  ///< also windows that reach beyond the padding
};

/// The largest element of each window (NaN wins) and which element of the window it is, counted row
/// by row: uint8, int32 for windows of more than 255 elements. The padding counts as -inf.
EBB_API std::pair<TensorBase, TensorBase> max_pool2d(const TensorBase& self,
                                                     const PoolParameters& parameters);
/// grad_output added to the elements that `offsets` names, in a tensor of `input_size`.
EBB_API TensorBase max_pool2d_backward(const TensorBase& grad_output, const TensorBase& offsets,
                                       IntArrayRef input_size, const PoolParameters& parameters);
/// The elements of self that `offsets` names.
EBB_API TensorBase max_pool2d_gather(const TensorBase& self, const TensorBase& offsets,
                                     const PoolParameters& parameters);

/// The sum of each window over its size: with the padding if `count_include_pad`, or the divisor.
struct AverageParameters {
  bool count_include_pad = true;
  std::optional<int64_t> divisor_override;
};
EBB_API TensorBase avg_pool2d(const TensorBase& self, const PoolParameters& parameters,
                              const AverageParameters& average);
EBB_API TensorBase avg_pool2d_backward(const TensorBase& grad_output, IntArrayRef input_size,
                                       const PoolParameters& parameters,
                                       const AverageParameters& average);

}  // namespace ebb::ops
