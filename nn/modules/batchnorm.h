#pragma once

#include <cstdint>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/batchnorm.h>

namespace ebb::nn {

/// (input - mean) / sqrt(var + eps) * weight + bias for each channel, dimension 1 (Ioffe and
/// Szegedy, 2015). In training with the statistics of the batch, which move the running ones; in
/// evaluation with the running ones, if they are tracked.
template <typename Derived>
class EBB_API BatchNormImplBase : public Cloneable<Derived> {
 public:
  BatchNormImplBase(int64_t num_features)  // NOLINT: implicit
      : BatchNormImplBase(BatchNormOptions(num_features)) {}
  explicit BatchNormImplBase(const BatchNormOptions& options);
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  void pretty_print(std::ostream& stream) const override;
  /// Throws an Error if the input has not the dimensions that the module is for.
  Tensor forward(const Tensor& input);

  BatchNormOptions options;
  Tensor weight;  ///< [num_features], undefined without `affine`
  Tensor bias;
  Tensor running_mean;  ///< [num_features], undefined without `track_running_stats`
  Tensor running_var;
  Tensor num_batches_tracked;  ///< an int64 without dimensions

 private:
  double update_factor();
};

/// For [N, C] and [N, C, L].
class EBB_API BatchNorm1dImpl : public BatchNormImplBase<BatchNorm1dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  static constexpr const char* kName = "BatchNorm1d";
  static constexpr int kMinDim = 2, kMaxDim = 3;
};
/// For [N, C, H, W].
class EBB_API BatchNorm2dImpl : public BatchNormImplBase<BatchNorm2dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  static constexpr const char* kName = "BatchNorm2d";
  static constexpr int kMinDim = 4, kMaxDim = 4;
};
/// For [N, C, D, H, W].
class EBB_API BatchNorm3dImpl : public BatchNormImplBase<BatchNorm3dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  static constexpr const char* kName = "BatchNorm3d";
  static constexpr int kMinDim = 5, kMaxDim = 5;
};

extern template class BatchNormImplBase<BatchNorm1dImpl>;
extern template class BatchNormImplBase<BatchNorm2dImpl>;
extern template class BatchNormImplBase<BatchNorm3dImpl>;

EBB_MODULE(BatchNorm1d);
EBB_MODULE(BatchNorm2d);
EBB_MODULE(BatchNorm3d);

}  // namespace ebb::nn
