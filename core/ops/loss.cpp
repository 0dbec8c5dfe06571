#include <ebb/core/ops/loss.h>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/loss_kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/softmax_kernels.h>

namespace ebb::ops {
namespace {

const LossKernels& loss_kernels(const TensorBase& tensor) { return *kernels(tensor.device()).loss; }

void check_reduction(int64_t reduction) {
  EBB_CHECK(reduction >= Reduction::None && reduction < Reduction::END, reduction,
            " is not a reduction: use Reduction::None, Mean or Sum");
}

LineShape class_shape(IntArrayRef sizes) { return line_shape(sizes, sizes.size() == 1 ? 0 : 1); }

/// The sizes of a target of classes.
DimVector row_sizes(IntArrayRef sizes) {
  DimVector rows(sizes);
  rows.erase(sizes.size() == 1 ? 0 : 1);
  return rows;
}

/// The tensors of a class loss in the form that kernels take; they are copied only where they are
/// not in it already.
struct Prepared {
  TensorBase input;
  TensorBase target;
  TensorBase weight;
  TensorBase grad;
  LossArguments arguments;
};

bool has_probabilities(IntArrayRef sizes, const TensorBase& target) {
  return is_floating_point(target.scalar_type()) && target.sizes() == sizes;
}

Prepared prepare(IntArrayRef sizes, ScalarType dtype, const TensorBase& target,
                 const ClassLoss& loss) {
  EBB_CHECK(!sizes.empty(), "the input needs a dimension of classes, it has none");
  EBB_CHECK(is_floating_point(dtype), "expected a floating-point input, got dtype ", dtype);
  check_reduction(loss.reduction);
  Prepared p;
  p.arguments.shape = class_shape(sizes);
  p.arguments.compute = compute_type(dtype);
  p.arguments.input_dtype = dtype;
  p.arguments.ignore_index = loss.ignore_index;
  p.arguments.smoothing = loss.label_smoothing;
  p.arguments.mean = loss.reduction == Reduction::Mean;
  const int64_t classes = p.arguments.shape.n;
  if (has_probabilities(sizes, target)) {
    p.target =
        row_major(target.scalar_type() == dtype ? target : to(target, dtype, target.device()));
    p.arguments.probabilities = p.target.data_ptr();
  } else {
    EBB_CHECK(target.scalar_type() == kLong,
              "the target must hold classes of dtype Long and sizes ",
              IntArrayRef(row_sizes(sizes)), ", got dtype ", target.scalar_type(), " and sizes ",
              target.sizes());
    EBB_CHECK(target.sizes() == IntArrayRef(row_sizes(sizes)), "an input of sizes ", sizes,
              " needs a target of sizes ", IntArrayRef(row_sizes(sizes)), ", got ", target.sizes());
    p.target = row_major(target);
    p.arguments.target = p.target.const_data_ptr<int64_t>();
    check_classes(p.target, classes, loss.ignore_index);
  }
  if (loss.weight.defined()) {
    check_same_device("target", target, "weight", loss.weight);
    EBB_CHECK(loss.weight.dim() == 1 && loss.weight.numel() == classes,
              "the weight must be a vector of ", classes, " classes, got sizes ",
              loss.weight.sizes());
    EBB_CHECK(is_floating_point(loss.weight.scalar_type()), "the weight must be floating point, ",
              "got dtype ", loss.weight.scalar_type());
    p.weight = row_major(loss.weight.scalar_type() == p.arguments.compute
                             ? loss.weight
                             : to(loss.weight, p.arguments.compute, target.device()));
    p.arguments.weight = p.weight.data_ptr();
  }
  return p;
}

ClassLossResult forward(const TensorBase& self, Prepared& p, TensorBase log_sum_exp,
                        int64_t reduction) {
  LossArguments& a = p.arguments;
  const bool none = reduction == Reduction::None;
  ClassLossResult result;
  result.loss = empty(none ? IntArrayRef(row_sizes(self.sizes())) : IntArrayRef(),
                      self.scalar_type(), self.device());
  result.total_weight = empty({}, a.compute, self.device());
  const int64_t pieces = (a.shape.lines() + kLossPiece - 1) / kLossPiece;
  const memory::Workspace workspace(static_cast<size_t>(pieces) * 2 * sizeof(double),
                                    self.device());
  a.input = p.input.data_ptr();
  a.loss_dtype = a.input_dtype;
  (none ? a.row_losses : a.output) = result.loss.data_ptr();
  a.total = result.total_weight.data_ptr();
  a.workspace = workspace.as<double>();
  if (log_sum_exp.defined()) a.log_sum_exp = log_sum_exp.data_ptr();
  loss_kernels(self).forward(a);
  result.log_sum_exp = std::move(log_sum_exp);
  return result;
}

TensorBase backward(const TensorBase& grad_output, Prepared& p, const TensorBase& total_weight,
                    IntArrayRef sizes, int64_t reduction) {
  check_same_device("grad_output", grad_output, "total_weight", total_weight);
  LossArguments& a = p.arguments;
  const DimVector expected = reduction == Reduction::None ? row_sizes(sizes) : DimVector();
  EBB_CHECK(grad_output.sizes() == IntArrayRef(expected), "grad_output of sizes ",
            grad_output.sizes(), " does not fit an input of sizes ", sizes, ": it must have sizes ",
            IntArrayRef(expected));
  EBB_CHECK(total_weight.numel() == 1 && total_weight.scalar_type() == a.compute,
            "total_weight must be one element of dtype ", a.compute, ", got sizes ",
            total_weight.sizes(), " and dtype ", total_weight.scalar_type());
  TensorBase result = empty(sizes, a.input_dtype, grad_output.device());
  if (result.numel() == 0) return result;
  p.grad = row_major(grad_output);
  a.grad = p.grad.data_ptr();
  a.grad_dtype = p.grad.scalar_type();
  a.grad_per_row = reduction == Reduction::None;
  a.total = total_weight.data_ptr();
  a.output = result.data_ptr();
  loss_kernels(grad_output).backward(a);
  return result;
}

TensorBase log_sum_exp_of(const TensorBase& self, const Prepared& p) {
  const LossArguments& a = p.arguments;
  TensorBase result = empty(row_sizes(self.sizes()), a.compute, self.device());
  if (result.numel() == 0) return result;
  SoftmaxArguments arguments{.shape = a.shape,
                             .compute = a.compute,
                             .input = p.input.data_ptr(),
                             .input_dtype = self.scalar_type(),
                             .output = result.data_ptr(),
                             .output_dtype = a.compute};
  kernels(self.device()).softmax->logsumexp(arguments);
  return result;
}

}  // namespace

void check_classes(const TensorBase& target, int64_t classes, int64_t ignore_index) {
  if (!target.is_cpu()) return;
  const auto* data = target.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < target.numel(); ++i) {
    EBB_CHECK_AS(IndexError, data[i] == ignore_index || (data[i] >= 0 && data[i] < classes),
                 "target ", data[i], " is out of range: there are ", classes, " classes");
  }
}

