#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include <ebb/nn/arg.h>
#include <ebb/optim/adam.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of Adam8bit.
struct EBB_API Adam8bitOptions : public OptimizerCloneableOptions<Adam8bitOptions> {
  Adam8bitOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT: implicit

  EBB_ARG(double, lr);
  /// How much of the means of the gradient and of its square stays in a step.
  EBB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  /// Added to the square root that the step is divided by.
  EBB_ARG(double, eps) = 1e-8;
  /// The factor of the parameter that is added to its gradient; or, if decoupled, the part of the
  /// parameter, times lr, that each step takes away, as in AdamW.
  EBB_ARG(double, weight_decay) = 0;
  EBB_ARG(bool, decoupled_weight_decay) = false;
  /// How many neighbours of a state share their scale, 1 to 4096; for states made from then on.
  EBB_ARG(int64_t, block_size) = 256;
  /// Parameters of fewer elements have Adam's state.
  EBB_ARG(int64_t, min_8bit_size) = 4096;

 public:
  [[nodiscard]] double get_lr() const override { return lr_; }
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: how many steps it took, the means of its gradient and of the square.
/// Quantised, these are uint8 codes of the parameter's sizes (ops::Code::dynamic_signed and
/// dynamic_unsigned), with the float32 scale of each block of `block_size` elements. Else they are
/// as Adam's, without scales, and block_size is 0.
struct EBB_API Adam8bitParamState : public OptimizerCloneableParamState<Adam8bitParamState> {
  EBB_ARG(int64_t, step) = 0;
  EBB_ARG(int64_t, block_size) = 0;
  EBB_ARG(Tensor, exp_avg) = Tensor();
  EBB_ARG(Tensor, exp_avg_absmax) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq_absmax) = Tensor();

 public:
  [[nodiscard]] std::vector<Tensor> tensors() const override {
    return detail::defined_ones({exp_avg_, exp_avg_absmax_, exp_avg_sq_, exp_avg_sq_absmax_});
  }
};

/// Adam with its state in 8 bits (Dettmers et al., "8-bit optimizers via block-wise quantization",
/// 2022). State of a parameter of n elements, in bytes: 2 n + 8 ceil(n / block_size), where Adam's
/// is 8 n; each of the four tensors is rounded up to 512. A step has no scratch: blocks are
/// quantised anew as they are updated. A parameter keeps Adam's state if it has fewer than
/// min_8bit_size elements, is float64 or not contiguous. A gradient that is not contiguous is
/// copied for the step. An inf or NaN in a gradient spreads in the state to its block.
class EBB_API Adam8bit : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  explicit Adam8bit(std::vector<OptimizerParamGroup> param_groups,
                    const Adam8bitOptions& defaults = {});
  explicit Adam8bit(std::vector<Tensor> params, const Adam8bitOptions& defaults = {});
  Tensor step(LossClosure closure = nullptr) override;
  [[nodiscard]] bool unscales_half_gradients() const noexcept override { return true; }

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
