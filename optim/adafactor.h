#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ebb/nn/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of Adafactor; the defaults are those of the paper's algorithm 4.
struct EBB_API AdafactorOptions : public OptimizerCloneableOptions<AdafactorOptions> {
  AdafactorOptions() = default;
  /// A fixed learning rate instead of the relative step.
  AdafactorOptions(double lr) : lr_(lr) {}  // NOLINT: implicit

  /// The learning rate rho. Without one, step t has min(0.01, 1 / sqrt(t)).
  EBB_ARG(std::optional<double>, lr) = std::nullopt;
  /// Added to the means of the squared gradient.
  EBB_ARG(double, eps1) = 1e-30;
  /// The least size of a parameter that scale_parameter sees.
  EBB_ARG(double, eps2) = 1e-3;
  /// The largest root mean square of an update before it is multiplied by the learning rate.
  EBB_ARG(double, clip_threshold) = 1;
  /// The mean of the squares in step t keeps the part 1 - t^decay_rate of what it was.
  EBB_ARG(double, decay_rate) = -0.8;
  /// How much of the last update stays in the next; 0: none, and no state for it.
  EBB_ARG(double, beta1) = 0;
  /// The part of the parameter, times rho, that each step takes away.
  EBB_ARG(double, weight_decay) = 0;
  /// Multiply rho by the root mean square of the parameter.
  EBB_ARG(bool, scale_parameter) = true;

 public:
  /// Throws an Error without a learning rate.
  [[nodiscard]] double get_lr() const override;
  void set_lr(double lr) override { lr_ = lr; }
};

/// The state of a parameter: how many steps it took, and the mean of its squared gradient: of a
/// factored one by rows and columns, of another in full. With beta1 the last update, too. Float32,
/// or float64 for parameters of float64.
struct EBB_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  EBB_ARG(int64_t, step) = 0;
  EBB_ARG(Tensor, exp_avg_sq_row) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq_col) = Tensor();
  EBB_ARG(Tensor, exp_avg_sq) = Tensor();
  EBB_ARG(Tensor, exp_avg) = Tensor();

 public:
  [[nodiscard]] std::vector<Tensor> tensors() const override {
    return detail::defined_ones({exp_avg_sq_row_, exp_avg_sq_col_, exp_avg_sq_, exp_avg_});
  }
};

/// Adafactor (Shazeer and Stern, 2018): Adam's second moment from the means of its rows and
/// columns, no first moment, steps relative to the parameter's size, updates clipped. A parameter
/// [n, ...] with m elements in each of n rows is an n by m matrix; it is factored if both are above
/// one. State in bytes: 4 (n + m) for a matrix, 4 n for another of n elements, each tensor rounded
/// up to 512; with beta1 4 n m more. A step first computes all new states, with the squared
/// gradient of one parameter at a time as scratch, then changes the parameters.
class EBB_API Adafactor : public Optimizer {
 public:
  /// Throws an Error for options that are out of range.
  explicit Adafactor(std::vector<OptimizerParamGroup> param_groups,
                     const AdafactorOptions& defaults = {});
  explicit Adafactor(std::vector<Tensor> params, const AdafactorOptions& defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  void check_options(const OptimizerOptions& options) const override;
};

}  // namespace ebb::optim
