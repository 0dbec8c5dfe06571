#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/pooling.h>

namespace ebb::nn {

/// The largest element of each window of [N, C, H, W] or [C, H, W].
class EBB_API MaxPool2dImpl : public Cloneable<MaxPool2dImpl> {
 public:
  MaxPool2dImpl(ExpandingArray<2> kernel_size)  // NOLINT: implicit
      : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& options) : options(options) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  MaxPool2dOptions options;
};
EBB_MODULE(MaxPool2d);

/// The mean of each window of [N, C, H, W] or [C, H, W].
class EBB_API AvgPool2dImpl : public Cloneable<AvgPool2dImpl> {
 public:
  AvgPool2dImpl(ExpandingArray<2> kernel_size)  // NOLINT: implicit
      : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& options) : options(options) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  AvgPool2dOptions options;
};
EBB_MODULE(AvgPool2d);

}  // namespace ebb::nn
