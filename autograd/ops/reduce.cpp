#include <ebb/core/ops/reduce.h>

#include <cmath>
#include <limits>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/ops/reduced.h>
#include <ebb/autograd/record.h>

namespace ebb {

using autograd::autocast_dtype;
using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::AutocastInput;
using autograd::Backward;
using autograd::differentiable;
using autograd::not_differentiable;
using autograd::Recorder;
using autograd::Reduced;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor sum_of(const char* node, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("sum"), self, dtype);
  return differentiable(
      "sum", node, {self}, [&] { return ops::sum(self, dim, keepdim, dtype); },
      [&](Recorder&) {
        return [reduced = Reduced(self, dim, keepdim)](Backward& b) {
          b.set(0, reduced.expand(b.grad()));
        };
      });
}

Tensor mean_of(const char* node, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  return differentiable(
      "mean", node, {self}, [&] { return ops::mean(self, dim, keepdim, dtype); },
      [&](Recorder&) {
        return [reduced = Reduced(self, dim, keepdim)](Backward& b) {
          b.set(0, reduced.expand(b.grad() / static_cast<double>(reduced.count())));
        };
      });
}

/// The products of all other elements along `dim`, without a division: those before times those
/// after.
Tensor products_of_others(const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim);
  DimVector first(self.sizes());
  first[static_cast<size_t>(dim)] = 1;
  const Tensor one = self.new_ones(first);
  const Tensor before = cat({one, self.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after = cat({one, self.narrow(dim, 1, n - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before * after;
}

Tensor prod_of(const char* node, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  dtype = autocast_dtype(autocast_of("prod"), self, dtype);
  return differentiable(
      "prod", node, {self}, [&] { return ops::prod(self, dim, keepdim, dtype); },
      [&](Recorder& r) {
        r.keep_result();
        const auto dims = dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef();
        return [self = r.save(self), reduced = Reduced(self, dims, keepdim), dim](Backward& b) {
          const Tensor x = b.get(self);
          const Tensor grad = reduced.restore(b.grad());
          if (x.dim() == 0) return b.set(0, b.grad().expand(x.sizes()));
          if (!x.eq(0).any().item<bool>()) {
            return b.set(0, grad * (reduced.restore(b.result()) / x));
          }
          if (dim) return b.set(0, grad * products_of_others(x, wrap_dim(*dim, x.dim())));
          b.set(0, grad * products_of_others(x.reshape(-1), 0).view(x.sizes()));
        };
      });
}

/// The gradient of a largest or least element, shared by all that are equal to it.
Tensor share_among_equal(const Reduced& reduced, const Tensor& self, const Tensor& result,
                         const Tensor& grad) {
  const Tensor extreme = reduced.restore(result);
  Tensor equal = self.eq(extreme);
  // To look for NaN on a device is to wait for it; there they are always taken into account.
  if (reduced.mask != 0 && (!self.is_cpu() || extreme.isnan().any().item<bool>())) {
    equal = equal.logical_or(self.isnan().logical_and(extreme.isnan()));
  }
  const Tensor count = self.dim() == 0 ? equal.sum() : equal.sum(IntArrayRef(reduced.dims()), true);
  return reduced.restore(grad) / count * equal;
}

template <typename Forward>
Tensor extreme_of(const char* op, const char* node, const Tensor& self, OptionalIntArrayRef dim,
                  bool keepdim, Forward&& forward) {
  return differentiable(op, node, {self}, forward, [&](Recorder& r) {
    r.keep_result();
    return [self = r.save(self), reduced = Reduced(self, dim, keepdim)](Backward& b) {
      b.set(0, share_among_equal(reduced, b.get(self), b.result(), b.grad()));
    };
  });
}

template <typename Forward>
std::tuple<Tensor, Tensor> extreme_with_indices(const char* op, const char* node,
                                                const Tensor& self, int64_t dim, bool keepdim,
                                                Forward&& forward) {
  const OpName name(op);
  auto [value, index] = forward();
  Tensor values(std::move(value));
  Tensor indices(std::move(index));
  if (autograd::needs_recording({self})) {
    Recorder r(node, {self});
    r.record({values, indices}, [indices = r.save(indices), sizes = DimVector(self.sizes()),
                                 dim = wrap_dim(dim, self.dim()), keepdim](Backward& b) {
      const bool squeezed = !keepdim && !sizes.empty();
      const Tensor at = b.get(indices);
      b.set(0, autograd::scatter_to(squeezed ? b.grad(0).unsqueeze(dim) : b.grad(0), dim,
                                    squeezed ? at.unsqueeze(dim) : at, sizes));
    });
  }
  return {std::move(values), std::move(indices)};
}

Tensor var_gradient(const Reduced& reduced, const Tensor& self, double correction,
                    const Tensor& grad) {
  const double divisor = std::max(0.0, static_cast<double>(reduced.count()) - correction);
  const Tensor mean = self.dim() == 0 ? self.mean() : self.mean(IntArrayRef(reduced.dims()), true);
  return reduced.restore(grad) * (2 / divisor) * (self - mean);
}

Tensor var_of(const char* node, const Tensor& self, OptionalIntArrayRef dim, double correction,
              bool keepdim) {
  return differentiable(
      "var", node, {self}, [&] { return ops::var(self, dim, correction, keepdim); },
      [&](Recorder& r) {
        return
            [self = r.save(self), reduced = Reduced(self, dim, keepdim), correction](Backward& b) {
              b.set(0, var_gradient(reduced, b.get(self), correction, b.grad()));
            };
      });
}

Tensor std_of(const char* node, const Tensor& self, OptionalIntArrayRef dim, double correction,
              bool keepdim) {
  return differentiable(
      "std", node, {self}, [&] { return ops::std(self, dim, correction, keepdim); },
      [&](Recorder& r) {
        r.keep_result();
        return
            [self = r.save(self), reduced = Reduced(self, dim, keepdim), correction](Backward& b) {
              const Tensor result = b.result();
              const Tensor grad_var = (b.grad() / (result * 2)).masked_fill(result.eq(0), 0);
              b.set(0, var_gradient(reduced, b.get(self), correction, grad_var));
            };
      });
}

/// The gradient of (sum |x|^p)^(1/p); zero where the norm is zero.
Tensor norm_gradient(const Reduced& reduced, const Tensor& self, double p, const Tensor& result,
                     const Tensor& grad_result) {
  const Tensor grad = reduced.restore(grad_result);
  const Tensor norm = reduced.restore(result);
  if (p == 0) return self.new_zeros(self.sizes());
  if (p == 1) return self.sign() * grad;
  if (std::isinf(p)) {
    const Tensor equal = self.abs().eq(norm);
    const Tensor count =
        self.dim() == 0 ? equal.sum() : equal.sum(IntArrayRef(reduced.dims()), true);
    return self.sign() * equal * (grad / count);
  }
  const Tensor is_zero = norm.eq(0);
  if (p == 2) return self * (grad / norm).masked_fill(is_zero, 0);
  const Tensor scale = (grad * norm.pow(1 - p)).masked_fill(is_zero, 0);
  if (p > 2) return self * self.abs().pow(p - 2) * scale;
  Tensor power = self.abs().pow(p - 1);
  if (p < 1) power = power.masked_fill(self.eq(0), 0);
  return self.sign() * power * scale;
}

Tensor norm_of(const char* node, const Tensor& self, double p, IntArrayRef dim, bool keepdim) {
  return differentiable(
      "norm", node, {self}, [&] { return ops::norm(self, p, dim, keepdim); },
      [&](Recorder& r) {
        r.keep_result();
        return [self = r.save(self), reduced = Reduced(self, dim, keepdim), p](Backward& b) {
          b.set(0, norm_gradient(reduced, b.get(self), p, b.result(), b.grad()));
        };
      });
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return sum_of("SumBackward0", self, {}, false, dtype);
}
Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
           std::optional<ScalarType> dtype) {
  return sum_of("SumBackward1", self, dim, keepdim, dtype);
}

Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  return mean_of("MeanBackward0", self, {}, false, dtype);
}
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  return mean_of("MeanBackward1", self, dim, keepdim, dtype);
}

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  return prod_of("ProdBackward0", self, {}, false, dtype);
}
Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  return prod_of("ProdBackward1", self, dim, keepdim, dtype);
}

