#include <ebb/core/ops/join.h>

#include <algorithm>
#include <cstdlib>

#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/shape.h>
#include <ebb/core/ops/shape_kernels.h>

namespace ebb::ops {

namespace {

size_t index(int64_t dim) { return static_cast<size_t>(dim); }

/// Memory seen with some sizes and strides (in elements, perhaps negative). Cheaper than a view.
struct Region {
  void* data;
  ScalarType dtype;
  DimVector sizes;
  DimVector strides;

  explicit Region(const TensorBase& tensor)
      : data(tensor.data_ptr()),
        dtype(tensor.scalar_type()),
        sizes(tensor.sizes()),
        strides(tensor.strides()) {}

  void move_start(int64_t elements) {
    data = static_cast<char*>(data) + elements * static_cast<int64_t>(element_size(dtype));
  }
  void narrow(size_t dim, int64_t start, int64_t length) {
    move_start(start * strides[dim]);
    sizes[dim] = length;
  }
};

/// Copies between regions of equal sizes, with conversion.
void copy_region(const Region& to, const Region& from, Device device) {
  TensorIterator it(to.sizes);
  if (it.numel() == 0) return;
  it.set_compute_type(from.dtype);
  it.add(to.data, to.dtype, to.sizes, to.strides);
  it.add(from.data, from.dtype, to.sizes, from.strides);
  it.build();
  kernels(device).copy->copy(it);
}

std::string list_sizes(TensorPointers tensors) {
  std::string text;
  for (const TensorBase* tensor : tensors) {
    text += detail::concat(text.empty() ? "" : ", ", tensor->sizes());
  }
  return text;
}

ScalarType common_dtype(TensorPointers tensors) {
  ScalarType dtype = tensors[0]->scalar_type();
  for (const TensorBase* tensor : tensors) dtype = promote_types(dtype, tensor->scalar_type());
  return dtype;
}

void check_devices(TensorPointers tensors) {
  EBB_CHECK(!tensors.empty(), "expected a non-empty list of tensors");
  for (const TensorBase* tensor : tensors) {
    check_same_device("the first tensor", *tensors[0], "a later one", *tensor);
  }
}

bool is_skipped(const TensorBase& tensor) { return tensor.dim() == 1 && tensor.numel() == 0; }

/// The sizes of the joined tensor; empty vectors count for nothing.
DimVector joined_sizes(TensorPointers tensors, const TensorBase& like, size_t dim) {
  DimVector sizes = like.sizes();
  sizes[dim] = 0;
  for (const TensorBase* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    bool fits = tensor->dim() == like.dim();
    for (size_t i = 0; fits && i < sizes.size(); ++i) {
      fits = i == dim || tensor->sizes()[i] == sizes[i];
    }
    EBB_CHECK(fits, "sizes of tensors must match except in dimension ", dim, ", got ",
              list_sizes(tensors));
    EBB_CHECK(!__builtin_add_overflow(sizes[dim], tensor->sizes()[dim], &sizes[dim]), "the sizes ",
              list_sizes(tensors), " add up to more than 2^63");
  }
  return sizes;
}

}  // namespace

TensorBase cat(TensorPointers tensors, int64_t dim) {
  check_devices(tensors);
  const TensorBase* like = tensors[0];
  for (const TensorBase* tensor : tensors) {
    EBB_CHECK(tensor->dim() > 0, "tensors without dimensions cannot be concatenated (sizes ",
              list_sizes(tensors), "); use stack");
    if (is_skipped(*like)) like = tensor;
  }
  const size_t at = index(wrap_dim(dim, like->dim()));
  TensorBase result =
      empty(joined_sizes(tensors, *like, at), common_dtype(tensors), like->device());
  Region to(result);
  for (const TensorBase* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    to.sizes[at] = tensor->sizes()[at];
    copy_region(to, Region(*tensor), result.device().type());
    to.move_start(to.sizes[at] * to.strides[at]);
  }
  return result;
}

TensorBase stack(TensorPointers tensors, int64_t dim) {
  check_devices(tensors);
  const TensorBase& first = *tensors[0];
  for (const TensorBase* tensor : tensors) {
    EBB_CHECK(tensor->sizes() == first.sizes(), "each tensor must have the same sizes, got ",
              list_sizes(tensors));
  }
  const size_t at = index(wrap_dim(dim, first.dim() + 1));
  DimVector sizes = first.sizes();
  sizes.insert(at, static_cast<int64_t>(tensors.size()));
  TensorBase result = empty(sizes, common_dtype(tensors), first.device());
  Region to(result);
  const int64_t step = to.strides[at];
  to.sizes.erase(at);
  to.strides.erase(at);
  for (const TensorBase* tensor : tensors) {
    copy_region(to, Region(*tensor), result.device().type());
    to.move_start(step);
  }
  return result;
}

TensorBase repeat(const TensorBase& self, IntArrayRef repeats) {
  const size_t ndim = repeats.size();
  EBB_CHECK(ndim >= index(self.dim()), "the repeats ", repeats,
            " must not be fewer than the dimensions of a tensor of sizes ", self.sizes());
  const size_t added = ndim - index(self.dim());
  DimVector sizes(ndim);
  Region from(self);
  from.sizes.clear();
  from.strides.clear();
  for (size_t i = 0; i < ndim; ++i) {
    EBB_CHECK(repeats[i] >= 0, "repeats must not be negative, got ", repeats);
    const int64_t size = i < added ? 1 : self.sizes()[i - added];
    EBB_CHECK(!__builtin_mul_overflow(size, repeats[i], &sizes[i]), "the repeats ", repeats,
              " of sizes ", self.sizes(), " are too many");
    from.sizes.push_back(repeats[i]);
    from.strides.push_back(0);
    from.sizes.push_back(size);
    from.strides.push_back(i < added ? 0 : self.strides()[i - added]);
  }
  TensorBase result = empty(sizes, self.scalar_type(), self.device());
  Region to(result);
  to.sizes = from.sizes;
  to.strides = contiguous_strides(to.sizes);
  copy_region(to, from, self.device().type());
  return result;
}

namespace {

/// Copies `from` to `to`, both moved on by shifts[k] in dims[k] for k >= next: each dimension in
/// two pieces.
void copy_rolled(Region to, Region from, const DimVector& shifts, const DimVector& dims,
                 size_t next, Device device) {
  if (next == dims.size()) return copy_region(to, from, device);
  const size_t dim = index(dims[next]);
  const int64_t size = to.sizes[dim], shift = shifts[next];
  Region to_end = to, from_start = from;
  to_end.narrow(dim, shift, size - shift);
  from_start.narrow(dim, 0, size - shift);
  copy_rolled(to_end, from_start, shifts, dims, next + 1, device);
  if (shift == 0) return;
  to.narrow(dim, 0, shift);
  from.narrow(dim, size - shift, shift);
  copy_rolled(to, from, shifts, dims, next + 1, device);
}

}  // namespace

TensorBase roll(const TensorBase& self, IntArrayRef shifts, IntArrayRef dims) {
  EBB_CHECK(!shifts.empty(), "roll needs a shift");
  if (dims.empty()) {
    EBB_CHECK(shifts.size() == 1, "shifts ", shifts, " and dims ", dims,
              " must have the same length");
    return view(roll(reshape(self, {-1}), shifts, {0}), self.sizes());
  }
  EBB_CHECK(shifts.size() == dims.size(), "shifts ", shifts, " and dims ", dims,
            " must have the same length");
  TensorBase result = empty(self.sizes(), self.scalar_type(), self.device());
  if (self.numel() == 0) return result;
  DimVector total(index(self.dim()));  // a dimension may be named several times
  DimVector moved;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim());
    if (self.dim() == 0) continue;
    const int64_t size = self.sizes()[index(dim)];
    total[index(dim)] = ((total[index(dim)] + shifts[i] % size) % size + size) % size;
    if (std::find(moved.begin(), moved.end(), dim) == moved.end()) moved.push_back(dim);
  }
  DimVector moves;
  for (const int64_t dim : moved) moves.push_back(total[index(dim)]);
  copy_rolled(Region(result), Region(self), moves, moved, 0, self.device().type());
  return result;
}

