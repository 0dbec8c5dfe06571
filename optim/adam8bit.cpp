#include <ebb/optim/adam8bit.h>

#include <utility>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/quantize.h>
#include <ebb/optim/step.h>

namespace ebb::optim {

namespace {

/// The operands of either step.
struct Operands {
  bool quantized;
  ops::AdamOperands plain;
  ops::QuantizedAdamOperands small;
};

detail::AdamNumbers numbers_of(const Adam8bitOptions& options) {
  return {options.lr(), options.betas(), options.eps(), options.weight_decay(),
          options.decoupled_weight_decay()};
}

bool suits(const Tensor& parameter, const Adam8bitOptions& options) {
  return parameter.numel() >= options.min_8bit_size() && parameter.scalar_type() != kDouble &&
         parameter.is_contiguous();
}

Tensor zeros_for(const Tensor& parameter, IntArrayRef sizes, ScalarType dtype) {
  Tensor state = zeros(sizes, TensorOptions(dtype).device(parameter.device()));
  memory::set_category(state.storage().block(), memory::Category::optimizer_state);
  return state;
}

void make_state(const Tensor& parameter, Adam8bitParamState& state,
                const Adam8bitOptions& options) {
  if (!suits(parameter, options)) {
    state.exp_avg(detail::zero_state(parameter));
    state.exp_avg_sq(detail::zero_state(parameter));
    return;
  }
  const int64_t blocks = ops::quantization_blocks(parameter.numel(), options.block_size());
  state.block_size(options.block_size());
  state.exp_avg(zeros_for(parameter, parameter.sizes(), kByte));
  state.exp_avg_absmax(zeros_for(parameter, {blocks}, kFloat));
  state.exp_avg_sq(zeros_for(parameter, parameter.sizes(), kByte));
  state.exp_avg_sq_absmax(zeros_for(parameter, {blocks}, kFloat));
}

void check_codes(const Tensor& parameter, const Tensor& codes) {
  EBB_CHECK(parameter.is_contiguous() && codes.sizes() == parameter.sizes() &&
                codes.device() == parameter.device(),
            "the 8-bit state of a parameter, ", codes.sizes(), " on ", codes.device(),
            ", needs a contiguous parameter of its sizes there, not ", parameter.sizes(), " with ",
            "strides ", parameter.strides(), " on ", parameter.device(),
            "; was the parameter replaced after the optimizer had stepped?");
}

auto prepare(const Optimizer& optimizer, const Tensor& parameter, Adam8bitParamState& state,
             const Adam8bitOptions& options) {
  Adam8bitParamState next = state;
  next.step(state.step() + 1);
  if (!next.exp_avg().defined()) make_state(parameter, next, options);
  ops::AdamStep step = numbers_of(options).at(next.step());
  step.grad_factor = detail::grad_factor(optimizer, parameter.grad());
  Operands operands{};
  operands.quantized = next.block_size() != 0;
  if (operands.quantized) {
    ops::check_step(parameter, {parameter.grad()});
    check_codes(parameter, next.exp_avg());
    operands.small = {parameter,
                      parameter.grad().contiguous(),
                      {next.exp_avg(), next.exp_avg_absmax()},
                      {next.exp_avg_sq(), next.exp_avg_sq_absmax()},
                      next.block_size(),
                      step};
  } else {
    ops::check_step(parameter, {parameter.grad(), next.exp_avg(), next.exp_avg_sq()});
    operands.plain = {parameter, parameter.grad(), next.exp_avg(), next.exp_avg_sq(), {}, step};
  }
  return detail::Update{operands, [&state, next]() mutable { state = std::move(next); }};
}

void run(const std::vector<Operands>& all) {
  std::vector<ops::AdamOperands> plain;
  std::vector<ops::QuantizedAdamOperands> small;
  for (const Operands& operands : all) {
    if (operands.quantized) {
      small.push_back(operands.small);
    } else {
      plain.push_back(operands.plain);
    }
  }
  ops::adam_steps_(plain);
  ops::quantized_adam_steps_(small);
}

}  // namespace

Adam8bit::Adam8bit(std::vector<OptimizerParamGroup> param_groups, const Adam8bitOptions& defaults)
    : Optimizer(std::move(param_groups), defaults.clone()) {
  check_all_options();
}
Adam8bit::Adam8bit(std::vector<Tensor> params, const Adam8bitOptions& defaults)
    : Adam8bit(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {
}

void Adam8bit::check_options(const OptimizerOptions& any) const {
  const auto* options = dynamic_cast<const Adam8bitOptions*>(&any);
  EBB_CHECK(options != nullptr,
            "Adam8bit: the options of a parameter group must be Adam8bitOptions");
  numbers_of(*options).check("Adam8bit");
  EBB_CHECK(options->block_size() >= 1 && options->block_size() <= ops::kMaxQuantizationBlock,
            "Adam8bit: Invalid block_size: ", options->block_size(), "; it must be 1 to ",
            ops::kMaxQuantizationBlock);
}

Tensor Adam8bit::step(LossClosure closure) {
  Tensor loss = detail::call_closure(closure);
  const OpName name("Adam8bit::step");
  const NoGradGuard no_grad;
  detail::step_in_two_parts<Adam8bitParamState, Adam8bitOptions>(
      param_groups_, state_,
      [&](const Tensor& parameter, Adam8bitParamState& state, const Adam8bitOptions& options) {
        return prepare(*this, parameter, state, options);
      },
      run);
  return loss;
}

}  // namespace ebb::optim