ClassLossResult nll_loss(const TensorBase& self, const TensorBase& target, const ClassLoss& loss) {
  check_same_device("self", self, "target", target);
  EBB_CHECK(!is_floating_point(target.scalar_type()), "the target must hold classes of dtype ",
            "Long, got dtype ", target.scalar_type());
  Prepared p = prepare(self.sizes(), self.scalar_type(), target, loss);
  p.input = row_major(self);
  return forward(self, p, {}, loss.reduction);
}

TensorBase nll_loss_backward(const TensorBase& grad_output, const TensorBase& target,
                             const TensorBase& total_weight, IntArrayRef sizes,
                             const ClassLoss& loss) {
  check_same_device("grad_output", grad_output, "target", target);
  Prepared p = prepare(sizes, grad_output.scalar_type(), target, loss);
  return backward(grad_output, p, total_weight, sizes, loss.reduction);
}

ClassLossResult cross_entropy_loss(const TensorBase& self, const TensorBase& target,
                                   const ClassLoss& loss) {
  check_same_device("self", self, "target", target);
  EBB_CHECK(loss.label_smoothing >= 0 && loss.label_smoothing <= 1,
            "label_smoothing must be in [0, 1], got ", loss.label_smoothing);
  Prepared p = prepare(self.sizes(), self.scalar_type(), target, loss);
  EBB_CHECK(p.arguments.probabilities == nullptr || loss.ignore_index < 0,
            "ignore_index does not go with a target of probabilities");
  p.input = row_major(self);
  return forward(self, p, log_sum_exp_of(self, p), loss.reduction);
}

