#pragma once

#include <cstdint>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/arg.h>
#include <ebb/nn/enum.h>

namespace ebb::nn {

/// Options of MSELoss; kSum, kMean or kNone alone will do.
struct MSELossOptions {
  using reduction_t = nn::reduction_t;
  MSELossOptions() = default;
  template <typename Choice>
  requires std::is_constructible_v<reduction_t, const Choice&> MSELossOptions(
      const Choice& reduction)
      : reduction_(reduction) {}  // NOLINT: implicit

  EBB_ARG(reduction_t, reduction) = kMean;
};

/// Options of NLLLoss. `weight`: a factor for each class. Targets that equal `ignore_index` do not
/// count.
struct NLLLossOptions {
  EBB_ARG(Tensor, weight) = Tensor();
  EBB_ARG(int64_t, ignore_index) = -100;
  EBB_ARG(reduction_t, reduction) = kMean;
};

/// Options of CrossEntropyLoss. `label_smoothing`: how much of the target's probability is spread
/// over all classes.
struct CrossEntropyLossOptions {
  EBB_ARG(Tensor, weight) = Tensor();
  EBB_ARG(int64_t, ignore_index) = -100;
  EBB_ARG(reduction_t, reduction) = kMean;
  EBB_ARG(double, label_smoothing) = 0.0;
};

namespace functional {
/// Options of linear_cross_entropy: as those of CrossEntropyLoss, and a bias [C]. `chunk`: how many
/// rows of logits there are at a time; 0 leaves it to the op.
struct LinearCrossEntropyFuncOptions {
  EBB_ARG(Tensor, bias) = Tensor();
  EBB_ARG(int64_t, ignore_index) = -100;
  EBB_ARG(reduction_t, reduction) = kMean;
  EBB_ARG(double, label_smoothing) = 0.0;
  EBB_ARG(int64_t, chunk) = 0;
};
using MSELossFuncOptions = MSELossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
}  // namespace functional

}  // namespace ebb::nn
