#include <ebb/optim/adafactor.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/optimizer.h>
#include <ebb/optim/step.h>

namespace ebb::optim {

namespace {

bool is_factored(const Tensor& parameter) {
  return parameter.dim() > 1 && parameter.size(0) > 1 && parameter.numel() > parameter.size(0);
}

ScalarType state_dtype(const Tensor& parameter) {
  return parameter.scalar_type() == kDouble ? kDouble : kFloat;
}

/// The square of the gradient, in the dtype of the state.
Tensor squared(const Tensor& grad, ScalarType dtype) {
  return grad.scalar_type() == dtype ? grad.square() : grad.to(dtype).square_();
}

/// `old`, if there is one, moved towards `now`.
Tensor averaged(const Tensor& old, Tensor now, double keep) {
  if (old.defined()) now.lerp_(old, keep);
  memory::set_category(now.storage().block(), memory::Category::optimizer_state);
  return now;
}

/// What the gradient is to be multiplied by, as two factors that expand to its sizes.
struct Factors {
  Tensor rows;
  Tensor columns;
};

/// The new second moment of a matrix, and the factors 1 / sqrt of it.
Factors factor_matrix(const Tensor& square, AdafactorParamState& next, double eps, double keep) {
  std::vector<int64_t> rest(static_cast<size_t>(square.dim() - 1));
  std::iota(rest.begin(), rest.end(), 1);
  next.exp_avg_sq_row(
      averaged(next.exp_avg_sq_row(), square.mean(rest, true).add_(eps), keep));
  next.exp_avg_sq_col(averaged(next.exp_avg_sq_col(), square.mean({0}, true).add_(eps), keep));
  return {(next.exp_avg_sq_row() / next.exp_avg_sq_row().mean()).rsqrt_(),
          next.exp_avg_sq_col().rsqrt()};
}

/// The same for another parameter.
Factors factor_vector(const Tensor& square, AdafactorParamState& next, double eps, double keep) {
  next.exp_avg_sq(averaged(next.exp_avg_sq(), square + eps, keep));
  return {next.exp_avg_sq().rsqrt(), ones({}, square.options())};
}

/// The learning rate of the step, times the size of the parameter if that is asked for, divided by
/// how far the update is above the threshold. A number on the device.
Tensor step_size(const Tensor& parameter, Tensor square, const Factors& factors, double rho,
                 const AdafactorOptions& options) {
  square.mul_(factors.rows).mul_(factors.rows).mul_(factors.columns).mul_(factors.columns);
  Tensor size = square.mean().sqrt_().div_(options.clip_threshold()).clamp_min_(1).reciprocal_();
  size.mul_(rho);
  if (!options.scale_parameter()) return size;
  const TensorBase operand = parameter;
  Tensor norm = Tensor(ops::norms({&operand, 1}, 2)).to(square.scalar_type()).squeeze(0);
  norm.div_(std::sqrt(static_cast<double>(parameter.numel()))).clamp_min_(options.eps2());
  return size.mul_(norm);
}

auto prepare(const Tensor& parameter, AdafactorParamState& state,
             const AdafactorOptions& options) {
  ops::check_step(parameter, {parameter.grad(), state.exp_avg_sq(), state.exp_avg()});
  AdafactorParamState next = state;
  next.step(state.step() + 1);
  const auto t = static_cast<double>(next.step());
  const double keep = 1 - std::pow(t, options.decay_rate());
  const double rho = options.lr().value_or(std::min(1e-2, 1 / std::sqrt(t)));
  ops::FactoredOperands operands;
  operands.parameter = parameter;
  operands.grad = parameter.grad();
  operands.step = {options.beta1(), 1 - rho * options.weight_decay()};
  if (parameter.numel() > 0) {
    const Tensor square = squared(parameter.grad(), state_dtype(parameter));
    Factors factors = is_factored(parameter)
                          ? factor_matrix(square, next, options.eps1(), keep)
                          : factor_vector(square, next, options.eps1(), keep);
    const Tensor size = step_size(parameter, square, factors, rho, options);
    factors.columns.mul_(size);
    operands.rows = factors.rows;
    operands.columns = factors.columns;
    if (options.beta1() > 0) {
      if (!next.exp_avg().defined()) {
        next.exp_avg(averaged({}, zeros_like(parameter, state_dtype(parameter)), 0));
      }
      operands.exp_avg = next.exp_avg();
    }
  }
  return detail::Update{operands, [&state, next]() mutable { state = std::move(next); }};
}

}  // namespace

double AdafactorOptions::get_lr() const {
  EBB_CHECK(lr_.has_value(), "Adafactor: the steps are relative, there is no learning rate; set ",
            "one with AdafactorOptions(lr)");
  return *lr_;
}

Adafactor::Adafactor(std::vector<OptimizerParamGroup> param_groups,
                     const AdafactorOptions& defaults)
    : Optimizer(std::move(param_groups), defaults.clone()) {
  check_all_options();
}
Adafactor::Adafactor(std::vector<Tensor> params, const AdafactorOptions& defaults)
    : Adafactor(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                defaults) {}

void Adafactor::check_options(const OptimizerOptions& any) const {
  const auto* options = dynamic_cast<const AdafactorOptions*>(&any);
  EBB_CHECK(options != nullptr,
            "Adafactor: the options of a parameter group must be AdafactorOptions");
  EBB_CHECK(options->lr().value_or(0) >= 0, "Adafactor: Invalid learning rate: ",
            options->lr().value_or(0));
  EBB_CHECK(options->eps1() >= 0 && options->eps2() >= 0, "Adafactor: Invalid epsilon value: ",
            options->eps1(), " or ", options->eps2());
  EBB_CHECK(options->clip_threshold() > 0, "Adafactor: Invalid clip_threshold value: ",
            options->clip_threshold());
  EBB_CHECK(options->decay_rate() <= 0, "Adafactor: Invalid decay_rate value: ",
            options->decay_rate(), "; it must not be positive");
  EBB_CHECK(options->beta1() >= 0 && options->beta1() < 1, "Adafactor: Invalid beta1 value: ",
            options->beta1());
  EBB_CHECK(options->weight_decay() >= 0, "Adafactor: Invalid weight_decay value: ",
            options->weight_decay());
}

Tensor Adafactor::step(LossClosure closure) {
  Tensor loss = detail::call_closure(closure);
  const OpName name("Adafactor::step");
  const NoGradGuard no_grad;
  detail::step_in_two_parts<AdafactorParamState, AdafactorOptions>(param_groups_, state_, prepare,
                                                                   ops::factored_steps_);
  return loss;
}

}  // namespace ebb::optim
