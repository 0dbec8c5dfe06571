#pragma once

#include <utility>
#include <vector>

#include <ebb/nn/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of SGD.
struct EBB_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}  // NOLINT: implicit

  EBB_ARG(double, lr);
  /// How much of the last step's direction stays.
  EBB_ARG(double, momentum) = 0;
  /// How much of a new gradient does not enter the momentum.
  EBB_ARG(double, dampening) = 0;
  /// The factor of the parameter that is added to its gradient.
  EBB_ARG(double, weight_decay) = 0;
  /// Nesterov's momentum; needs momentum and no dampening.
  EBB_ARG(bool, nesterov) = false;

 public:
  [[nodiscard]] double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: the direction of its last steps, undefined without momentum.
struct EBB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  EBB_ARG(Tensor, momentum_buffer) = Tensor();
};

/// Stochastic gradient descent, with momentum if asked for (Sutskever et al., 2013). State: one
/// tensor for each parameter with momentum, none without.
class EBB_API SGD : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  SGD(std::vector<OptimizerParamGroup> param_groups, const SGDOptions& defaults);
  SGD(std::vector<Tensor> params, const SGDOptions& defaults);
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
