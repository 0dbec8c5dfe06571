#include <ebb/nn/init.h>

#include <algorithm>
#include <cmath>

#include <ebb/autograd/grad_mode.h>

namespace ebb::nn::init {

namespace {

/// What calculate_gain visits.
struct Gain {
  double param;
  double operator()(enumtype::kTanh) const { return 5.0 / 3.0; }
  double operator()(enumtype::kReLU) const { return std::sqrt(2.0); }
  double operator()(enumtype::kLeakyReLU) const { return std::sqrt(2.0 / (1 + param * param)); }
  template <typename Linear>
  double operator()(Linear) const {
    return 1.0;
  }
};

double kaiming_std(const Tensor& tensor, double a, const FanModeType& mode,
                   const NonlinearityType& nonlinearity) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

/// A uniform distribution around 0 has the standard deviation bound / sqrt(3).
Tensor uniform_with_std_(const Tensor& tensor, double std) {
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * std;
  return uniform_(tensor, -bound, bound);
}

}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  return std::visit(Gain{param}, nonlinearity);
}

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard no_grad;
  tensor.fill_(value);
  return tensor;
}

Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  EBB_CHECK(matrix.dim() == 2, "eye_: only tensors with two dimensions are supported, got ",
            matrix.sizes());
  const NoGradGuard no_grad;
  matrix.zero_();
  matrix.diagonal().fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor) {
  EBB_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5,
            "dirac_: only tensors with three, four or five dimensions are supported, got ",
            tensor.sizes());
  const NoGradGuard no_grad;
  tensor.zero_();
  for (int64_t i = 0; i < std::min(tensor.size(0), tensor.size(1)); ++i) {
    Tensor filter = tensor.select(0, i).select(0, i);
    while (filter.dim() > 0) filter = filter.select(0, filter.size(0) / 2);
    filter.fill_(1);
  }
  return tensor;
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  tensor.uniform_(low, high);
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  tensor.normal_(mean, std);
  return tensor;
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  return normal_(tensor, 0, xavier_std(tensor, gain));
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  return uniform_with_std_(tensor, xavier_std(tensor, gain));
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return tensor.numel() == 0 ? tensor : normal_(tensor, 0, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  return uniform_with_std_(tensor, kaiming_std(tensor, a, mode, nonlinearity));
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  EBB_CHECK(tensor.dim() >= 2, "Fan in and fan out can not be computed for tensor with fewer than ",
            "2 dimensions, got ", tensor.sizes());
  int64_t receptive_field = 1;
  for (int64_t dim = 2; dim < tensor.dim(); ++dim) receptive_field *= tensor.size(dim);
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

}  // namespace ebb::nn::init
