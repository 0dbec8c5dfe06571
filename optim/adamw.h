#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <ebb/optim/adam.h>

namespace ebb::optim {

/// Options of AdamW.
struct EBB_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT: implicit

  EBB_ARG(double, lr);
  /// How much of the means of the gradient and of its square stays in a step.
  EBB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  /// Added to the square root that the step is divided by.
  EBB_ARG(double, eps) = 1e-8;
  /// The part of the parameter, times lr, that each step takes away.
  EBB_ARG(double, weight_decay) = 1e-2;
  /// Divide by the largest mean square so far (Reddi et al., 2018).
  EBB_ARG(bool, amsgrad) = false;

 public:
  [[nodiscard]] double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: as AdamParamState.
struct EBB_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  EBB_ARG(int64_t, step) = 0;
  EBB_ARG(Tensor, exp_avg) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq) = Tensor();
  EBB_ARG(Tensor, max_exp_avg_sq) = Tensor();
};

/// Adam with the weight decay apart from the gradient (Loshchilov and Hutter, 2017). State: two
/// tensors for each parameter, three with amsgrad.
class EBB_API AdamW : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  explicit AdamW(std::vector<OptimizerParamGroup> param_groups, const AdamWOptions& defaults = {});
  explicit AdamW(std::vector<Tensor> params, const AdamWOptions& defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
