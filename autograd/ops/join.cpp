#include <ebb/core/ops/join.h>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/record.h>

// Ops that move data into a new tensor; their gradients move it back.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::Recorder;

namespace {

std::vector<const TensorBase*> pointers(TensorList tensors) {
  std::vector<const TensorBase*> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(&tensor);
  return result;
}

/// An op whose gradient is `gradient(grad)`.
template <typename Forward, typename Gradient>
Tensor moved(const char* node_name, const Tensor& self, Forward&& forward, Gradient gradient) {
  return differentiable(thread_state().op_name, node_name, {self}, forward, [&](Recorder&) {
    return [gradient](Backward& b) { b.set(0, gradient(b.grad())); };
  });
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  const OpName name("cat");
  Tensor result(ops::cat(pointers(tensors), dim));
  if (!autograd::needs_recording(tensors)) return result;
  const int64_t at = wrap_dim(dim, result.dim());
  DimVector lengths;
  for (const Tensor& tensor : tensors) {
    const bool is_skipped = tensor.dim() == 1 && tensor.numel() == 0;
    lengths.push_back(is_skipped ? -1 : tensor.size(at));
  }
  Recorder recorder("CatBackward0", tensors);
  recorder.record(result, [lengths, at](Backward& b) {
    int64_t start = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) continue;
      if (b.needs(i)) b.set(i, b.grad().narrow(at, start, lengths[i]));
      start += lengths[i];
    }
  });
  return result;
}

Tensor stack(TensorList tensors, int64_t dim) {
  const OpName name("stack");
  Tensor result(ops::stack(pointers(tensors), dim));
  if (!autograd::needs_recording(tensors)) return result;
  Recorder recorder("StackBackward0", tensors);
  recorder.record(result, [count = tensors.size(), dim](Backward& b) {
    for (size_t i = 0; i < count; ++i) {
      if (b.needs(i)) b.set(i, b.grad().select(dim, static_cast<int64_t>(i)));
    }
  });
  return result;
}

namespace {

/// Each repetition is a slice of the gradient; their sum is that of self.
Tensor sum_repeats(const Tensor& grad, IntArrayRef sizes, IntArrayRef repeats) {
  const size_t added = repeats.size() - sizes.size();
  DimVector blocks, repeated;
  for (size_t i = 0; i < repeats.size(); ++i) {
    repeated.push_back(static_cast<int64_t>(blocks.size()));
    blocks.push_back(repeats[i]);
    if (i >= added) blocks.push_back(sizes[i - added]);
  }
  return repeats.empty() ? grad : grad.reshape(blocks).sum(IntArrayRef(repeated));
}

}  // namespace

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const OpName name("repeat");
  return moved(
      "RepeatBackward0", self, [&] { return ops::repeat(self, repeats); },
      [sizes = DimVector(self.sizes()), repeats = DimVector(repeats)](const Tensor& grad) {
        return sum_repeats(grad, sizes, repeats);
      });
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  const OpName name("roll");
  return moved(
      "RollBackward0", self, [&] { return ops::roll(self, shifts, dims); },
      [shifts = DimVector(shifts), dims = DimVector(dims)](const Tensor& grad) {
        DimVector back;
        for (const int64_t shift : shifts) back.push_back(-shift);
        return grad.roll(back, dims);
      });
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  const OpName name("flip");
  return moved(
      "FlipBackward0", self, [&] { return ops::flip(self, dims); },
      [dims = DimVector(dims)](const Tensor& grad) { return grad.flip(dims); });
}

// --- triangles ---

Tensor tril(const Tensor& self, int64_t diagonal) {
  const OpName name("tril");
  return moved(
      "TrilBackward0", self, [&] { return ops::triangle(self, diagonal, ops::Triangle::lower); },
      [diagonal](const Tensor& grad) { return grad.tril(diagonal); });
}
Tensor triu(const Tensor& self, int64_t diagonal) {
  const OpName name("triu");
  return moved(
      "TriuBackward0", self, [&] { return ops::triangle(self, diagonal, ops::Triangle::upper); },
      [diagonal](const Tensor& grad) { return grad.triu(diagonal); });
}

const Tensor& tril_(const Tensor& self, int64_t diagonal) {
  return differentiable_(
      "tril_", "TrilBackward0", self, {self},
      [&] { ops::triangle_(self, diagonal, ops::Triangle::lower); },
      [&](Recorder&) { return [diagonal](Backward& b) { b.set(0, b.grad().tril(diagonal)); }; });
}
const Tensor& triu_(const Tensor& self, int64_t diagonal) {
  return differentiable_(
      "triu_", "TriuBackward0", self, {self},
      [&] { ops::triangle_(self, diagonal, ops::Triangle::upper); },
      [&](Recorder&) { return [diagonal](Backward& b) { b.set(0, b.grad().triu(diagonal)); }; });
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  const OpName name("diag");
  return moved(
      "DiagBackward0", self, [&] { return ops::diag(self, diagonal); },
      [sizes = DimVector(self.sizes()), diagonal](const Tensor& grad) {
        if (sizes.size() == 1) return grad.diagonal(diagonal);
        const Tensor full = zeros(sizes, grad.options());
        full.diagonal(diagonal).copy_(grad);
        return full;
      });
}

}  // namespace ebb
