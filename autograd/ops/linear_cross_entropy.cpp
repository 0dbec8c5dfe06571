#include <ebb/core/ops/linear_cross_entropy.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::Backward;
using autograd::needs_recording;
using autograd::Recorder;

namespace {

std::optional<TensorBase> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<TensorBase>(tensor) : std::nullopt;
}

/// The gradients by public ops, for gradients of gradients. The logits are held.
void compose_backward(Backward& b, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const Tensor& target, const Tensor& log_sum_exp, const Tensor& total_weight,
                      const ops::LinearCrossEntropy& loss) {
  const Tensor logits =
      linear(input, weight, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt);
  const Tensor grad =
      cross_entropy_loss_backward(b.grad(), logits, target, {}, log_sum_exp, total_weight,
                                  loss.reduction, loss.ignore_index, loss.label_smoothing);
  if (b.needs(0)) b.set(0, mm(grad, weight));
  if (b.needs(1)) b.set(1, mm(grad.t(), input));
  if (b.needs(2)) b.set(2, grad.sum(0));
}

/// The loss of input [rows, features] and target [rows].
Tensor loss_of_rows(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Tensor& target, const ops::LinearCrossEntropy& loss) {
  ops::ClassLossResult out =
      ops::linear_cross_entropy(input, weight, if_defined(bias), target, loss);
  Tensor result(std::move(out.loss));
  if (!needs_recording({input, weight, bias})) return result;
  Recorder r("LinearCrossEntropyBackward0", {input, weight, bias});
  r.record(result,
           [input = r.save(input), weight = r.save(weight), bias = r.save(bias),
            target = r.save(target), log_sum_exp = r.save(Tensor(std::move(out.log_sum_exp))),
            total = r.save(Tensor(std::move(out.total_weight))), loss](Backward& b) {
             const Tensor x = b.get(input);
             const Tensor w = b.get(weight);
             const Tensor added = b.get(bias);
             if (GradMode::is_enabled()) {
               return compose_backward(b, x, w, added, b.get(target), b.get(log_sum_exp),
                                       b.get(total), loss);
             }
             auto gradients = ops::linear_cross_entropy_backward(
                 b.grad(), x, w, if_defined(added), b.get(target), b.get(log_sum_exp), b.get(total),
                 loss, {b.needs(0), b.needs(1), b.needs(2)});
             for (size_t i = 0; i < gradients.size(); ++i) {
               if (gradients[i].defined()) b.set(i, Tensor(std::move(gradients[i])));
             }
           });
  return result;
}

/// The loss of input [..., features] and target [...].
Tensor loss_of(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& target,
               const ops::LinearCrossEntropy& loss) {
  EBB_CHECK(input.dim() >= 1 && target.sizes() == input.sizes().slice(0, input.sizes().size() - 1),
            "input of sizes ", input.sizes(), " is [..., features] and needs a target of sizes ",
            "[...], got ", target.sizes());
  if (input.dim() == 2) return loss_of_rows(input, weight, bias, target, loss);
  const Tensor losses = loss_of_rows(input.reshape({target.numel(), input.size(-1)}), weight, bias,
                                     target.reshape({target.numel()}), loss);
  return loss.reduction == Reduction::None ? losses.reshape(target.sizes()) : losses;
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& input, const Tensor& weight, const Tensor& target,
                            const std::optional<Tensor>& bias, int64_t reduction,
                            int64_t ignore_index, double label_smoothing, int64_t chunk) {
  const OpName name("linear_cross_entropy");
  ops::LinearCrossEntropy loss{reduction, ignore_index, label_smoothing, chunk};
  if (const autograd::AutocastCall cast(autograd::autocast_of("linear_cross_entropy"),
                                        {input, weight, autograd::or_undefined(bias)});
      cast) {
    loss.wide = true;
    return loss_of(cast[0], cast[1], cast[2], target, loss);
  }
  return loss_of(input, weight, autograd::or_undefined(bias), target, loss);
}

}  // namespace ebb
