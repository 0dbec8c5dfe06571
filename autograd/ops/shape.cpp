#include <algorithm>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/record.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/shape.h>

// Views, and the ops that give a view where they can. A view is recorded like any other op; that it
// shares memory is noted beside (differentiable_view).

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_view;
using autograd::Recorder;

namespace {

/// A view op whose gradient is `gradient(grad)`.
template <typename Forward, typename Gradient>
Tensor view_op(const char* node_name, const Tensor& self, Forward&& forward, Gradient gradient) {
  return differentiable_view(node_name, self, forward(), [&](Recorder&) {
    return [gradient](Backward& b) { b.set(0, gradient(b.grad())); };
  });
}

/// The gradient is that of the view with the sizes that self had.
auto restore_sizes(const Tensor& self) {
  return [sizes = DimVector(self.sizes())](const Tensor& grad) { return grad.reshape(sizes); };
}

/// Zeros of `sizes` but for the part that take(zeros) shows, which is `grad`: the gradient of a
/// view of a part.
template <typename Take>
Tensor embed(const Tensor& grad, IntArrayRef sizes, Take take) {
  Tensor full = zeros(sizes, grad.options());
  take(full).copy_(grad);
  return full;
}

Tensor reshaped_copy(const Tensor& self, IntArrayRef sizes) {
  return differentiable(
      "reshape", "UnsafeViewBackward0", {self}, [&] { return ops::reshape(self, sizes); },
      [&](Recorder&) {
        return
            [sizes = DimVector(self.sizes())](Backward& b) { b.set(0, b.grad().reshape(sizes)); };
      });
}

}  // namespace

// --- sizes ---

Tensor view(const Tensor& self, IntArrayRef size) {
  const OpName name("view");
  return view_op(
      "ViewBackward0", self, [&] { return ops::view(self, size); }, restore_sizes(self));
}

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const OpName name("reshape");
  auto result = ops::try_view(self, shape);
  if (!result) return reshaped_copy(self, shape);
  return view_op(
      "ViewBackward0", self, [&] { return std::move(*result); }, restore_sizes(self));
}

Tensor view_as(const Tensor& self, const Tensor& other) {
  const OpName name("view_as");
  return self.view(other.sizes());
}
Tensor reshape_as(const Tensor& self, const Tensor& other) {
  const OpName name("reshape_as");
  return self.reshape(other.sizes());
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const OpName name("flatten");
  const DimVector sizes = ops::flattened_sizes(self.sizes(), start_dim, end_dim);
  return IntArrayRef(sizes) == self.sizes() ? self : reshape(self, sizes);
}

Tensor squeeze(const Tensor& self) {
  const OpName name("squeeze");
  return view_op(
      "SqueezeBackward0", self,
      [&] { return ops::make_view(self, ops::squeezed(self, ~uint64_t{0})); }, restore_sizes(self));
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  const OpName name("squeeze");
  return view_op(
      "SqueezeBackward1", self,
      [&] { return ops::make_view(self, ops::squeezed(self, dims_to_mask({dim}, self.dim()))); },
      restore_sizes(self));
}
Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const OpName name("unsqueeze");
  return view_op(
      "UnsqueezeBackward0", self, [&] { return ops::unsqueeze(self, dim); }, restore_sizes(self));
}

// --- order of dimensions ---

Tensor permute(const Tensor& self, IntArrayRef dims) {
  const OpName name("permute");
  return view_op(
      "PermuteBackward0", self, [&] { return ops::permute(self, dims); },
      [dims = DimVector(dims)](const Tensor& grad) {
        DimVector inverse(dims.size());
        for (size_t i = 0; i < dims.size(); ++i) {
          inverse[static_cast<size_t>(wrap_dim(dims[i], grad.dim()))] = static_cast<int64_t>(i);
        }
        return grad.permute(inverse);
      });
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const OpName name("transpose");
  return view_op(
      "TransposeBackward0", self, [&] { return ops::transpose(self, dim0, dim1); },
      [dim0, dim1](const Tensor& grad) { return grad.transpose(dim0, dim1); });
}

namespace {

ops::Geometry matrix_transposed(const Tensor& self) {
  EBB_CHECK(self.dim() <= 2, "expects a tensor with at most 2 dimensions, got sizes ",
            self.sizes());
  return ops::transposed(self, 0, self.dim() < 2 ? 0 : 1);
}

}  // namespace

Tensor t(const Tensor& self) {
  const OpName name("t");
  return view_op(
      "TBackward0", self, [&] { return ops::make_view(self, matrix_transposed(self)); },
      [](const Tensor& grad) { return grad.t(); });
}

// --- repeated dimensions ---

