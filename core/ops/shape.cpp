#include <ebb/core/ops/shape.h>

#include <algorithm>

#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>

namespace ebb::ops {

namespace {

size_t index(int64_t dim) { return static_cast<size_t>(dim); }

void check_has_dims(const TensorBase& self, const char* what) {
  EBB_CHECK_AS(IndexError, self.dim() > 0, "cannot ", what, " a tensor without dimensions");
}

/// The storage elements up to and including the last one that the geometry reaches.
int64_t checked_reach(IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  int64_t reach = offset + 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t run = 0;
    overflow = overflow || __builtin_mul_overflow(sizes[i] - 1, strides[i], &run) ||
               __builtin_add_overflow(reach, run, &reach);
  }
  EBB_CHECK(!overflow, "sizes ", sizes, " and strides ", strides, " are too large");
  return reach;
}

}  // namespace

Geometry geometry(const TensorBase& self) {
  return {self.sizes(), self.strides(), self.storage_offset()};
}

TensorBase make_view(const TensorBase& self, const Geometry& geometry) {
  auto impl = make_intrusive<TensorImpl>(self.storage(), self.scalar_type(), self.device(),
                                         geometry.sizes, geometry.strides, geometry.offset);
  impl->set_inference(self.is_inference());
  if (!self.is_inference()) impl->set_version(self.impl()->share_version());
  return TensorBase(std::move(impl));
}

Geometry permuted(const TensorBase& self, IntArrayRef dims) {
  EBB_CHECK(static_cast<int64_t>(dims.size()) == self.dim(), "the dims ", dims,
            " must name each dimension of a tensor of sizes ", self.sizes());
  dims_to_mask(dims, self.dim());  // throws if one appears twice
  Geometry result;
  for (const int64_t dim : dims) {
    const size_t from = index(wrap_dim(dim, self.dim()));
    result.sizes.push_back(self.sizes()[from]);
    result.strides.push_back(self.strides()[from]);
  }
  result.offset = self.storage_offset();
  return result;
}

Geometry transposed(const TensorBase& self, int64_t dim0, int64_t dim1) {
  const size_t a = index(wrap_dim(dim0, self.dim()));
  const size_t b = index(wrap_dim(dim1, self.dim()));
  Geometry result = geometry(self);
  if (a == b) return result;
  std::swap(result.sizes[a], result.sizes[b]);
  std::swap(result.strides[a], result.strides[b]);
  return result;
}

Geometry squeezed(const TensorBase& self, uint64_t mask) {
  Geometry result;
  result.offset = self.storage_offset();
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if (((mask >> i) & 1) != 0 && self.sizes()[i] == 1) continue;
    result.sizes.push_back(self.sizes()[i]);
    result.strides.push_back(self.strides()[i]);
  }
  return result;
}

Geometry unsqueezed(const TensorBase& self, int64_t dim) {
  const size_t at = index(wrap_dim(dim, self.dim() + 1));
  Geometry result = geometry(self);
  const bool last = at == result.sizes.size();
  const int64_t stride = last ? 1 : result.sizes[at] * result.strides[at];
  result.sizes.insert(at, 1);
  result.strides.insert(at, stride);
  return result;
}

std::optional<TensorBase> try_view(const TensorBase& self, IntArrayRef sizes) {
  const DimVector full = infer_size(sizes, self.numel());
  if (self.is_contiguous()) {
    return make_view(self, {full, contiguous_strides(full), self.storage_offset()});
  }
  auto strides = view_strides(self.sizes(), self.strides(), full);
  if (!strides) return std::nullopt;
  return make_view(self, {full, *strides, self.storage_offset()});
}

TensorBase view(const TensorBase& self, IntArrayRef sizes) {
  auto result = try_view(self, sizes);
  EBB_CHECK(result,
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces): a tensor of sizes ",
            self.sizes(), " and strides ", self.strides(), " cannot be seen as ", sizes,
            " without a copy. Use .reshape(...) instead.");
  return std::move(*result);
}

TensorBase reshape(const TensorBase& self, IntArrayRef sizes) {
  if (auto result = try_view(self, sizes)) return std::move(*result);
  return view(clone_contiguous(self), sizes);
}

TensorBase as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                      std::optional<int64_t> offset) {
  EBB_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
            " must have the same length");
  checked_numel(sizes, element_size(self.scalar_type()));
  for (const int64_t stride : strides) {
    EBB_CHECK(stride >= 0, "strides must not be negative, got ", strides);
  }
  const int64_t start = offset.value_or(self.storage_offset());
  EBB_CHECK(start >= 0, "the storage offset must not be negative, got ", start);
  const int64_t reach = checked_reach(sizes, strides, start);
  const auto available = static_cast<int64_t>(self.storage().nbytes() / self.itemsize());
  EBB_CHECK(reach <= available, "sizes ", sizes, ", strides ", strides, " and storage offset ",
            start, " need a storage of ", reach, " elements, but it has ", available);
  return make_view(self, {sizes, strides, start});
}

TensorBase permute(const TensorBase& self, IntArrayRef dims) {
  return make_view(self, permuted(self, dims));
}

TensorBase transpose(const TensorBase& self, int64_t dim0, int64_t dim1) {
  return make_view(self, transposed(self, dim0, dim1));
}

