#include <ebb/core/ops/linear_cross_entropy.h>

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/loss_kernels.h>
#include <ebb/core/ops/matmul.h>
#include <ebb/core/ops/reduce.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/shape.h>
#include <ebb/core/ops/softmax_kernels.h>

namespace ebb::ops {
namespace {

void check_arguments(const TensorBase& input, const TensorBase& weight,
                     const std::optional<TensorBase>& bias, const TensorBase& target,
                     const LinearCrossEntropy& loss) {
  check_same_device("input", input, "weight", weight);
  check_same_device("input", input, "target", target);
  EBB_CHECK(is_floating_point(input.scalar_type()) && input.scalar_type() == weight.scalar_type(),
            "input and weight must be of one floating-point dtype, got ", input.scalar_type(),
            " and ", weight.scalar_type());
  EBB_CHECK(weight.dim() == 2 && weight.size(1) == input.size(1), "input with ", input.size(1),
            " features does not fit a weight of sizes ", weight.sizes(),
            ": it must be [classes, features]");
  EBB_CHECK(!bias || (bias->dim() == 1 && bias->numel() == weight.size(0)),
            "the bias must have the sizes [", weight.size(0), "], one number for each class, got ",
            bias->sizes());
  EBB_CHECK(target.scalar_type() == kLong && target.numel() == input.size(0),
            "the target must hold a class of dtype Long for each of ", input.size(0),
            " rows, got dtype ", target.scalar_type(), " and ", target.numel(), " elements");
  EBB_CHECK(loss.reduction >= Reduction::None && loss.reduction < Reduction::END, loss.reduction,
            " is not a reduction: use Reduction::None, Mean or Sum");
  EBB_CHECK(loss.label_smoothing >= 0 && loss.label_smoothing <= 1,
            "label_smoothing must be in [0, 1], got ", loss.label_smoothing);
  EBB_CHECK(loss.chunk >= 0, "chunk must be a number of rows, or 0 for the default, got ",
            loss.chunk);
}

/// The elements of a vector from `start`.
char* at(const TensorBase& vector, int64_t start) {
  return static_cast<char*>(vector.data_ptr()) +
         start * static_cast<int64_t>(element_size(vector.scalar_type()));
}

/// The loss of the rows of one chunk whose logits are at `logits`.
LossArguments arguments_of(const TensorBase& logits, const TensorBase& target, int64_t start,
                           const TensorBase& log_sum_exp, const LinearCrossEntropy& loss) {
  LossArguments a;
  a.shape = {logits.size(0), logits.size(1), 1};
  a.input_dtype = logits.scalar_type();
  a.compute = log_sum_exp.scalar_type();
  a.input = logits.data_ptr();
  a.target = target.const_data_ptr<int64_t>() + start;
  a.log_sum_exp = at(log_sum_exp, start);
  a.ignore_index = loss.ignore_index;
  a.smoothing = loss.label_smoothing;
  a.mean = loss.reduction == Reduction::Mean;
  return a;
}

void log_sum_exp_of(const TensorBase& logits, const TensorBase& result, int64_t start) {
  const SoftmaxArguments arguments{.shape = {logits.size(0), logits.size(1), 1},
                                   .compute = result.scalar_type(),
                                   .input = logits.data_ptr(),
                                   .input_dtype = logits.scalar_type(),
                                   .output = at(result, start),
                                   .output_dtype = result.scalar_type()};
  kernels(logits.device()).softmax->logsumexp(arguments);
}

/// Calls f(number, start, rows, their logits) for each chunk.
template <typename F>
void for_each_chunk(const TensorBase& input, const TensorBase& weight,
                    const std::optional<TensorBase>& bias, int64_t chunk, F&& f) {
  const int64_t rows = input.size(0);
  for (int64_t number = 0; number * chunk < rows; ++number) {
    const int64_t start = number * chunk;
    const TensorBase some = narrow(input, 0, start, std::min(chunk, rows - start));
    f(number, start, some, linear(some, weight, bias));
  }
}

int64_t chunk_of(const TensorBase& input, const TensorBase& weight,
                 const LinearCrossEntropy& loss) {
  return loss.chunk > 0 ? loss.chunk
                        : linear_cross_entropy_chunk(input.size(0), input.size(1), weight.size(0));
}

TensorBase in(ScalarType dtype, const TensorBase& tensor) {
  return tensor.scalar_type() == dtype ? tensor : to(tensor, dtype, tensor.device());
}

/// Zeros to add to.
TensorBase sum_like(const TensorBase& tensor, ScalarType dtype) {
  const TensorBase result = empty(tensor.sizes(), dtype, tensor.device());
  fill_fresh(result, 0);
  return result;
}

}  // namespace

int64_t linear_cross_entropy_chunk(int64_t rows, int64_t features, int64_t classes) {
  constexpr int64_t kLeast = 128;
  return std::max<int64_t>(kLeast, rows * features / std::max<int64_t>(1, classes));
}

ClassLossResult linear_cross_entropy(const TensorBase& input, const TensorBase& weight,
                                     const std::optional<TensorBase>& bias,
                                     const TensorBase& target, const LinearCrossEntropy& loss) {
  check_arguments(input, weight, bias, target, loss);
  const TensorBase classes = row_major(target);
  check_classes(classes, weight.size(0), loss.ignore_index);
  const ScalarType dtype = input.scalar_type();
  const ScalarType compute = dtype == kDouble ? kDouble : kFloat;
  const Device device = input.device();
  const int64_t rows = input.size(0);
  const int64_t chunk = chunk_of(input, weight, loss);
  const int64_t chunks = (rows + chunk - 1) / chunk;
  const bool none = loss.reduction == Reduction::None;

  const TensorBase losses = empty({none ? rows : chunks}, compute, device);
  const TensorBase totals = empty({chunks}, compute, device);
  ClassLossResult result;
  result.log_sum_exp = empty({rows}, compute, device);
  const memory::Workspace workspace(
      static_cast<size_t>(chunk + kLossPiece - 1) / kLossPiece * 2 * sizeof(double), device);
  for_each_chunk(input, weight, bias, chunk,
                 [&](int64_t number, int64_t start, const TensorBase&, const TensorBase& logits) {
                   log_sum_exp_of(logits, result.log_sum_exp, start);
                   LossArguments a = arguments_of(logits, classes, start, result.log_sum_exp, loss);
                   a.mean = false;
                   a.loss_dtype = compute;
                   (none ? a.row_losses : a.output) = at(losses, none ? start : number);
                   a.total = at(totals, number);
                   a.workspace = workspace.as<double>();
                   kernels(device).loss->forward(a);
                 });
  result.total_weight = sum(totals);
  const TensorBase total = none ? losses : sum(losses);
  if (loss.reduction == Reduction::Mean) {
    elementwise_(ElementwiseOp::Div, total, {total, result.total_weight});
  }
  result.loss = in(loss.wide ? compute : dtype, total);
  return result;
}

std::array<TensorBase, 3> linear_cross_entropy_backward(
    const TensorBase& grad_output, const TensorBase& input, const TensorBase& weight,
    const std::optional<TensorBase>& bias, const TensorBase& target, const TensorBase& log_sum_exp,
    const TensorBase& total_weight, const LinearCrossEntropy& loss, std::array<bool, 3> wanted) {
  check_arguments(input, weight, bias, target, loss);
  const TensorBase classes = row_major(target);
  const TensorBase grad = row_major(grad_output);
  const ScalarType compute = log_sum_exp.scalar_type();
  const Scalar one = 1;
  TensorBase of_weight;
  TensorBase of_bias;
  std::array<TensorBase, 3> result;
  if (wanted[0]) result[0] = empty(input.sizes(), input.scalar_type(), input.device());
  if (wanted[1]) of_weight = sum_like(weight, compute);
  if (wanted[2]) of_bias = sum_like(*bias, compute);
  const bool per_row = loss.reduction == Reduction::None;
  for_each_chunk(input, weight, bias, chunk_of(input, weight, loss),
                 [&](int64_t, int64_t start, const TensorBase& some, const TensorBase& logits) {
                   LossArguments a = arguments_of(logits, classes, start, log_sum_exp, loss);
                   a.grad = at(grad, per_row ? start : 0);
                   a.grad_dtype = grad.scalar_type();
                   a.grad_per_row = per_row;
                   a.total = total_weight.data_ptr();
                   a.output = logits.data_ptr();
                   kernels(input.device()).loss->backward(a);
                   if (wanted[0]) {
                     addmm_(narrow(result[0], 0, start, some.size(0)), logits, weight, 0, 1);
                   }
                   if (wanted[1]) {
                     addmm_(of_weight, transpose(in(compute, logits), 0, 1), in(compute, some), 1,
                            1);
                   }
                   if (wanted[2]) {
                     elementwise_(ElementwiseOp::Add, of_bias,
                                  {of_bias, sum(logits, 0, false, compute)}, &one);
                   }
                 });
  if (wanted[1]) result[1] = in(weight.scalar_type(), of_weight);
  if (wanted[2]) result[2] = in(bias->scalar_type(), of_bias);
  return result;
}

}  // namespace ebb::ops
