#include <ebb/core/ops/scan.h>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::autocast_dtype;
using autograd::autocast_of;
using autograd::Backward;
using autograd::differentiable;
using autograd::Recorder;

namespace {

/// The sums from each element to the end of its line.
Tensor reversed_cumsum(const Tensor& x, int64_t dim) {
  if (x.dim() == 0 || x.size(dim) <= 1) return x;
  return x.flip(dim).cumsum(dim).flip(dim);
}

/// The gradient of cumprod for lines with zeros. Element k is a factor of the products from k on:
/// its gradient is the sum of theirs times these products without it.
Tensor cumprod_gradient_with_zeros(const Tensor& grad, const Tensor& x, const Tensor& result,
                                   int64_t dim) {
  const int64_t n = x.size(dim);
  DimVector one_sizes(x.sizes());
  one_sizes[static_cast<size_t>(dim)] = 1;
  const Tensor one = x.new_ones(one_sizes);
  std::vector<Tensor> gradients;
  gradients.reserve(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const Tensor before = k == 0 ? one : result.narrow(dim, k - 1, 1);
    const Tensor after = cat({one, x.narrow(dim, k + 1, n - k - 1)}, dim).cumprod(dim);
    gradients.push_back((grad.narrow(dim, k, n - k) * before * after).sum(dim, true));
  }
  return cat(gradients, dim);
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("cumsum"), self, dtype);
  return differentiable(
      "cumsum", "CumsumBackward0", {self}, [&] { return ops::cumsum(self, dim, dtype); },
      [&](Recorder&) {
        return [dim = wrap_dim(dim, self.dim())](Backward& b) {
          b.set(0, reversed_cumsum(b.grad(), dim));
        };
      });
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("cumprod"), self, dtype);
  return differentiable(
      "cumprod", "CumprodBackward0", {self}, [&] { return ops::cumprod(self, dim, dtype); },
      [&](Recorder& r) {
        r.keep_result();
        return [self = r.save(self), dim = wrap_dim(dim, self.dim())](Backward& b) {
          const Tensor x = b.get(self);
          if (x.dim() == 0 || x.size(dim) <= 1) return b.set(0, b.grad());
          if (x.eq(0).any().item<bool>()) {
            return b.set(0, cumprod_gradient_with_zeros(b.grad(), x, b.result(), dim));
          }
          b.set(0, reversed_cumsum(b.grad() * b.result(), dim) / x);
        };
      });
}

}  // namespace ebb