TensorBase unsqueeze(const TensorBase& self, int64_t dim) {
  return make_view(self, unsqueezed(self, dim));
}

TensorBase expand(const TensorBase& self, IntArrayRef sizes) {
  const IntArrayRef old = self.sizes();
  EBB_CHECK(sizes.size() >= old.size(), "a tensor of sizes ", old, " cannot expand to ", sizes,
            ", which has fewer dimensions");
  const size_t added = sizes.size() - old.size();
  Geometry result{sizes, DimVector(sizes.size()), self.storage_offset()};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_new = i < added;
    const int64_t size = is_new ? 1 : old[i - added];
    if (sizes[i] == -1 && !is_new) result.sizes[i] = size;
    EBB_CHECK(result.sizes[i] >= 0, "size ", sizes[i], " of ", sizes,
              " is not allowed: only existing dimensions can be kept with -1");
    EBB_CHECK(size == result.sizes[i] || size == 1, "a tensor of sizes ", old, " cannot expand to ",
              sizes, ": size ", size, " at dimension ", i, " of the result is neither 1 nor ",
              result.sizes[i]);
    const bool repeats = is_new || size != result.sizes[i];
    result.strides[i] = repeats ? 0 : self.strides()[i - added];
  }
  checked_numel(result.sizes, self.itemsize());
  return make_view(self, result);
}

TensorBase narrow(const TensorBase& self, int64_t dim, int64_t start, int64_t length) {
  check_has_dims(self, "narrow");
  const size_t at = index(wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[at];
  EBB_CHECK(length >= 0, "length must not be negative, got ", length);
  EBB_CHECK_AS(IndexError, start >= -size && start <= size, "start ", start,
               " is out of range for dimension ", dim, " of size ", size);
  if (start < 0) start += size;
  EBB_CHECK(length <= size - start, "start ", start, " and length ", length, " exceed dimension ",
            dim, " of a tensor of sizes ", self.sizes());
  Geometry result = geometry(self);
  result.sizes[at] = length;
  result.offset += start * result.strides[at];
  return make_view(self, result);
}

TensorBase slice(const TensorBase& self, int64_t dim, std::optional<int64_t> start,
                 std::optional<int64_t> end, int64_t step) {
  check_has_dims(self, "slice");
  EBB_CHECK(step > 0, "slice step must be positive, got ", step);
  const size_t at = index(wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[at];
  const auto clip = [size](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const int64_t from = clip(start.value_or(0));
  const int64_t to = std::max(clip(end.value_or(size)), from);
  Geometry result = geometry(self);
  result.offset += from * result.strides[at];
  const int64_t length = to - from;
  result.sizes[at] = length / step + (length % step != 0 ? 1 : 0);
  // With one element the stride is never used; keep it from overflowing.
  if (result.sizes[at] > 1) result.strides[at] *= step;
  return make_view(self, result);
}

TensorBase select(const TensorBase& self, int64_t dim, int64_t position) {
  check_has_dims(self, "select from");
  const size_t at = index(wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[at];
  EBB_CHECK_AS(IndexError, position >= -size && position < size, "index ", position,
               " is out of bounds for dimension ", dim, " of a tensor of sizes ", self.sizes());
  Geometry result = geometry(self);
  result.offset += (position < 0 ? position + size : position) * result.strides[at];
  result.sizes.erase(at);
  result.strides.erase(at);
  return make_view(self, result);
}

TensorBase diagonal(const TensorBase& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim();
  const size_t row = index(wrap_dim(dim1, ndim, false));
  const size_t column = index(wrap_dim(dim2, ndim, false));
  EBB_CHECK(row != column, "the dimensions of a diagonal must differ, got ", dim1, " and ", dim2);
  Geometry result = geometry(self);
  const int64_t rows = result.sizes[row], columns = result.sizes[column];
  const int64_t length = offset >= 0 ? std::min(rows, offset < columns ? columns - offset : 0)
                                     : std::min(offset > -rows ? rows + offset : 0, columns);
  const int64_t stride = result.strides[row] + result.strides[column];
  if (length > 0) {
    result.offset += offset >= 0 ? offset * result.strides[column] : -offset * result.strides[row];
  }
  result.sizes.erase(std::max(row, column));
  result.sizes.erase(std::min(row, column));
  result.strides.erase(std::max(row, column));
  result.strides.erase(std::min(row, column));
  result.sizes.push_back(length);
  result.strides.push_back(stride);
  return make_view(self, result);
}

DimVector flattened_sizes(IntArrayRef sizes, int64_t start_dim, int64_t end_dim) {
  const auto ndim = static_cast<int64_t>(sizes.size());
  const int64_t start = wrap_dim(start_dim, ndim);
  const int64_t end = wrap_dim(end_dim, ndim);
  EBB_CHECK(start <= end, "start_dim ", start_dim, " must not come after end_dim ", end_dim,
            " in a tensor of sizes ", sizes);
  if (ndim == 0) return {1};
  DimVector result;
  for (int64_t i = 0; i < ndim; ++i) {
    if (i > start && i <= end) {
      result.back() *= sizes[index(i)];
    } else {
      result.push_back(sizes[index(i)]);
    }
  }
  return result;
}

}  // namespace ebb::ops