Tensor expand(const Tensor& self, IntArrayRef size, bool) {
  const OpName name("expand");
  return view_op(
      "ExpandBackward0", self, [&] { return ops::expand(self, size); },
      [sizes = DimVector(self.sizes())](const Tensor& grad) { return grad.sum_to_size(sizes); });
}
Tensor expand_as(const Tensor& self, const Tensor& other) {
  const OpName name("expand_as");
  return self.expand(other.sizes());
}
Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  const OpName name("broadcast_to");
  return self.expand(size);
}

Tensor Tensor::sum_to_size(IntArrayRef size) const {
  const OpName name("sum_to_size");
  EBB_CHECK(is_expandable_to(size, sizes()), "a tensor of sizes ", sizes(), " cannot be summed to ",
            size, ", which does not expand to it");
  const int64_t added = dim() - static_cast<int64_t>(size.size());
  DimVector dims;
  for (int64_t i = 0; i < dim(); ++i) {
    const bool is_new = i < added;
    const bool is_broadcast =
        !is_new && size[static_cast<size_t>(i - added)] == 1 && this->size(i) != 1;
    if (is_new || is_broadcast) dims.push_back(i);
  }
  if (dims.empty()) return *this;
  const Tensor result = sum(IntArrayRef(dims), /*keepdim=*/true);
  return added > 0 ? result.view(size) : result;
}

// --- parts ---

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  const OpName name("narrow");
  return view_op(
      "SliceBackward0", self, [&] { return ops::narrow(self, dim, start, length); },
      [sizes = DimVector(self.sizes()), dim, start, length](const Tensor& grad) {
        return embed(grad, sizes,
                     [&](const Tensor& full) { return full.narrow(dim, start, length); });
      });
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  const OpName name("slice");
  return view_op(
      "SliceBackward0", self, [&] { return ops::slice(self, dim, start, end, step); },
      [sizes = DimVector(self.sizes()), dim, start, end, step](const Tensor& grad) {
        return embed(grad, sizes,
                     [&](const Tensor& full) { return full.slice(dim, start, end, step); });
      });
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  const OpName name("select");
  return view_op(
      "SelectBackward0", self, [&] { return ops::select(self, dim, index); },
      [sizes = DimVector(self.sizes()), dim, index](const Tensor& grad) {
        return embed(grad, sizes, [&](const Tensor& full) { return full.select(dim, index); });
      });
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const OpName name("diagonal");
  return view_op(
      "DiagonalBackward0", self, [&] { return ops::diagonal(self, offset, dim1, dim2); },
      [sizes = DimVector(self.sizes()), offset, dim1, dim2](const Tensor& grad) {
        return embed(grad, sizes,
                     [&](const Tensor& full) { return full.diagonal(offset, dim1, dim2); });
      });
}

// --- any geometry ---

namespace {

int64_t reach(const ops::Geometry& geometry) {
  int64_t last = geometry.offset;
  for (size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.sizes[i] == 0) return 0;
    last += (geometry.sizes[i] - 1) * geometry.strides[i];
  }
  return last + 1;
}

Tensor as_geometry(const Tensor& storage, const ops::Geometry& geometry) {
  return storage.as_strided(geometry.sizes, geometry.strides, geometry.offset);
}

/// What each place of a storage of `numel` elements gets if `values` are added at the places that
/// the geometry names.
Tensor scatter_geometry(const Tensor& values, const ops::Geometry& geometry, int64_t numel) {
  Tensor storage = zeros({numel}, values.options());
  if (!may_overlap(geometry.sizes, geometry.strides)) {
    as_geometry(storage, geometry).copy_(values);
    return storage;
  }
  const Tensor places = as_geometry(arange(numel, values.device()), geometry).reshape({-1});
  return storage.index_add(0, places, values.reshape({-1}));
}

/// The gradient passes through the storage that both geometries share: the view's gradient adds up
/// where its elements overlap, and elements of self that share a place share its gradient equally.
Tensor as_strided_gradient(const Tensor& grad, ops::Geometry self, ops::Geometry view) {
  const int64_t start = std::min(self.offset, view.offset);
  self.offset -= start;
  view.offset -= start;
  if (reach(self) == 0) return zeros(self.sizes, grad.options());
  const int64_t numel = std::max(reach(self), reach(view));
  Tensor storage = scatter_geometry(grad, view, numel);
  if (may_overlap(self.sizes, self.strides)) {
    const Tensor counts = scatter_geometry(ones(self.sizes, grad.options()), self, numel);
    storage = storage / counts.clamp_min(1);
  }
  return as_geometry(storage, self);
}

}  // namespace

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  const OpName name("as_strided");
  const ops::Geometry view{size, stride, storage_offset.value_or(self.storage_offset())};
  return view_op(
      "AsStridedBackward0", self,
      [&] { return ops::as_strided(self, size, stride, storage_offset); },
      [from = ops::geometry(self), view](const Tensor& grad) {
        return as_strided_gradient(grad, from, view);
      });
}

// --- several views at once ---

