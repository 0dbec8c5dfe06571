#include <ebb/core/ops/matmul.h>

#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

// The gradients read transposed views; nothing is copied to transpose it.

namespace ebb {

using autograd::autocast_of;
using autograd::AutocastCall;
using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::or_undefined;
using autograd::Recorder;

namespace {

/// The gradients of a product of two matrices, or of two batches of them that do not broadcast.
auto product_formula(Recorder& r, const Tensor& a, const Tensor& b) {
  return [a = r.save_if(r.needs(1), a), b = r.save_if(r.needs(0), b)](Backward& backward) {
    const Tensor& grad = backward.grad();
    if (backward.needs(0)) backward.set(0, matmul(grad, backward.get(b).transpose(-2, -1)));
    if (backward.needs(1)) backward.set(1, matmul(backward.get(a).transpose(-2, -1), grad));
  };
}

/// A tensor [..., n] as [rows, n].
Tensor rows_of(const Tensor& tensor) { return tensor.dim() == 2 ? tensor : tensor.flatten(0, -2); }

/// A vector as a matrix of one row, or of one column.
Tensor matrix_of(const Tensor& tensor, bool is_row) {
  return tensor.dim() > 1 ? tensor : tensor.unsqueeze(is_row ? 0 : 1);
}

/// The gradient of `other` in matmul(self, other): one product of all rows where the batch of
/// `self` met a single matrix.
Tensor gradient_of_right(const Tensor& grad, const Tensor& self, int64_t other_dim) {
  if (other_dim <= 2 && self.dim() > 2) return mm(rows_of(self).t(), rows_of(grad));
  return matmul(self.transpose(-2, -1), grad);
}

/// A gradient with the leading batch dimensions that `dim` lacks summed away, and the dimension
/// that made a vector a matrix dropped.
Tensor as_vector(Tensor grad, int64_t dropped) {
  grad = grad.squeeze(dropped);
  return grad.dim() > 1 ? grad.flatten(0, -2).sum(0) : grad;
}

// What a product keeps of its left side, an activation as a rule, comes first: a checkpoint region
// that has to be run again for it then does so before other memory is asked for.

auto matmul_formula(Recorder& r, const Tensor& self, const Tensor& other) {
  return [self_dim = self.dim(), other_dim = other.dim(), self = r.save_if(r.needs(1), self),
          other = r.save_if(r.needs(0), other)](Backward& b) {
    const Tensor left = b.needs(1) ? b.get(self) : Tensor();
    Tensor grad = b.grad();
    if (self_dim == 1) grad = grad.unsqueeze(other_dim == 1 ? -1 : -2);
    if (other_dim == 1) grad = grad.unsqueeze(-1);
    if (b.needs(0)) {
      Tensor result = matmul(grad, matrix_of(b.get(other), false).transpose(-2, -1));
      b.set(0, self_dim == 1 ? as_vector(std::move(result), -2) : std::move(result));
    }
    if (!b.needs(1)) return;
    Tensor result = gradient_of_right(grad, matrix_of(left, true), other_dim);
    b.set(1, other_dim == 1 ? as_vector(std::move(result), -1) : std::move(result));
  };
}

Tensor scaled(Tensor tensor, const Scalar& factor) {
  return factor.to<double>() == 1 ? std::move(tensor) : tensor * factor;
}

auto addmm_formula(Recorder& r, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                   const Scalar& alpha) {
  return [mat1 = r.save_if(r.needs(2), mat1), mat2 = r.save_if(r.needs(1), mat2), beta,
          alpha](Backward& b) {
    const Tensor& grad = b.grad();
    const Tensor left = b.needs(2) ? b.get(mat1) : Tensor();
    if (b.needs(0)) b.set(0, scaled(grad, beta));
    if (b.needs(1)) b.set(1, scaled(mm(grad, b.get(mat2).t()), alpha));
    if (b.needs(2)) b.set(2, scaled(mm(left.t(), grad), alpha));
  };
}

auto linear_formula(Recorder& r, const Tensor& input, const Tensor& weight) {
  return [weight_dim = weight.dim(), input = r.save_if(r.needs(1), input),
          weight = r.save_if(r.needs(0), weight)](Backward& b) {
    const Tensor grad = weight_dim == 1 ? b.grad().unsqueeze(-1) : b.grad();
    const Tensor x = b.needs(1) ? b.get(input) : Tensor();
    if (b.needs(0)) b.set(0, matmul(grad, matrix_of(b.get(weight), true)));
    if (b.needs(1)) {
      const Tensor rows = rows_of(matrix_of(x, true));
      const Tensor result = mm(rows_of(matrix_of(grad, true)).t(), rows);
      b.set(1, weight_dim == 1 ? result.squeeze(0) : result);
    }
    if (b.needs(2)) {
      b.set(2, grad.dim() == 1 ? b.grad() : rows_of(grad).sum(0));
    }
  };
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  if (const AutocastCall cast(autocast_of("mm"), {self, mat2}); cast) return mm(cast[0], cast[1]);
  return differentiable(
      "mm", "MmBackward0", {self, mat2}, [&] { return ops::mm(self, mat2); },
      [&](Recorder& r) { return product_formula(r, self, mat2); });
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  if (const AutocastCall cast(autocast_of("bmm"), {self, mat2}); cast) return bmm(cast[0], cast[1]);
  return differentiable(
      "bmm", "BmmBackward0", {self, mat2}, [&] { return ops::bmm(self, mat2); },
      [&](Recorder& r) { return product_formula(r, self, mat2); });
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  if (const AutocastCall cast(autocast_of("mv"), {self, vec}); cast) return mv(cast[0], cast[1]);
  return differentiable(
      "mv", "MvBackward0", {self, vec}, [&] { return ops::mv(self, vec); },
      [&](Recorder& r) { return matmul_formula(r, self, vec); });
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  if (const AutocastCall cast(autocast_of("dot"), {self, tensor}); cast) {
    return dot(cast[0], cast[1]);
  }
  return differentiable(
      "dot", "DotBackward0", {self, tensor}, [&] { return ops::dot(self, tensor); },
      [&](Recorder& r) {
        return [self = r.save_if(r.needs(1), self),
                tensor = r.save_if(r.needs(0), tensor)](Backward& b) {
          if (b.needs(0)) b.set(0, b.grad() * b.get(tensor));
          if (b.needs(1)) b.set(1, b.grad() * b.get(self));
        };
      });
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  if (const AutocastCall cast(autocast_of("matmul"), {self, other}); cast) {
    return matmul(cast[0], cast[1]);
  }
  return differentiable(
      "matmul", "MatmulBackward0", {self, other}, [&] { return ops::matmul(self, other); },
      [&](Recorder& r) { return matmul_formula(r, self, other); });
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  if (const AutocastCall cast(autocast_of("addmm"), {self, mat1, mat2}); cast) {
    return addmm(cast[0], cast[1], cast[2], beta, alpha);
  }
  return differentiable(
      "addmm", "AddmmBackward0", {self, mat1, mat2},
      [&] { return ops::addmm(self, mat1, mat2, beta, alpha); },
      [&](Recorder& r) { return addmm_formula(r, mat1, mat2, beta, alpha); });
}

const Tensor& addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) {
  return differentiable_(
      "addmm_", "AddmmBackward0", self, {self, mat1, mat2},
      [&] { ops::addmm_(self, mat1, mat2, beta, alpha); },
      [&](Recorder& r) { return addmm_formula(r, mat1, mat2, beta, alpha); });
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (const AutocastCall cast(autocast_of("linear"), {input, weight, or_undefined(bias)}); cast) {
    return linear(cast[0], cast[1], cast.optional(2));
  }
  const Tensor bias_or_none = bias.value_or(Tensor());
  return differentiable(
      "linear", "LinearBackward0", {input, weight, bias_or_none},
      [&] {
        return ops::linear(input, weight, bias ? std::optional<TensorBase>(*bias) : std::nullopt);
      },
      [&](Recorder& r) { return linear_formula(r, input, weight); });
}

}  // namespace ebb
