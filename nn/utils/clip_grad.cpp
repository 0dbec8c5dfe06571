#include <ebb/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ops/optimizer.h>

namespace ebb::nn::utils {

namespace {

std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> result;
  for (const Tensor& parameter : parameters) {
    if (parameter.grad().defined()) result.push_back(parameter.grad().detach());
  }
  return result;
}

/// Whether one op takes the norms of all of them: on one CUDA device, which is then waited for
/// once.
bool go_together(const std::vector<Tensor>& grads, double norm_type) {
  const bool has_kernel = norm_type == 1 || norm_type == 2 || norm_type == INFINITY;
  return has_kernel && std::all_of(grads.begin(), grads.end(), [&](const Tensor& grad) {
           return grad.is_cuda() && grad.device() == grads.front().device();
         });
}

/// The norm of each gradient. Those of a device are fetched together, so that the host waits once.
std::vector<double> norms_of(const std::vector<Tensor>& grads, double norm_type) {
  if (go_together(grads, norm_type)) {
    const std::vector<TensorBase> all(grads.begin(), grads.end());
    const Tensor fetched = Tensor(ops::norms(all, norm_type)).cpu();
    const auto* data = fetched.const_data_ptr<double>();
    return {data, data + fetched.numel()};
  }
  std::vector<double> result;
  std::vector<Tensor> on_device;
  const Device device = grads[0].device();
  for (const Tensor& grad : grads) {
    const Tensor norm = grad.norm(norm_type);
    if (!device.is_cpu() && grad.device() == device)
      on_device.push_back(norm.to(kDouble));
    else
      result.push_back(norm.item<double>());
  }
  if (on_device.empty()) return result;
  const Tensor fetched = stack(on_device).cpu();
  const auto* data = fetched.const_data_ptr<double>();
  result.insert(result.end(), data, data + fetched.numel());
  return result;
}

/// The norm of all elements together, from the norms of the parts.
double total_norm(const std::vector<Tensor>& grads, double norm_type) {
  if (norm_type == 0) return static_cast<double>(grads.size());
  double total = 0;
  for (const double norm : norms_of(grads, norm_type)) {
    if (!std::isinf(norm_type)) {
      total += std::pow(norm, norm_type);
    } else if (std::isnan(norm) || norm > total) {
      total = norm;
    }
    if (std::isnan(total)) return total;
  }
  return std::isinf(norm_type) ? total : std::pow(total, 1 / norm_type);
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return 0;
  const double norm = total_norm(grads, norm_type);
  EBB_CHECK(!error_if_nonfinite || std::isfinite(norm), "The total norm of order ", norm_type,
            " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable ",
            "this error and scale the gradients with the non-finite norm anyway, set ",
            "`error_if_nonfinite=false`");
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;
  for (const Tensor& grad : grads) grad.mul_(factor);
  return norm;
}

double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& grad : gradients(parameters))
    grad.clamp_(Scalar(-clip_value), Scalar(clip_value));
}

void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

}  // namespace ebb::nn::utils
