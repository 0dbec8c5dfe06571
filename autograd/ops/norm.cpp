#include <ebb/core/ops/norm.h>

#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

// The gradients run as one kernel, or, where they are to be differentiated again, as a composition
// of ops in which mean and rstd are functions of the input.

namespace ebb {

using autograd::Backward;
using autograd::is_recomputing;
using autograd::needs_recording;
using autograd::Recorder;

namespace {

/// How an input is normalized again where the graph of the gradient is wanted.
struct Statistics {
  Tensor mean;
  Tensor rstd;
};

/// Means over `dims`, kept as dimensions of size 1, of the input itself.
Statistics measured(const Tensor& x, IntArrayRef dims, double eps) {
  Tensor mean = x.mean(dims, true);
  Tensor rstd = ((x - mean).square().mean(dims, true) + eps).rsqrt();
  return {std::move(mean), std::move(rstd)};
}

/// In float32 for 16-bit tensors.
Tensor widened(const Tensor& tensor) {
  if (!tensor.defined() || !is_reduced_floating_point(tensor.scalar_type())) return tensor;
  return tensor.to(kFloat);
}

/// The gradients of input, weight and bias as a composition of ops. `dims`: those normalized over;
/// `kept`: those that weight and bias are repeated along. `weight` broadcasts to the input.
/// `constant`: the statistics do not depend on the input.
void set_composed(Backward& b, const Tensor& input, const Tensor& weight, const Statistics& s,
                  IntArrayRef dims, IntArrayRef kept, IntArrayRef weight_sizes, bool constant) {
  const Tensor grad = widened(b.grad());
  const Tensor normalized = (input - s.mean) * s.rstd;
  const auto over = [&](const Tensor& tensor) {
    return (kept.empty() ? tensor : tensor.sum(kept)).reshape(weight_sizes);
  };
  if (b.needs(1)) b.set(1, over(grad * normalized));
  if (b.needs(2)) b.set(2, over(grad));
  if (!b.needs(0)) return;
  const Tensor g = weight.defined() ? grad * weight : grad;
  if (constant) return b.set(0, g * s.rstd);
  b.set(0, s.rstd * (g - g.mean(dims, true) - normalized * (g * normalized).mean(dims, true)));
}

std::array<bool, 3> wanted(const Backward& b) { return {b.needs(0), b.needs(1), b.needs(2)}; }

void set_all(Backward& b, std::array<TensorBase, 3> gradients) {
  for (size_t i = 0; i < 3; ++i) {
    if (b.needs(i)) b.set(i, Tensor(std::move(gradients[i])));
  }
}

/// All dimensions but the channels.
DimVector all_but_channels(int64_t ndim) {
  DimVector dims;
  for (int64_t d = 0; d < ndim; ++d) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

/// One element per channel, in the shape that broadcasts to the input.
Tensor per_channel(const Tensor& tensor, int64_t ndim) {
  if (!tensor.defined()) return tensor;
  DimVector sizes(static_cast<size_t>(ndim), 1);
  sizes[1] = -1;
  return widened(tensor).reshape(sizes);
}

void compose_batch_norm(Backward& b, const Tensor& input, const Tensor& weight,
                        const Tensor& running_mean, const Tensor& running_var, bool training,
                        double eps) {
  const Tensor x = widened(input);
  const DimVector dims = all_but_channels(x.dim());
  const Statistics statistics = training
                                    ? measured(x, dims, eps)
                                    : Statistics{per_channel(running_mean, x.dim()),
                                                 (per_channel(running_var, x.dim()) + eps).rsqrt()};
  set_composed(b, x, per_channel(weight, x.dim()), statistics, dims, dims, x.size(1), !training);
}

/// The dimensions first to last - 1.
DimVector range(int64_t first, int64_t last) {
  DimVector dims;
  for (int64_t d = first; d < last; ++d) dims.push_back(d);
  return dims;
}

void compose_layer_norm(Backward& b, const Tensor& input, const Tensor& weight, IntArrayRef shape,
                        double eps) {
  const Tensor x = widened(input);
  const int64_t first = x.dim() - static_cast<int64_t>(shape.size());
  const DimVector dims = range(first, x.dim());
  set_composed(b, x, widened(weight), measured(x, dims, eps), dims, range(0, first), shape, false);
}

/// Where the bias alone wants a gradient, which is a sum over `dims`, nothing is saved.
void record_bias(Recorder& r, Tensor& result, const DimVector& dims) {
  r.record(result, [dims](Backward& b) {
    b.set(2, dims.empty() ? b.grad() : b.grad().sum(IntArrayRef(dims)));
  });
}

}  // namespace

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                  const std::optional<Tensor>& running_var, bool training, double momentum,
                  double eps, bool /*cudnn_enabled*/) {
  const OpName name("batch_norm");
  const Tensor scale = weight.value_or(Tensor());
  const Tensor shift = bias.value_or(Tensor());
  const Tensor old_mean = running_mean.value_or(Tensor());
  const Tensor old_var = running_var.value_or(Tensor());
  // The running statistics have had this batch.
  const bool counted = training && is_recomputing();
  ops::Normalized normalized =
      ops::batch_norm(input,
                      {scale, shift, counted ? Tensor() : old_mean, counted ? Tensor() : old_var,
                       training, eps},
                      momentum);
  Tensor result(std::move(normalized.output));
  if (!needs_recording({input, scale, shift})) return result;
  Recorder r("NativeBatchNormBackward0", {input, scale, shift});
  if (!r.needs(0) && !r.needs(1)) {
    record_bias(r, result, all_but_channels(input.dim()));
    return result;
  }
  const Tensor mean = training ? Tensor(std::move(normalized.mean)) : old_mean;
  const Tensor spread = training ? Tensor(std::move(normalized.rstd)) : old_var;
  r.record(result, [input = r.save(input), weight = r.save_if(r.needs(0), scale),
                    mean = r.save(mean), spread = r.save(spread), training, eps](Backward& b) {
    const Tensor x = b.get(input);
    const Tensor w = b.get(weight);
    const Tensor m = b.get(mean);
    const Tensor s = b.get(spread);
    if (GradMode::is_enabled()) return compose_batch_norm(b, x, w, m, s, training, eps);
    const Tensor none;
    set_all(b, ops::batch_norm_backward(
                   b.grad(), x, {w, none, training ? none : m, training ? none : s, training, eps},
                   m, s, wanted(b)));
  });
  return result;
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps, bool /*cudnn_enable*/) {
  if (const autograd::AutocastCall cast(
          autograd::autocast_of("layer_norm"),
          {input, autograd::or_undefined(weight), autograd::or_undefined(bias)});
      cast) {
    return layer_norm(cast[0], normalized_shape, cast.optional(1), cast.optional(2), eps);
  }
  const OpName name("layer_norm");
  const Tensor scale = weight.value_or(Tensor());
  const Tensor shift = bias.value_or(Tensor());
  ops::Normalized normalized = ops::layer_norm(input, normalized_shape, scale, shift, eps);
  Tensor result(std::move(normalized.output));
  if (!needs_recording({input, scale, shift})) return result;
  Recorder r("NativeLayerNormBackward0", {input, scale, shift});
  if (!r.needs(0) && !r.needs(1)) {
    record_bias(r, result, range(0, input.dim() - static_cast<int64_t>(normalized_shape.size())));
    return result;
  }
  r.record(result, [input = r.save(input), weight = r.save_if(r.needs(0), scale),
                    mean = r.save(Tensor(std::move(normalized.mean))),
                    rstd = r.save(Tensor(std::move(normalized.rstd))),
                    shape = DimVector(normalized_shape), eps](Backward& b) {
    const Tensor x = b.get(input);
    const Tensor w = b.get(weight);
    if (GradMode::is_enabled()) return compose_layer_norm(b, x, w, shape, eps);
    set_all(b,
            ops::layer_norm_backward(b.grad(), x, shape, w, b.get(mean), b.get(rstd), wanted(b)));
  });
  return result;
}

}  // namespace ebb
