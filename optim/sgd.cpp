#include <ebb/optim/sgd.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ops/optimizer.h>
#include <ebb/optim/step.h>

namespace ebb::optim {

SGD::SGD(std::vector<OptimizerParamGroup> param_groups, const SGDOptions& defaults)
    : Optimizer(std::move(param_groups), defaults.clone()) {
  check_all_options();
}

SGD::SGD(std::vector<Tensor> params, const SGDOptions& defaults)
    : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {}

void SGD::check_options(const OptimizerOptions& any) const {
  const auto* options = dynamic_cast<const SGDOptions*>(&any);
  EBB_CHECK(options != nullptr, "SGD: the options of a parameter group must be SGDOptions");
  EBB_CHECK(options->lr() >= 0, "SGD: Invalid learning rate: ", options->lr());
  EBB_CHECK(options->momentum() >= 0, "SGD: Invalid momentum value: ", options->momentum());
  EBB_CHECK(options->weight_decay() >= 0,
            "SGD: Invalid weight_decay value: ", options->weight_decay());
  EBB_CHECK(!options->nesterov() || (options->momentum() > 0 && options->dampening() == 0),
            "SGD: Nesterov momentum requires a momentum and zero dampening");
  EBB_CHECK(!options->master_weights() || !options->stochastic_rounding(),
            "SGD: master_weights and stochastic_rounding exclude each other");
}

Tensor SGD::step(LossClosure closure) {
  Tensor loss = detail::call_closure(closure);
  const OpName name("SGD::step");
  const NoGradGuard no_grad;
  const Tensor scratch = detail::rounding_scratch<SGDOptions>(param_groups_, 2);
  detail::step_in_two_parts<SGDParamState, SGDOptions>(
      param_groups_, state_,
      [&](const Tensor& parameter, SGDParamState& state, const SGDOptions& options) {
        SGDParamState next = state;
        const Tensor stepped = detail::stepped(parameter, next, options);
        const Tensor grad = detail::gradient(parameter, options);
        ops::SgdStep numbers{options.lr(),           options.momentum(), options.dampening(),
                             options.weight_decay(), options.nesterov(), false};
        numbers.grad_factor = detail::grad_factor(*this, grad);
        numbers.rounds_stochastically = options.stochastic_rounding();
        Tensor buffer;
        if (options.momentum() != 0) {
          numbers.first = !next.momentum_buffer().defined();
          if (numbers.first) next.momentum_buffer(detail::empty_state(stepped));
          buffer = next.momentum_buffer();
        }
        ops::check_step(parameter, {grad, buffer});
        return detail::Update{ops::SgdOperands{stepped, grad, buffer, numbers},
                              [&state, next, parameter, stepped]() mutable {
                                detail::finish_step(parameter, stepped, state, next);
                              }};
      },
      [&](const auto& operands) { ops::sgd_steps_(operands, scratch); });
  return loss;
}

}  // namespace ebb::optim