Tensor max(const Tensor& self) {
  return extreme_of("max", "MaxBackward1", self, {}, false, [&] { return ops::amax(self); });
}
Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_with_indices("max", "MaxBackward0", self, dim, keepdim,
                              [&] { return ops::max(self, dim, keepdim); });
}

Tensor min(const Tensor& self) {
  return extreme_of("min", "MinBackward1", self, {}, false, [&] { return ops::amin(self); });
}
Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_with_indices("min", "MinBackward0", self, dim, keepdim,
                              [&] { return ops::min(self, dim, keepdim); });
}

Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme_of("amax", "AmaxBackward0", self, dim, keepdim,
                    [&] { return ops::amax(self, dim, keepdim); });
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return extreme_of("amin", "AminBackward0", self, dim, keepdim,
                    [&] { return ops::amin(self, dim, keepdim); });
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return not_differentiable("argmax", [&] { return ops::argmax(self, dim, keepdim); });
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return not_differentiable("argmin", [&] { return ops::argmin(self, dim, keepdim); });
}

Tensor all(const Tensor& self) {
  return not_differentiable("all", [&] { return ops::all(self); });
}
Tensor all(const Tensor& self, int64_t dim, bool keepdim) {
  return not_differentiable("all", [&] { return ops::all(self, dim, keepdim); });
}
Tensor any(const Tensor& self) {
  return not_differentiable("any", [&] { return ops::any(self); });
}
Tensor any(const Tensor& self, int64_t dim, bool keepdim) {
  return not_differentiable("any", [&] { return ops::any(self, dim, keepdim); });
}

