#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <ebb/nn/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

using betas_t = std::tuple<double, double>;

/// Options of Adam.
struct EBB_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT: implicit

  EBB_ARG(double, lr);
  /// How much of the means of the gradient and of its square stays in a step.
  EBB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  /// Added to the square root that the step is divided by.
  EBB_ARG(double, eps) = 1e-8;
  /// The factor of the parameter that is added to its gradient.
  EBB_ARG(double, weight_decay) = 0;
  /// Divide by the largest mean square so far (Reddi et al., 2018).
  EBB_ARG(bool, amsgrad) = false;

 public:
  [[nodiscard]] double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: how many steps it took, the means of its gradient and of the square,
/// and for AMSGrad the largest of the latter.
struct EBB_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  EBB_ARG(int64_t, step) = 0;
  EBB_ARG(Tensor, exp_avg) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq) = Tensor();
  EBB_ARG(Tensor, max_exp_avg_sq) = Tensor();
};

/// Adam (Kingma and Ba, 2014). State: two tensors for each parameter, three with amsgrad.
class EBB_API Adam : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  explicit Adam(std::vector<OptimizerParamGroup> param_groups, const AdamOptions& defaults = {});
  explicit Adam(std::vector<Tensor> params, const AdamOptions& defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
