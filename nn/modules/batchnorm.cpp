#include <ebb/nn/modules/batchnorm.h>

#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/factories.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

template <typename Derived>
BatchNormImplBase<Derived>::BatchNormImplBase(const BatchNormOptions& options) : options(options) {
  BatchNormImplBase::reset();
}

template <typename Derived>
void BatchNormImplBase<Derived>::reset() {
  const int64_t features = options.num_features();
  EBB_CHECK(features >= 0, Derived::kName, ": num_features must not be negative, got ", features);
  const auto parameter = [&](const char* name) {
    return options.affine() ? this->register_parameter(name, empty({features}))
                            : this->register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  const auto buffer = [&](const char* name, auto make) {
    return this->register_buffer(name, options.track_running_stats() ? make() : Tensor());
  };
  weight = parameter("weight");
  bias = parameter("bias");
  running_mean = buffer("running_mean", [&] { return zeros({features}); });
  running_var = buffer("running_var", [&] { return ones({features}); });
  num_batches_tracked =
      buffer("num_batches_tracked", [] { return zeros({}, TensorOptions(kLong)); });
  reset_parameters();
}

template <typename Derived>
void BatchNormImplBase<Derived>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <typename Derived>
void BatchNormImplBase<Derived>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <typename Derived>
void BatchNormImplBase<Derived>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::" << Derived::kName << "(" << options.num_features()
         << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum()) {
    stream << *options.momentum();
  } else {
    stream << "None";
  }
  stream << ", affine=" << (options.affine() ? "true" : "false")
         << ", track_running_stats=" << (options.track_running_stats() ? "true" : "false") << ")";
}

/// Counts a batch, once for a checkpoint region, and gives its weight in the running statistics.
template <typename Derived>
double BatchNormImplBase<Derived>::update_factor() {
  if (!this->is_training() || !num_batches_tracked.defined()) return options.momentum().value_or(0);
  if (!autograd::is_recomputing()) num_batches_tracked += 1;
  if (options.momentum()) return *options.momentum();
  return 1.0 / num_batches_tracked.template item<double>();
}

template <typename Derived>
Tensor BatchNormImplBase<Derived>::forward(const Tensor& input) {
  EBB_CHECK(input.dim() >= Derived::kMinDim && input.dim() <= Derived::kMaxDim, Derived::kName,
            ": expected ", Derived::kMinDim,
            Derived::kMinDim == Derived::kMaxDim ? "D input (got " : "D or 3D input (got ",
            input.dim(), "D input, ", input.sizes(), ")");
  const bool by_batch = this->is_training() || !options.track_running_stats();
  return functional::batch_norm(input, running_mean, running_var,
                                functional::BatchNormFuncOptions()
                                    .weight(weight)
                                    .bias(bias)
                                    .training(by_batch)
                                    .momentum(update_factor())
                                    .eps(options.eps()));
}

template class BatchNormImplBase<BatchNorm1dImpl>;
template class BatchNormImplBase<BatchNorm2dImpl>;
template class BatchNormImplBase<BatchNorm3dImpl>;

}  // namespace ebb::nn
