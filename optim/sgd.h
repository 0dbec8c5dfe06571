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
  /// Keep a float32 copy of each float16 or bfloat16 parameter, and the state in float32: the copy
  /// is stepped, and the parameter becomes what it rounds to (Micikevicius et al., 2018). Takes 4
  /// bytes an element. A parameter that was written since the last step is copied anew.
  EBB_ARG(bool, master_weights) = false;
  /// Round bfloat16 parameters and their state up or down at random, so that small changes are not
  /// lost on average; draws from the thread's generator. Takes no copy.
  EBB_ARG(bool, stochastic_rounding) = false;

 public:
  [[nodiscard]] double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: the direction of its last steps, undefined without momentum.
struct EBB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  EBB_ARG(Tensor, momentum_buffer) = Tensor();
  /// The float32 copy of the parameter with master_weights, and the parameter's version that it
  /// belongs to.
  EBB_ARG(Tensor, master) = Tensor();
  EBB_ARG(int64_t, master_version) = 0;

 public:
  [[nodiscard]] std::vector<Tensor> tensors() const override {
    return detail::defined_ones({momentum_buffer_, master_});
  }
  void move_version(int64_t from, int64_t to) override {
    if (master_version_ == from) master_version_ = to;
  }
};

/// Stochastic gradient descent, with momentum if asked for (Sutskever et al., 2013). State: one
/// tensor for each parameter with momentum, none without.
class EBB_API SGD : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  SGD(std::vector<OptimizerParamGroup> param_groups, const SGDOptions& defaults);
  SGD(std::vector<Tensor> params, const SGDOptions& defaults);
  Tensor step(LossClosure closure = nullptr) override;
  [[nodiscard]] bool unscales_half_gradients() const noexcept override { return true; }

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
