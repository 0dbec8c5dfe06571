#include <ebb/core/ops/softmax.h>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::autocast_dtype;
using autograd::autocast_of;
using autograd::Backward;
using autograd::differentiable;
using autograd::Recorder;

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("softmax"), self, dtype);
  return differentiable(
      "softmax", "SoftmaxBackward0", {self}, [&] { return ops::softmax(self, dim, dtype); },
      [&](Recorder& r) {
        r.keep_result();
        return [dim](Backward& b) { b.set(0, softmax_backward(b.grad(), b.result(), dim)); };
      });
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("log_softmax"), self, dtype);
  return differentiable(
      "log_softmax", "LogSoftmaxBackward0", {self},
      [&] { return ops::log_softmax(self, dim, dtype); },
      [&](Recorder& r) {
        r.keep_result();
        return [dim](Backward& b) { b.set(0, log_softmax_backward(b.grad(), b.result(), dim)); };
      });
}

// y * (g - sum(g * y)) of g and y.
Tensor softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  return differentiable(
      "softmax_backward", "SoftmaxBackwardBackward0", {grad_output, result},
      [&] { return ops::softmax_backward(grad_output, result, dim); },
      [&](Recorder& r) {
        return [grad_output = r.save_if(r.needs(1), grad_output), result = r.save(result),
                dim](Backward& b) {
          const Tensor y = b.get(result);
          if (b.needs(0)) b.set(0, softmax_backward(b.grad(), y, dim));
          if (!b.needs(1)) return;
          const Tensor g = b.get(grad_output);
          b.set(1, b.grad() * (g - (g * y).sum(dim, true)) - g * (b.grad() * y).sum(dim, true));
        };
      });
}

// g - exp(y) * sum(g) of g and y.
Tensor log_softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  return differentiable(
      "log_softmax_backward", "LogSoftmaxBackwardBackward0", {grad_output, result},
      [&] { return ops::log_softmax_backward(grad_output, result, dim); },
      [&](Recorder& r) {
        return [grad_output = r.save_if(r.needs(1), grad_output), result = r.save(result),
                dim](Backward& b) {
          const Tensor weighted = b.grad() * b.get(result).exp();
          if (b.needs(0)) b.set(0, b.grad() - weighted.sum(dim, true));
          if (b.needs(1)) b.set(1, -(weighted * b.get(grad_output).sum(dim, true)));
        };
      });
}

}  // namespace ebb