TensorBase flip(const TensorBase& self, IntArrayRef dims) {
  const uint64_t mask = dims_to_mask(dims, self.dim(), false);
  TensorBase result = empty_like(self);
  if (self.numel() == 0) return result;
  Region from(self);
  for (size_t dim = 0; dim < from.sizes.size(); ++dim) {
    if (((mask >> dim) & 1) == 0) continue;
    from.move_start((from.sizes[dim] - 1) * from.strides[dim]);
    from.strides[dim] = -from.strides[dim];
  }
  copy_region(Region(result), from, self.device().type());
  return result;
}

namespace {

void run_triangle(const TensorBase& to, const TensorBase& from, int64_t diagonal, Triangle part) {
  if (to.numel() == 0) return;
  Region out(to), in(from);
  const auto size = static_cast<int64_t>(element_size(out.dtype));
  const int64_t columns = out.sizes.back();
  const int64_t strides[2] = {out.strides.back() * size, in.strides.back() * size};
  for (Region* region : {&out, &in}) {
    region->sizes.pop_back();
    region->strides.pop_back();
  }
  TensorIterator it(out.sizes);
  it.add(out.data, out.dtype, out.sizes, out.strides);
  it.add(in.data, in.dtype, in.sizes, in.strides);
  it.build(TensorIterator::Order::row_major);
  // Beyond the matrix every diagonal means the same; within it no sum can overflow.
  const int64_t limit = out.sizes.back() + columns;
  kernels(to.device())
      .shape->triangle({it,
                        out.sizes.back(),
                        columns,
                        {strides[0], strides[1]},
                        std::clamp(diagonal, -limit, limit),
                        part});
}

void check_matrix(const TensorBase& self) {
  EBB_CHECK(self.dim() >= 2, "expected a matrix or a batch of them, got sizes ", self.sizes());
}

}  // namespace

TensorBase triangle(const TensorBase& self, int64_t diagonal, Triangle part) {
  check_matrix(self);
  TensorBase result = empty(self.sizes(), self.scalar_type(), self.device());
  run_triangle(result, self, diagonal, part);
  return result;
}

void triangle_(const TensorBase& self, int64_t diagonal, Triangle part) {
  check_matrix(self);
  check_writable(self);
  run_triangle(self, self, diagonal, part);
  self.impl()->bump_version();
}

TensorBase diag(const TensorBase& self, int64_t diagonal) {
  EBB_CHECK(self.dim() == 1 || self.dim() == 2, "expected a vector or a matrix, got sizes ",
            self.sizes());
  if (self.dim() == 2) return clone_contiguous(ops::diagonal(self, diagonal, 0, 1));
  int64_t size = 0;
  EBB_CHECK(
      diagonal != INT64_MIN && !__builtin_add_overflow(self.numel(), std::abs(diagonal), &size),
      "the diagonal ", diagonal, " is too far out");
  TensorBase result = empty({size, size}, self.scalar_type(), self.device());
  fill_fresh(result, 0);
  copy_region(Region(ops::diagonal(result, diagonal, 0, 1)), Region(self), self.device().type());
  return result;
}

}  // namespace ebb::ops
