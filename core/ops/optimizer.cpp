#include <ebb/core/ops/optimizer.h>

#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/optimizer_kernels.h>

namespace ebb::ops {

namespace {

/// Runs a kernel over the defined ones among `tensors`, the parameter first.
template <typename Kernel, typename Step>
void run(std::initializer_list<const TensorBase*> tensors, Kernel kernel, const Step& step) {
  const TensorBase& parameter = **tensors.begin();
  if (parameter.numel() == 0) return;
  TensorIterator it(parameter.sizes());
  for (const TensorBase* tensor : tensors) {
    if (tensor->defined()) it.add(*tensor);
  }
  it.set_compute_type(parameter.scalar_type());
  it.build();
  kernel(it, step);
}

void bump(std::initializer_list<const TensorBase*> written) {
  for (const TensorBase* tensor : written) {
    if (tensor->defined()) tensor->impl()->bump_version();
  }
}

const OptimizerKernels& table(const TensorBase& parameter) {
  return *kernels(parameter.device()).optimizer;
}

}  // namespace

void check_step(const TensorBase& parameter, std::initializer_list<TensorBase> others) {
  EBB_CHECK(parameter.is_floating_point(), "expected a floating-point parameter, got ",
            parameter.scalar_type(), " ", parameter.sizes());
  check_writable(parameter);
  for (const TensorBase& other : others) {
    if (!other.defined()) continue;
    EBB_CHECK(other.is_floating_point() && other.sizes() == parameter.sizes() &&
                  other.device() == parameter.device(),
              "the gradient or state of a parameter, ", other.scalar_type(), " ", other.sizes(),
              " on ", other.device(), ", does not fit the parameter, ", parameter.scalar_type(),
              " ", parameter.sizes(), " on ", parameter.device(),
              "; was the parameter replaced after the optimizer had stepped?");
  }
}

void sgd_step_(const TensorBase& parameter, const TensorBase& grad,
               const TensorBase& momentum_buffer, const SgdStep& step) {
  run({&parameter, &grad, &momentum_buffer}, table(parameter).sgd, step);
  bump({&parameter, &momentum_buffer});
}

void adam_step_(const TensorBase& parameter, const TensorBase& grad, const TensorBase& exp_avg,
                const TensorBase& exp_avg_sq, const TensorBase& max_exp_avg_sq,
                const AdamStep& step) {
  run({&parameter, &grad, &exp_avg, &exp_avg_sq, &max_exp_avg_sq}, table(parameter).adam, step);
  bump({&parameter, &exp_avg, &exp_avg_sq, &max_exp_avg_sq});
}

}  // namespace ebb::ops
