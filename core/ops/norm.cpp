#include <ebb/core/ops/norm.h>

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/norm_kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>

namespace ebb::ops {
namespace {

TypedData data_of(const TensorBase& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr(), tensor.scalar_type()};
}

TensorBase row_major_or_none(const TensorBase& tensor) {
  return tensor.defined() ? row_major(tensor) : tensor;
}

void check_floating(const TensorBase& input) {
  EBB_CHECK(is_floating_point(input.scalar_type()), "expected a floating-point input, got dtype ",
            input.scalar_type(), " and sizes ", input.sizes(), "; convert it with .to(kFloat)");
}

void check_parameter(const TensorBase& tensor, const char* name, IntArrayRef sizes,
                     const TensorBase& input) {
  if (!tensor.defined()) return;
  EBB_CHECK(tensor.sizes() == sizes, name, " has sizes ", tensor.sizes(), ", but input of sizes ",
            input.sizes(), " needs ", sizes);
  EBB_CHECK(is_floating_point(tensor.scalar_type()), name, " has dtype ", tensor.scalar_type(),
            "; it must be floating-point");
  check_same_device("input", input, name, tensor);
}

void check_batch_norm(const TensorBase& input, const BatchNormParameters& p) {
  check_floating(input);
  EBB_CHECK(input.dim() >= 2, "expected input [N, C, ...], got sizes ", input.sizes());
  const int64_t channels = input.size(1);
  check_parameter(p.weight, "weight", channels, input);
  check_parameter(p.bias, "bias", channels, input);
  check_parameter(p.running_mean, "running_mean", channels, input);
  check_parameter(p.running_var, "running_var", channels, input);
  if (p.training) {
    EBB_CHECK(p.running_mean.defined() == p.running_var.defined(),
              "running_mean and running_var come together or not at all");
    return;
  }
  EBB_CHECK(p.running_mean.defined() && p.running_var.defined(),
            "outside training running_mean and running_var must be given");
}

BatchNormArguments batch_arguments(const TensorBase& input, const BatchNormParameters& p) {
  const int64_t channels = input.size(1);
  const int64_t outer = input.size(0);
  const int64_t inner = input.numel() == 0 ? 0 : input.numel() / (outer * channels);
  return {.outer = outer,
          .channels = channels,
          .inner = inner,
          .compute = compute_type(input.scalar_type()),
          .training = p.training,
          .eps = p.eps,
          .input = data_of(input),
          .weight = {},
          .bias = {},
          .running_mean = {},
          .running_var = {},
          .mean = {},
          .rstd = {},
          .output = {},
          .grad_output = {},
          .grad_input = {},
          .grad_weight = {},
          .grad_bias = {}};
}

/// A running statistic that the kernel may write: itself if contiguous, else a copy.
void write_back(const TensorBase& running, const TensorBase& updated) {
  if (!running.defined()) return;
  if (updated.is_same(running))
    running.impl()->bump_version();
  else
    copy_(running, updated);
}

}  // namespace

Normalized batch_norm(const TensorBase& input, const BatchNormParameters& p, double momentum) {
  check_batch_norm(input, p);
  EBB_CHECK(!p.training || input.numel() == 0 || input.numel() / input.size(1) > 1,
            "expected more than 1 value per channel when training, got input of sizes ",
            input.sizes());
  const TensorBase x = row_major(input);
  const TensorBase weight = row_major_or_none(p.weight);
  const TensorBase bias = row_major_or_none(p.bias);
  const TensorBase running_mean = row_major_or_none(p.running_mean);
  const TensorBase running_var = row_major_or_none(p.running_var);
  Normalized result{empty(input.sizes(), input.scalar_type(), input.device()), {}, {}};
  BatchNormArguments arguments = batch_arguments(x, p);
  if (p.training) {
    result.mean = empty(input.size(1), arguments.compute, input.device());
    result.rstd = empty(input.size(1), arguments.compute, input.device());
  }
  if (input.numel() == 0) return result;
  arguments.momentum = momentum;
  arguments.weight = data_of(weight);
  arguments.bias = data_of(bias);
  arguments.running_mean = data_of(running_mean);
  arguments.running_var = data_of(running_var);
  arguments.mean = data_of(result.mean);
  arguments.rstd = data_of(result.rstd);
  arguments.output = data_of(result.output);
  kernels(input.device()).norm->batch_norm(arguments);
  if (p.training) {
    write_back(p.running_mean, running_mean);
    write_back(p.running_var, running_var);
  }
  return result;
}

