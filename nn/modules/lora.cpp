#include <ebb/nn/modules/lora.h>

#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/functions.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

LoRALinearImpl::LoRALinearImpl(const LoRALinearOptions& options)
    : options(options),
      base(LinearOptions(options.in_features(), options.out_features()).bias(options.bias())) {
  adapt();
}

LoRALinearImpl::LoRALinearImpl(Linear layer, int64_t rank)
    : LoRALinearImpl(std::move(layer), rank, static_cast<double>(rank)) {}

LoRALinearImpl::LoRALinearImpl(Linear layer, int64_t rank, double alpha)
    : options(layer->options.in_features(), layer->options.out_features(), rank),
      base(std::move(layer)) {
  options.alpha(alpha).bias(base->options.bias());
  adapt();
}

void LoRALinearImpl::reset() {
  base = Linear(base->options);
  adapt();
}

void LoRALinearImpl::adapt() {
  EBB_CHECK(options.rank() >= 1, "LoRALinear: the rank must be at least 1, got ", options.rank());
  register_module("base", base);
  for (Tensor& parameter : base->parameters()) parameter.set_requires_grad(false);
  const TensorOptions like = base->weight.options();
  lora_a = register_parameter("lora_a", empty({options.rank(), options.in_features()}, like));
  lora_b = register_parameter("lora_b", empty({options.out_features(), options.rank()}, like));
  reset_parameters();
}

void LoRALinearImpl::reset_parameters() {
  init::kaiming_uniform_(lora_a, std::sqrt(5.0));
  init::zeros_(lora_b);
}

void LoRALinearImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LoRALinear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", rank=" << options.rank()
         << ", alpha=" << options.alpha() << ")";
}

double LoRALinearImpl::scaling() const {
  return options.alpha() / static_cast<double>(options.rank());
}

Tensor LoRALinearImpl::forward(const Tensor& input) {
  const Tensor result = base->forward(input);
  EBB_CHECK(!merged_ || !is_training(),
            "LoRALinear: the update is part of the weight and cannot be trained: call unmerge(), "
            "or eval() for inference");
  if (merged_) return result;
  // The result is nobody else's yet, and its layer did not save it.
  result.add_(linear(linear(input, lora_a), lora_b), scaling());
  return result;
}

void LoRALinearImpl::add_update(double factor) {
  const NoGradGuard no_grad;
  base->weight.addmm_(lora_b, lora_a, 1, factor);
}

void LoRALinearImpl::merge() {
  EBB_CHECK(!merged_, "LoRALinear: the update is merged already");
  add_update(scaling());
  merged_ = true;
}

void LoRALinearImpl::unmerge() {
  EBB_CHECK(merged_, "LoRALinear: the update is not merged: call merge() first");
  add_update(-scaling());
  merged_ = false;
}

}  // namespace ebb::nn
