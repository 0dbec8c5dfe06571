#include <ebb/core/ops/loss.h>

#include <limits>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::Backward;
using autograd::differentiable;
using autograd::needs_recording;
using autograd::or_undefined;
using autograd::Recorder;

namespace {

std::optional<Tensor> optional_of(Tensor tensor) {
  return tensor.defined() ? std::optional<Tensor>(std::move(tensor)) : std::nullopt;
}

int64_t class_dim(IntArrayRef sizes) { return sizes.size() == 1 ? 0 : 1; }

/// A weight for each class in the sizes of the input.
Tensor weight_of_classes(const Tensor& weight, IntArrayRef sizes) {
  DimVector shape(sizes.size(), 1);
  shape[static_cast<size_t>(class_dim(sizes))] = -1;
  return weight.view(shape);
}

/// Cross entropy for a target of probabilities that wants a gradient itself.
Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target,
                                      const Tensor& weight, int64_t reduction,
                                      double label_smoothing) {
  const int64_t dim = class_dim(self.sizes());
  const auto classes = static_cast<double>(self.size(dim));
  Tensor t = target;
  if (label_smoothing > 0) t = t * (1 - label_smoothing) + label_smoothing / classes;
  if (weight.defined()) t = t * weight_of_classes(weight, self.sizes());
  const Tensor losses = -(log_softmax(self, dim) * t).sum(dim);
  if (reduction == Reduction::None) return losses;
  if (reduction == Reduction::Sum) return losses.sum();
  return losses.sum() / static_cast<double>(losses.numel());
}

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                int64_t reduction, int64_t ignore_index) {
  if (const AutocastCall cast(autocast_of("nll_loss"), {self, or_undefined(weight)}); cast) {
    return nll_loss(cast[0], target, cast.optional(1), reduction, ignore_index);
  }
  const OpName name("nll_loss");
  ops::ClassLossResult out =
      ops::nll_loss(self, target, {or_undefined(weight), reduction, ignore_index, 0});
  Tensor loss(std::move(out.loss));
  if (!needs_recording({self})) return loss;
  Recorder r("NllLossBackward0", {self});
  r.record(loss, [target = r.save(target), weight = r.save(weight),
                  total = r.save(Tensor(std::move(out.total_weight))),
                  sizes = DimVector(self.sizes()), reduction, ignore_index](Backward& b) {
    b.set(0, nll_loss_backward(b.grad(), b.get(target), optional_of(b.get(weight)), b.get(total),
                               sizes, reduction, ignore_index));
  });
  return loss;
}

// Linear in grad_output, with nll_loss itself for a gradient.
Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& target,
                         const std::optional<Tensor>& weight, const Tensor& total_weight,
                         IntArrayRef size, int64_t reduction, int64_t ignore_index) {
  return differentiable(
      "nll_loss_backward", "NllLossBackwardBackward0", {grad_output},
      [&] {
        return ops::nll_loss_backward(grad_output, target, total_weight, size,
                                      {or_undefined(weight), reduction, ignore_index, 0});
      },
      [&](Recorder& r) {
        return [target = r.save(target), weight = r.save(weight), reduction,
                ignore_index](Backward& b) {
          b.set(0, nll_loss(b.grad(), b.get(target), optional_of(b.get(weight)), reduction,
                            ignore_index));
        };
      });
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  if (const AutocastCall cast(autocast_of("cross_entropy_loss"),
                              {self, target, or_undefined(weight)});
      cast) {
    return cross_entropy_loss(cast[0], cast[1], cast.optional(2), reduction, ignore_index,
                              label_smoothing);
  }
  const OpName name("cross_entropy_loss");
  ops::ClassLossResult out = ops::cross_entropy_loss(
      self, target, {or_undefined(weight), reduction, ignore_index, label_smoothing});
  if (needs_recording({target})) {
    return cross_entropy_of_probabilities(self, target, or_undefined(weight), reduction,
                                          label_smoothing);
  }
  Tensor loss(std::move(out.loss));
  if (!needs_recording({self})) return loss;
  Recorder r("CrossEntropyLossBackward0", {self});
  r.record(loss, [self = r.save(self), target = r.save(target), weight = r.save(weight),
                  log_sum_exp = r.save(Tensor(std::move(out.log_sum_exp))),
                  total = r.save(Tensor(std::move(out.total_weight))), reduction, ignore_index,
                  label_smoothing](Backward& b) {
    b.set(0, cross_entropy_loss_backward(b.grad(), b.get(self), b.get(target),
                                         optional_of(b.get(weight)), b.get(log_sum_exp),
                                         b.get(total), reduction, ignore_index, label_smoothing));
  });
  return loss;
}

