#include <ebb/core/ops/index.h>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/reduced.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::not_differentiable;
using autograd::Recorder;

namespace {

/// The gradient of the source of a scatter, which may be larger than the index: zero beyond it.
Tensor source_gradient(const Tensor& grad, int64_t dim, const Tensor& index, IntArrayRef sizes) {
  Tensor gathered = grad.gather(dim, index);
  if (index.sizes() == sizes) return gathered;
  const Tensor result = grad.new_zeros(sizes);
  Tensor used = result;
  for (int64_t d = 0; d < index.dim(); ++d) used = used.narrow(d, 0, index.size(d));
  used.copy_(gathered);
  return result;
}

auto scatter_formula(Recorder& r, int64_t dim, const Tensor& index, const Tensor& src) {
  return [index = r.save(index), sizes = DimVector(src.sizes()), dim](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad().scatter(dim, b.get(index), 0));
    if (b.needs(1)) b.set(1, source_gradient(b.grad(), dim, b.get(index), sizes));
  };
}

auto scatter_value_formula(Recorder& r, int64_t dim, const Tensor& index) {
  return [index = r.save(index), dim](Backward& b) {
    b.set(0, b.grad().scatter(dim, b.get(index), 0));
  };
}

auto scatter_add_formula(Recorder& r, int64_t dim, const Tensor& index, const Tensor& src) {
  return [index = r.save_if(r.needs(1), index), sizes = DimVector(src.sizes()), dim](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad());
    if (b.needs(1)) b.set(1, source_gradient(b.grad(), dim, b.get(index), sizes));
  };
}

auto index_add_formula(Recorder& r, int64_t dim, const Tensor& index, const Scalar& alpha) {
  return [index = r.save_if(r.needs(1), index), dim, alpha](Backward& b) {
    if (b.needs(0)) b.set(0, b.grad());
    if (!b.needs(1)) return;
    const Tensor grad = b.grad().index_select(dim, b.get(index));
    b.set(1, alpha.equal(1) ? grad : grad * alpha);
  };
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return differentiable(
      "index_select", "IndexSelectBackward0", {self},
      [&] { return ops::index_select(self, dim, index); },
      [&](Recorder& r) {
        return [index = r.save(index), sizes = DimVector(self.sizes()), dim](Backward& b) {
          const Tensor result = b.grad().new_zeros(sizes);
          result.index_add_(dim, b.get(index), b.grad());
          b.set(0, result);
        };
      });
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  return differentiable(
      "index_add", "IndexAddBackward0", {self, source},
      [&] { return ops::index_add(self, dim, index, source, alpha); },
      [&](Recorder& r) { return index_add_formula(r, dim, index, alpha); });
}

const Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                         const Scalar& alpha) {
  return differentiable_(
      "index_add_", "IndexAddBackward0", self, {self, source},
      [&] { ops::index_add_(self, dim, index, source, alpha); },
      [&](Recorder& r) { return index_add_formula(r, dim, index, alpha); });
}

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
  return differentiable(
      "gather", "GatherBackward0", {self}, [&] { return ops::gather(self, dim, index); },
      [&](Recorder& r) {
        return [index = r.save(index), sizes = DimVector(self.sizes()), dim](Backward& b) {
          const Tensor result = b.grad().new_zeros(sizes);
          result.scatter_add_(dim, b.get(index), b.grad());
          b.set(0, result);
        };
      });
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return differentiable(
      "scatter", "ScatterBackward0", {self, src},
      [&] { return ops::scatter(self, dim, index, src); },
      [&](Recorder& r) { return scatter_formula(r, dim, index, src); });
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return differentiable(
      "scatter", "ScatterBackward1", {self}, [&] { return ops::scatter(self, dim, index, value); },
      [&](Recorder& r) { return scatter_value_formula(r, dim, index); });
}

const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return differentiable_(
      "scatter_", "ScatterBackward0", self, {self, src},
      [&] { ops::scatter_(self, dim, index, src); },
      [&](Recorder& r) { return scatter_formula(r, dim, index, src); });
}

const Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return differentiable_(
      "scatter_", "ScatterBackward1", self, {self}, [&] { ops::scatter_(self, dim, index, value); },
      [&](Recorder& r) { return scatter_value_formula(r, dim, index); });
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  if (const autograd::AutocastCall cast(autograd::autocast_of("scatter_add"), {self, src}); cast) {
    return scatter_add(cast[0], dim, index, cast[1]);
  }
  return differentiable(
      "scatter_add", "ScatterAddBackward0", {self, src},
      [&] { return ops::scatter_add(self, dim, index, src); },
      [&](Recorder& r) { return scatter_add_formula(r, dim, index, src); });
}

const Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& src) {
  return differentiable_(
      "scatter_add_", "ScatterAddBackward0", self, {self, src},
      [&] { ops::scatter_add_(self, dim, index, src); },
      [&](Recorder& r) { return scatter_add_formula(r, dim, index, src); });
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  return differentiable(
      "masked_select", "MaskedSelectBackward0", {self},
      [&] { return ops::masked_select(self, mask); },
      [&](Recorder& r) {
        return [mask = r.save(mask),
                sizes = broadcast_shapes(self.sizes(), mask.sizes())](Backward& b) {
          const Tensor places = b.get(mask).expand(sizes).reshape(-1).nonzero().reshape(-1);
          Tensor result = b.grad().new_zeros(checked_numel(sizes));
          result.index_add_(0, places, b.grad());
          b.set(0, result.view(sizes));
        };
      });
}

Tensor nonzero(const Tensor& self) {
  return not_differentiable("nonzero", [&] { return ops::nonzero(self); });
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  return not_differentiable("one_hot", [&] { return ops::one_hot(self, num_classes); });
}

}  // namespace ebb
