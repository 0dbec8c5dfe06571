#include <ebb/core/ops/pool.h>

#include <ebb/autograd/record.h>

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::needs_recording;
using autograd::Recorder;

namespace {

constexpr int64_t kAdjacent = 1;  // the dilation of average pooling

/// The parameters of a pooling, owned by a formula.
struct OwnedParameters {
  DimVector kernel_size;
  DimVector stride;
  DimVector padding;
  DimVector dilation;

  explicit OwnedParameters(const ops::PoolParameters& p)
      : kernel_size(p.kernel_size), stride(p.stride), padding(p.padding), dilation(p.dilation) {}
};

}  // namespace

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const OpName name("max_pool2d");
  const ops::PoolParameters parameters{kernel_size, stride, padding, dilation, ceil_mode};
  auto [values, chosen] = ops::max_pool2d(self, parameters);
  Tensor result(std::move(values));
  if (!needs_recording({self})) return result;
  Recorder r("MaxPool2DBackward0", {self});
  r.record(result, [offsets = r.save(Tensor(std::move(chosen))), size = DimVector(self.sizes()),
                    ceil_mode, p = OwnedParameters(parameters)](Backward& b) {
    b.set(0, max_pool2d_backward(b.grad(), b.get(offsets), size, p.kernel_size, p.stride, p.padding,
                                 p.dilation, ceil_mode));
  });
  return result;
}

// Linear in grad_output: its gradient takes the chosen elements back.
Tensor max_pool2d_backward(const Tensor& grad_output, const Tensor& offsets, IntArrayRef input_size,
                           IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, bool ceil_mode) {
  const ops::PoolParameters parameters{kernel_size, stride, padding, dilation, ceil_mode};
  return differentiable(
      "max_pool2d_backward", "MaxPool2DBackwardBackward0", {grad_output},
      [&] { return ops::max_pool2d_backward(grad_output, offsets, input_size, parameters); },
      [&](Recorder& r) {
        return
            [offsets = r.save(offsets), ceil_mode, p = OwnedParameters(parameters)](Backward& b) {
              b.set(0, max_pool2d_gather(b.grad(), b.get(offsets), p.kernel_size, p.stride,
                                         p.padding, p.dilation, ceil_mode));
            };
      });
}

Tensor max_pool2d_gather(const Tensor& self, const Tensor& offsets, IntArrayRef kernel_size,
                         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                         bool ceil_mode) {
  const ops::PoolParameters parameters{kernel_size, stride, padding, dilation, ceil_mode};
  return differentiable(
      "max_pool2d_gather", "MaxPool2DGatherBackward0", {self},
      [&] { return ops::max_pool2d_gather(self, offsets, parameters); },
      [&](Recorder& r) {
        return [offsets = r.save(offsets), size = DimVector(self.sizes()), ceil_mode,
                p = OwnedParameters(parameters)](Backward& b) {
          b.set(0, max_pool2d_backward(b.grad(), b.get(offsets), size, p.kernel_size, p.stride,
                                       p.padding, p.dilation, ceil_mode));
        };
      });
}

Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  const ops::PoolParameters parameters{kernel_size, stride, padding, kAdjacent, ceil_mode};
  return differentiable(
      "avg_pool2d", "AvgPool2DBackward0", {self},
      [&] {
        return ops::avg_pool2d(self, parameters, {count_include_pad, divisor_override});
      },
      [&](Recorder&) {
        return [size = DimVector(self.sizes()), ceil_mode, count_include_pad, divisor_override,
                p = OwnedParameters(parameters)](Backward& b) {
          b.set(0, avg_pool2d_backward(b.grad(), size, p.kernel_size, p.stride, p.padding,
                                       ceil_mode, count_include_pad, divisor_override));
        };
      });
}

// Linear: its gradient is the pooling.
Tensor avg_pool2d_backward(const Tensor& grad_output, IntArrayRef input_size,
                           IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                           bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  const ops::PoolParameters parameters{kernel_size, stride, padding, kAdjacent, ceil_mode};
  return differentiable(
      "avg_pool2d_backward", "AvgPool2DBackwardBackward0", {grad_output},
      [&] {
        return ops::avg_pool2d_backward(grad_output, input_size, parameters,
                                        {count_include_pad, divisor_override});
      },
      [&](Recorder&) {
        return [ceil_mode, count_include_pad, divisor_override,
                p = OwnedParameters(parameters)](Backward& b) {
          b.set(0, avg_pool2d(b.grad(), p.kernel_size, p.stride, p.padding, ceil_mode,
                              count_include_pad, divisor_override));
        };
      });
}

}  // namespace ebb