namespace {

/// The views of self that `forward` gives, as the outputs of one node.
template <typename MakeFormula>
std::vector<Tensor> multi_view(const char* node_name, const Tensor& self, std::vector<Tensor> views,
                               MakeFormula&& formula) {
  for (const Tensor& view : views) autograd::mark_view(view, self, /*multi_output=*/true);
  if (!views.empty() && autograd::needs_recording({self})) {
    Recorder recorder(node_name, {self});
    recorder.record_all(views, formula());
  }
  return views;
}

/// The pieces of self along a dimension, and their gradients side by side.
std::vector<Tensor> pieces(const char* node_name, const Tensor& self, const DimVector& lengths,
                           int64_t dim) {
  std::vector<Tensor> views;
  views.reserve(lengths.size());
  int64_t start = 0;
  for (const int64_t length : lengths) {
    views.emplace_back(ops::narrow(self, dim, start, length));
    start += length;
  }
  return multi_view(node_name, self, std::move(views), [&] {
    return [sizes = DimVector(self.sizes()), lengths, dim](Backward& b) {
      bool all = true;
      size_t some = 0;
      for (size_t i = 0; i < lengths.size(); ++i) {
        all = all && b.has_grad(i);
        if (b.has_grad(i)) some = i;
      }
      if (all) {
        std::vector<Tensor> grads;
        for (size_t i = 0; i < lengths.size(); ++i) grads.push_back(b.grad(i));
        return b.set(0, cat(grads, dim));
      }
      const Tensor full = zeros(sizes, b.grad(some).options());
      int64_t from = 0;
      for (size_t i = 0; i < lengths.size(); ++i) {
        if (b.has_grad(i)) full.narrow(dim, from, lengths[i]).copy_(b.grad(i));
        from += lengths[i];
      }
      b.set(0, full);
    };
  });
}

int64_t checked_size(const Tensor& self, int64_t dim) {
  EBB_CHECK_AS(IndexError, self.dim() > 0, "expects a tensor with at least 1 dimension");
  return self.size(dim);
}

}  // namespace

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  const OpName name("unbind");
  const int64_t count = checked_size(self, dim);
  std::vector<Tensor> views;
  views.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) views.emplace_back(ops::select(self, dim, i));
  return multi_view("UnbindBackward0", self, std::move(views), [&] {
    return [sizes = DimVector(self.sizes()), dim, count](Backward& b) {
      size_t some = 0;
      while (!b.has_grad(some)) ++some;
      const Tensor full = zeros(sizes, b.grad(some).options());
      for (int64_t i = 0; i < count; ++i) {
        const auto piece = static_cast<size_t>(i);
        if (b.has_grad(piece)) full.select(dim, i).copy_(b.grad(piece));
      }
      b.set(0, full);
    };
  });
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  const OpName name("split");
  const int64_t size = checked_size(self, dim);
  EBB_CHECK(split_size >= 0, "split_size must be non-negative, got ", split_size);
  EBB_CHECK(split_size > 0 || size == 0,
            "split_size can only be 0 if dimension size is 0, but "
            "dimension ",
            dim, " of a tensor of sizes ", self.sizes(), " has ", size);
  DimVector lengths;
  for (int64_t start = 0; start < size; start += split_size) {
    lengths.push_back(std::min(split_size, size - start));
  }
  if (lengths.empty()) lengths.push_back(0);
  return pieces("SplitBackward0", self, lengths, dim);
}

std::vector<Tensor> split(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  const OpName name("split");
  const int64_t size = checked_size(self, dim);
  int64_t rest = size;
  for (const int64_t length : split_size) {
    EBB_CHECK(length >= 0, "split sizes must be non-negative, got ", split_size);
    EBB_CHECK(length <= rest, "split sizes ", split_size, " must add up to ", size,
              ", the size of "
              "dimension ",
              dim, " of a tensor of sizes ", self.sizes());
    rest -= length;
  }
  EBB_CHECK(rest == 0, "split sizes ", split_size, " must add up to ", size,
            ", the size of dimension ", dim, " of a tensor of sizes ", self.sizes());
  return pieces("SplitWithSizesBackward0", self, split_size, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const OpName name("chunk");
  const int64_t size = checked_size(self, dim);
  EBB_CHECK(chunks > 0, "the number of chunks must be positive, got ", chunks);
  if (size == 0) {
    return pieces("SplitWithSizesBackward0", self, DimVector(static_cast<size_t>(chunks)), dim);
  }
  return split(self, size / chunks + (size % chunks != 0 ? 1 : 0), dim);
}

// --- layout ---

Tensor contiguous(const Tensor& self) {
  const OpName name("contiguous");
  if (self.is_contiguous()) return self;
  return differentiable(
      "contiguous", "CloneBackward0", {self}, [&] { return ops::clone_contiguous(self); },
      [&](Recorder&) { return [](Backward& b) { b.set(0, b.grad()); }; });
}

}  // namespace ebb
