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

/// The state of a parameter: as AdamParamState.
struct EBB_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  EBB_ARG(int64_t, step) = 0;
  EBB_ARG(Tensor, exp_avg) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq) = Tensor();
  EBB_ARG(Tensor, max_exp_avg_sq) = Tensor();
  /// The float32 copy of the parameter with master_weights, and the parameter's version that it
  /// belongs to.
  EBB_ARG(Tensor, master) = Tensor();
  EBB_ARG(int64_t, master_version) = 0;

 public:
  [[nodiscard]] std::vector<Tensor> tensors() const override {
    return detail::defined_ones({exp_avg_, exp_avg_sq_, max_exp_avg_sq_, master_});
  }
  void move_version(int64_t from, int64_t to) override {
    if (master_version_ == from) master_version_ = to;
  }
};

/// Adam with the weight decay apart from the gradient (Loshchilov and Hutter, 2017). State: two
/// tensors for each parameter, three with amsgrad.
class EBB_API AdamW : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  explicit AdamW(std::vector<OptimizerParamGroup> param_groups, const AdamWOptions& defaults = {});
  explicit AdamW(std::vector<Tensor> params, const AdamWOptions& defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  [[nodiscard]] bool unscales_half_gradients() const noexcept override { return true; }

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