// With p = softmax(x), t the targets and a their sum for each row, the op is g * (a * p - t).
Tensor cross_entropy_loss_backward(const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const std::optional<Tensor>& weight,
                                   const Tensor& log_sum_exp, const Tensor& total_weight,
                                   int64_t reduction, int64_t ignore_index,
                                   double label_smoothing) {
  return differentiable(
      "cross_entropy_loss_backward", "CrossEntropyLossBackwardBackward0", {grad_output, self},
      [&] {
        return ops::cross_entropy_loss_backward(
            grad_output, self, target, log_sum_exp, total_weight,
            {or_undefined(weight), reduction, ignore_index, label_smoothing});
      },
      [&](Recorder& r) {
        return
            [grad_output = r.save(grad_output), self = r.save(self), target = r.save(target),
             weight = r.save(weight), log_sum_exp = r.save(log_sum_exp),
             total = r.save(total_weight), reduction, ignore_index, label_smoothing](Backward& b) {
              const Tensor x = b.get(self);
              const Tensor lse = b.get(log_sum_exp);
              const Tensor total_weight = b.get(total);
              const int64_t dim = class_dim(x.sizes());
              const Tensor ones = b.grad().new_ones(lse.sizes());
              // a * p - t for a log-sum-exp; for an infinite one -t, since p is 0.
              const auto coefficients = [&](const Tensor& logits, const Tensor& shift) {
                return cross_entropy_loss_backward(ones, logits, b.get(target),
                                                   optional_of(b.get(weight)), shift, total_weight,
                                                   Reduction::None, ignore_index, label_smoothing);
              };
              const bool mean = reduction == Reduction::Mean;
              if (b.needs(0)) {
                const Tensor product = b.grad() * coefficients(x, lse);
                Tensor grad = reduction == Reduction::None ? product.sum(dim) : product.sum();
                b.set(0, mean ? grad / total_weight : grad);
              }
              if (b.needs(1)) {
                const Tensor infinite =
                    lse.new_full(lse.sizes(), std::numeric_limits<double>::infinity());
                const Tensor a = -coefficients(x.detach(), infinite).sum(dim, true);
                Tensor scale = b.get(grad_output);
                if (mean) scale = scale / total_weight;
                if (reduction == Reduction::None) scale = scale.unsqueeze(dim);
                b.set(1, softmax_backward(b.grad(), softmax(x, dim), dim) * (scale * a));
              }
            };
      });
}

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  if (const AutocastCall cast(autocast_of("mse_loss"), {self, target}); cast) {
    return mse_loss(cast[0], cast[1], reduction);
  }
  return differentiable(
      "mse_loss", "MseLossBackward0", {self, target},
      [&] { return ops::mse_loss(self, target, reduction); },
      [&](Recorder& r) {
        return [self = r.save(self), target = r.save(target), reduction](Backward& b) {
          const Tensor grad = mse_loss_backward(b.grad(), b.get(self), b.get(target), reduction);
          if (b.needs(0)) b.set(0, grad);
          if (b.needs(1)) b.set(1, -grad);
        };
      });
}

// 2 * g * (x - t), divided by the number of elements for the mean.
Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                         int64_t reduction) {
  return differentiable(
      "mse_loss_backward", "MseLossBackwardBackward0", {grad_output, self, target},
      [&] { return ops::mse_loss_backward(grad_output, self, target, reduction); },
      [&](Recorder& r) {
        return [grad_output = r.save_if(r.needs(1) || r.needs(2), grad_output),
                self = r.save_if(r.needs(0), self), target = r.save_if(r.needs(0), target),
                reduction](Backward& b) {
          const double count = static_cast<double>(b.grad().numel());
          const Tensor grad = b.grad() * (reduction == Reduction::Mean ? 2 / count : 2);
          if (b.needs(0)) {
            const Tensor product = grad * add(b.get(self), b.get(target), -1);  // sub refuses bool
            b.set(0, reduction == Reduction::None ? product : product.sum());
          }
          if (!b.needs(1) && !b.needs(2)) return;
          const Tensor scaled = grad * b.get(grad_output);
          if (b.needs(1)) b.set(1, scaled);
          if (b.needs(2)) b.set(2, -scaled);
        };
      });
}

}  // namespace ebb
