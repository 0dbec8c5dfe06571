#pragma once

#include <cstdint>
#include <utility>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/conv.h>

namespace ebb::nn {

/// Cross-correlation of [N, in_channels, H, W] or [in_channels, H, W] with `out_channels` filters.
/// Weight [out, in / groups, kH, kW] and bias [out] start uniform in +-1 / sqrt(fan in).
class EBB_API Conv2dImpl : public Cloneable<Conv2dImpl> {
 public:
  Conv2dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size)
      : Conv2dImpl(Conv2dOptions(in_channels, out_channels, std::move(kernel_size))) {}
  /// Throws an Error if the groups do not divide the channels, and NotImplementedError for a
  /// padding mode other than zeros.
  explicit Conv2dImpl(Conv2dOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Conv2dOptions options;
  Tensor weight;
  Tensor bias;  ///< undefined without `bias`
};
EBB_MODULE(Conv2d);

}  // namespace ebb::nn
