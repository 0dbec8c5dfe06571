#pragma once

#include <utility>
#include <vector>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/normalization.h>

namespace ebb::nn {

/// (input - mean) / sqrt(var + eps) * weight + bias over the last dimensions (Ba, Kiros and Hinton,
/// 2016). Weight (ones at first) and bias (zeros) have the sizes `normalized_shape`.
class EBB_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  explicit LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  Tensor weight;  ///< undefined without `elementwise_affine`
  Tensor bias;
};
EBB_MODULE(LayerNorm);

}  // namespace ebb::nn
