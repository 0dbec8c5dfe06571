#include <ebb/core/ops/conv.h>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::Backward;
using autograd::differentiable;
using autograd::Recorder;

namespace {

/// The parameters of a convolution, owned by a formula.
struct OwnedParameters {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  int64_t groups;
};

Tensor forward(const Tensor& input, const Tensor& weight, const OwnedParameters& p) {
  return conv2d(input, weight, {}, p.stride, p.padding, p.dilation, p.groups);
}

Tensor to_input(IntArrayRef size, const Tensor& grad, const Tensor& weight,
                const OwnedParameters& p) {
  return conv2d_backward_input(size, grad, weight, p.stride, p.padding, p.dilation, p.groups);
}

Tensor to_weight(IntArrayRef size, const Tensor& grad, const Tensor& input,
                 const OwnedParameters& p) {
  return conv2d_backward_weight(size, grad, input, p.stride, p.padding, p.dilation, p.groups);
}

/// The gradient of the bias: all pixels of each channel.
Tensor to_bias(const Tensor& grad) {
  return grad.dim() == 4 ? grad.sum({0, 2, 3}) : grad.sum({1, 2});
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  if (const AutocastCall cast(autocast_of("conv2d"), {input, weight, autograd::or_undefined(bias)});
      cast) {
    return conv2d(cast[0], cast[1], cast.optional(2), stride, padding, dilation, groups);
  }
  const Tensor bias_or_none = bias.value_or(Tensor());
  return differentiable(
      "conv2d", "ConvolutionBackward0", {input, weight, bias_or_none},
      [&] {
        return ops::conv2d(input, weight, bias ? std::optional<TensorBase>(*bias) : std::nullopt,
                           {stride, padding, dilation, groups});
      },
      [&](Recorder& r) {
        return [input_size = DimVector(input.sizes()), weight_size = DimVector(weight.sizes()),
                input = r.save_if(r.needs(1), input), weight = r.save_if(r.needs(0), weight),
                p = OwnedParameters{stride, padding, dilation, groups}](Backward& b) {
          const Tensor& grad = b.grad();
          // First, as a checkpoint region may have to be run again for it.
          const Tensor x = b.needs(1) ? b.get(input) : Tensor();
          if (b.needs(0)) b.set(0, to_input(input_size, grad, b.get(weight), p));
          if (b.needs(1)) b.set(1, to_weight(weight_size, grad, x, p));
          if (b.needs(2)) b.set(2, to_bias(grad));
        };
      });
}

// Linear in grad_output and in weight.
Tensor conv2d_backward_input(IntArrayRef input_size, const Tensor& grad_output,
                             const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, int64_t groups) {
  return differentiable(
      "conv2d_backward_input", "Conv2dBackwardInputBackward0", {grad_output, weight},
      [&] {
        return ops::conv2d_backward_input(input_size, grad_output, weight,
                                          {stride, padding, dilation, groups});
      },
      [&](Recorder& r) {
        return [weight_size = DimVector(weight.sizes()),
                grad_output = r.save_if(r.needs(1), grad_output),
                weight = r.save_if(r.needs(0), weight),
                p = OwnedParameters{stride, padding, dilation, groups}](Backward& b) {
          if (b.needs(0)) b.set(0, forward(b.grad(), b.get(weight), p));
          if (b.needs(1)) b.set(1, to_weight(weight_size, b.get(grad_output), b.grad(), p));
        };
      });
}

// Linear in grad_output and in input.
Tensor conv2d_backward_weight(IntArrayRef weight_size, const Tensor& grad_output,
                              const Tensor& input, IntArrayRef stride, IntArrayRef padding,
                              IntArrayRef dilation, int64_t groups) {
  return differentiable(
      "conv2d_backward_weight", "Conv2dBackwardWeightBackward0", {grad_output, input},
      [&] {
        return ops::conv2d_backward_weight(weight_size, grad_output, input,
                                           {stride, padding, dilation, groups});
      },
      [&](Recorder& r) {
        return
            [input_size = DimVector(input.sizes()),
             grad_output = r.save_if(r.needs(1), grad_output), input = r.save_if(r.needs(0), input),
             p = OwnedParameters{stride, padding, dilation, groups}](Backward& b) {
              if (b.needs(0)) b.set(0, forward(b.get(input), b.grad(), p));
              if (b.needs(1)) b.set(1, to_input(input_size, b.get(grad_output), b.grad(), p));
            };
      });
}

}  // namespace ebb
