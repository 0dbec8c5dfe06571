#include <ebb/core/ops/sort.h>

#include <ebb/autograd/ops/reduced.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::Backward;
using autograd::Recorder;

namespace {

template <typename Forward>
std::tuple<Tensor, Tensor> picked(const char* op, const char* node, const Tensor& self, int64_t dim,
                                  Forward&& forward) {
  const OpName name(op);
  auto [value, index] = forward();
  Tensor values(std::move(value));
  Tensor indices(std::move(index));
  if (autograd::needs_recording({self})) {
    Recorder r(node, {self});
    r.record({values, indices}, [indices = r.save(indices), sizes = DimVector(self.sizes()),
                                 dim = wrap_dim(dim, self.dim())](Backward& b) {
      b.set(0, autograd::scatter_to(b.grad(0), dim, b.get(indices), sizes));
    });
  }
  return {std::move(values), std::move(indices)};
}

}  // namespace

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return picked("sort", "SortBackward0", self, dim,
                [&] { return ops::sort(self, dim, descending); });
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return autograd::not_differentiable("argsort",
                                      [&] { return ops::argsort(self, dim, descending); });
}

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest,
                                bool /*sorted*/) {
  return picked("topk", "TopkBackward0", self, dim,
                [&] { return ops::topk(self, k, dim, largest); });
}

}  // namespace ebb
