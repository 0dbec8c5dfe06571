#pragma once

#include <cstdint>
#include <utility>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/linear.h>

namespace ebb::nn {

/// Returns its input.
class EBB_API IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input) { return input; }
};
EBB_MODULE(Identity);

/// input @ weight^T + bias: [..., in_features] to [..., out_features]. Weight [out, in] and bias
/// [out] start uniform in +-1 / sqrt(in_features).
class EBB_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  Tensor weight;
  Tensor bias;  ///< undefined without `bias`
};
EBB_MODULE(Linear);

/// Makes the dimensions start_dim to end_dim one: by default all but the first.
class EBB_API FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options = {}) : options(options) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  FlattenOptions options;
};
EBB_MODULE(Flatten);

}  // namespace ebb::nn