Tensor var(const Tensor& self, bool unbiased) {
  return var_of("VarBackward0", self, {}, unbiased ? 1 : 0, false);
}
Tensor var(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return var_of("VarBackward0", self, dim, unbiased ? 1 : 0, keepdim);
}
Tensor std(const Tensor& self, bool unbiased) {
  return std_of("StdBackward0", self, {}, unbiased ? 1 : 0, false);
}
Tensor std(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return std_of("StdBackward0", self, dim, unbiased ? 1 : 0, keepdim);
}

Tensor norm(const Tensor& self, const Scalar& p) {
  return norm_of("NormBackward0", AutocastInput(autocast_of("norm"), self), p.toDouble(), {},
                 false);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  return norm_of("NormBackward1", AutocastInput(autocast_of("norm"), self), p ? p->toDouble() : 2,
                 dim, keepdim);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  if (const AutocastCall cast(autocast_of("logsumexp"), {self}); cast) {
    return logsumexp(cast[0], dim, keepdim);
  }
  return differentiable(
      "logsumexp", "LogsumexpBackward0", {self}, [&] { return ops::logsumexp(self, dim, keepdim); },
      [&](Recorder& r) {
        r.keep_result();
        return [self = r.save(self), reduced = Reduced(self, dim, keepdim)](Backward& b) {
          // A row of nothing but -inf would give inf - inf; its gradient is zero.
          const Tensor result = reduced.restore(b.result());
          const Tensor shift = result.masked_fill(result.eq(-kInfinity), 0);
          b.set(0, reduced.restore(b.grad()) * (b.get(self) - shift).exp());
        };
      });
}

}  // namespace ebb