std::array<TensorBase, 3> batch_norm_backward(const TensorBase& grad_output,
                                              const TensorBase& input, const BatchNormParameters& p,
                                              const TensorBase& mean, const TensorBase& rstd,
                                              const std::array<bool, 3>& wanted) {
  check_batch_norm(input, p);
  EBB_CHECK(grad_output.sizes() == input.sizes(), "grad_output has sizes ", grad_output.sizes(),
            ", input ", input.sizes());
  const TensorBase x = row_major(input);
  const TensorBase grad = row_major(grad_output);
  const TensorBase weight = row_major_or_none(p.weight);
  const TensorBase running_mean = row_major_or_none(p.running_mean);
  const TensorBase running_var = row_major_or_none(p.running_var);
  const int64_t channels = input.size(1);
  const ScalarType weight_dtype = p.weight.defined() ? p.weight.scalar_type() : input.scalar_type();
  std::array<TensorBase, 3> result;
  if (wanted[0]) result[0] = empty(input.sizes(), input.scalar_type(), input.device());
  if (wanted[1]) result[1] = empty(channels, weight_dtype, input.device());
  if (wanted[2]) result[2] = empty(channels, weight_dtype, input.device());
  BatchNormArguments arguments = batch_arguments(x, p);
  arguments.weight = data_of(weight);
  arguments.running_mean = data_of(running_mean);
  arguments.running_var = data_of(running_var);
  arguments.mean = data_of(mean);
  arguments.rstd = data_of(rstd);
  arguments.grad_output = data_of(grad);
  arguments.grad_input = data_of(result[0]);
  arguments.grad_weight = data_of(result[1]);
  arguments.grad_bias = data_of(result[2]);
  if (channels > 0) kernels(input.device()).norm->batch_norm_backward(arguments);
  return result;
}

namespace {

/// The sizes of the statistics; throws if the input does not end in `shape`.
DimVector statistics_sizes(const TensorBase& input, IntArrayRef shape) {
  check_floating(input);
  EBB_CHECK(!shape.empty(), "normalized_shape must have at least one dimension");
  const IntArrayRef sizes = input.sizes();
  EBB_CHECK(sizes.size() >= shape.size() && sizes.slice(sizes.size() - shape.size()) == shape,
            "normalized_shape ", shape, " is not how the sizes ", sizes, " of input end");
  DimVector result(sizes);
  for (size_t d = sizes.size() - shape.size(); d < sizes.size(); ++d) result[d] = 1;
  return result;
}

LayerNormArguments layer_arguments(const TensorBase& input, IntArrayRef shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return {.rows = n == 0 ? 0 : input.numel() / n,
          .n = n,
          .compute = compute_type(input.scalar_type()),
          .input = data_of(input),
          .weight = {},
          .bias = {},
          .mean = {},
          .rstd = {},
          .output = {},
          .grad_output = {},
          .grad_input = {},
          .grad_weight = {},
          .grad_bias = {}};
}

}  // namespace

Normalized layer_norm(const TensorBase& input, IntArrayRef shape, const TensorBase& weight,
                      const TensorBase& bias, double eps) {
  const DimVector sizes = statistics_sizes(input, shape);
  check_parameter(weight, "weight", shape, input);
  check_parameter(bias, "bias", shape, input);
  const TensorBase x = row_major(input);
  const TensorBase scale = row_major_or_none(weight);
  const TensorBase shift = row_major_or_none(bias);
  LayerNormArguments arguments = layer_arguments(x, shape);
  Normalized result{empty(input.sizes(), input.scalar_type(), input.device()),
                    empty(sizes, arguments.compute, input.device()),
                    empty(sizes, arguments.compute, input.device())};
  if (arguments.rows == 0) return result;
  arguments.eps = eps;
  arguments.weight = data_of(scale);
  arguments.bias = data_of(shift);
  arguments.mean = data_of(result.mean);
  arguments.rstd = data_of(result.rstd);
  arguments.output = data_of(result.output);
  kernels(input.device()).norm->layer_norm(arguments);
  return result;
}

std::array<TensorBase, 3> layer_norm_backward(const TensorBase& grad_output,
                                              const TensorBase& input, IntArrayRef shape,
                                              const TensorBase& weight, const TensorBase& mean,
                                              const TensorBase& rstd,
                                              const std::array<bool, 3>& wanted) {
  statistics_sizes(input, shape);
  EBB_CHECK(grad_output.sizes() == input.sizes(), "grad_output has sizes ", grad_output.sizes(),
            ", input ", input.sizes());
  const TensorBase x = row_major(input);
  const TensorBase grad = row_major(grad_output);
  const TensorBase scale = row_major_or_none(weight);
  const ScalarType weight_dtype = weight.defined() ? weight.scalar_type() : input.scalar_type();
  std::array<TensorBase, 3> result;
  if (wanted[0]) result[0] = empty(input.sizes(), input.scalar_type(), input.device());
  if (wanted[1]) result[1] = empty(shape, weight_dtype, input.device());
  if (wanted[2]) result[2] = empty(shape, weight_dtype, input.device());
  LayerNormArguments arguments = layer_arguments(x, shape);
  if (arguments.n == 0) return result;
  constexpr int64_t kLeastRows = 64;
  constexpr int64_t kMaxPieces = 16;
  arguments.pieces = std::clamp<int64_t>(arguments.rows / kLeastRows, 1, kMaxPieces);
  arguments.weight = data_of(scale);
  arguments.mean = data_of(mean);
  arguments.rstd = data_of(rstd);
  arguments.grad_output = data_of(grad);
  arguments.grad_input = data_of(result[0]);
  arguments.grad_weight = data_of(result[1]);
  arguments.grad_bias = data_of(result[2]);
  const memory::Workspace workspace(
      static_cast<size_t>(arguments.pieces * 2 * arguments.n) * element_size(arguments.compute),
      input.device());
  arguments.workspace = workspace.data();
  kernels(input.device()).norm->layer_norm_backward(arguments);
  return result;
}

}  // namespace ebb::ops
