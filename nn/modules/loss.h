#pragma once

#include <utility>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/loss.h>

namespace ebb::nn {

/// (input - target)^2, reduced.
class EBB_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(MSELossOptions options = {}) : options(std::move(options)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
EBB_MODULE(MSELoss);

/// Minus the log-probabilities [N, C, ...] at the target classes [N, ...], reduced.
class EBB_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(NLLLossOptions options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
  Tensor weight;  ///< a buffer [C], or undefined
};
EBB_MODULE(NLLLoss);

/// NLLLoss of log_softmax: scores [N, C, ...] and classes [N, ...] or probabilities [N, C, ...].
class EBB_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
  Tensor weight;  ///< a buffer [C], or undefined
};
EBB_MODULE(CrossEntropyLoss);

}  // namespace ebb::nn