TensorBase cross_entropy_loss_backward(const TensorBase& grad_output, const TensorBase& self,
                                       const TensorBase& target, const TensorBase& log_sum_exp,
                                       const TensorBase& total_weight, const ClassLoss& loss) {
  check_same_device("grad_output", grad_output, "self", self);
  check_same_device("self", self, "target", target);
  check_same_device("self", self, "log_sum_exp", log_sum_exp);
  Prepared p = prepare(self.sizes(), self.scalar_type(), target, loss);
  p.input = row_major(self);
  p.arguments.input = p.input.data_ptr();
  const DimVector rows = row_sizes(self.sizes());
  EBB_CHECK(
      log_sum_exp.sizes() == IntArrayRef(rows) && log_sum_exp.scalar_type() == p.arguments.compute,
      "log_sum_exp must have sizes ", IntArrayRef(rows), " and dtype ", p.arguments.compute,
      ", got sizes ", log_sum_exp.sizes(), " and dtype ", log_sum_exp.scalar_type());
  const TensorBase lse = row_major(log_sum_exp);
  p.arguments.log_sum_exp = lse.data_ptr();
  return backward(grad_output, p, total_weight, self.sizes(), loss.reduction);
}

TensorBase mse_loss(const TensorBase& self, const TensorBase& target, int64_t reduction) {
  check_same_device("self", self, "target", target);
  check_reduction(reduction);
  const ScalarType dtype = result_type({self, target});
  EBB_CHECK(is_floating_point(dtype), "expected floating-point tensors, got ", self.scalar_type(),
            " and ", target.scalar_type());
  if (reduction == Reduction::None) {
    const Scalar minus[] = {-1};
    const TensorBase result = elementwise(ElementwiseOp::Add, {self, target}, minus);
    elementwise_(ElementwiseOp::Square, result, {result});
    return TensorBase(make_intrusive<TensorImpl>(result.storage(), dtype, result.device(),
                                                 result.sizes(), result.strides(), 0));
  }
  TensorIterator it(broadcast_shapes(self.sizes(), target.sizes()));
  it.set_compute_type(dtype);
  it.add(self);
  it.add(target);
  it.build();
  TensorBase result = empty({}, dtype, self.device());
  loss_kernels(self).squared_difference(
      it, {.output = result.data_ptr(),
           .output_dtype = dtype,
           .divisor = reduction == Reduction::Mean ? static_cast<double>(it.numel()) : 1});
  return result;
}

TensorBase mse_loss_backward(const TensorBase& grad_output, const TensorBase& self,
                             const TensorBase& target, int64_t reduction) {
  check_reduction(reduction);
  const Scalar minus[] = {-1};
  const TensorBase result = elementwise(ElementwiseOp::Add, {self, target}, minus);
  const IntArrayRef expected = reduction == Reduction::None ? result.sizes() : IntArrayRef();
  EBB_CHECK(grad_output.sizes() == expected, "grad_output must have sizes ", expected, ", got ",
            grad_output.sizes());
  const Scalar scale =
      reduction == Reduction::Mean ? 2.0 / static_cast<double>(result.numel()) : 2.0;
  elementwise_(ElementwiseOp::Mul, result, {result, grad_output});
  elementwise_(ElementwiseOp::Mul, result, {result, scale});
  return TensorBase(make_intrusive<TensorImpl>(result.storage(), result.scalar_type(),
                                               result.device(), result.sizes(), result.strides(),
                                               0));
}

}  // namespace ebb::ops
