#include <ebb/core/tensor/shape.h>

#include <algorithm>
#include <limits>

#include <ebb/core/error.h>

namespace ebb {

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    contiguous = contiguous && strides[i] == expected;
    expected *= sizes[i];
  }
  return contiguous;
}

namespace {

/// The dimensions with more than one element, by rising stride.
DimVector dims_by_stride(IntArrayRef sizes, IntArrayRef strides) {
  DimVector dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) dims.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] < strides[static_cast<size_t>(b)];
  });
  return dims;
}

}  // namespace

bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  int64_t expected = 1;
  for (const int64_t dim : dims_by_stride(sizes, strides)) {
    if (strides[static_cast<size_t>(dim)] != expected) return false;
    expected *= sizes[static_cast<size_t>(dim)];
  }
  return true;
}

bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return false;
  // Free of overlap if each stride steps over all that the smaller strides can reach.
  int64_t reach = 0;
  for (const int64_t dim : dims_by_stride(sizes, strides)) {
    const int64_t stride = strides[static_cast<size_t>(dim)];
    if (stride <= reach) return true;
    reach += stride * (sizes[static_cast<size_t>(dim)] - 1);
  }
  return false;
}

bool has_internal_overlap(IntArrayRef sizes, IntArrayRef strides) {
  if (!may_overlap(sizes, strides)) return false;
  int64_t numel = 1;
  int64_t places = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] == 0 && sizes[i] > 1) return true;
    numel *= sizes[i];
    places += strides[i] * (sizes[i] - 1);
  }
  return numel > places;
}

int64_t checked_numel(IntArrayRef sizes, size_t element_bytes) {
  int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    EBB_CHECK(size >= 0, "sizes must not be negative, got ", sizes);
    empty = empty || size == 0;
    overflow = overflow || __builtin_mul_overflow(numel, std::max<int64_t>(size, 1), &numel);
  }
  if (empty && !overflow) return 0;
  int64_t bytes = 0;
  overflow = overflow || __builtin_mul_overflow(numel, static_cast<int64_t>(element_bytes), &bytes);
  EBB_CHECK(!overflow, "a tensor of sizes ", sizes, " would have more than 2^63 bytes");
  return numel;
}

DimVector broadcast_shapes(IntArrayRef a, IntArrayRef b) {
  const size_t ndim = std::max(a.size(), b.size());
  DimVector shape(ndim);
  for (size_t i = 0; i < ndim; ++i) {
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    EBB_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "shapes ", a, " and ", b,
              " do not broadcast: sizes ", size_a, " and ", size_b, " at dimension ", ndim - 1 - i,
              " of the result must be equal, or one of them 1");
    shape[ndim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

bool is_expandable_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t size = from[from.size() - 1 - i];
    if (size != 1 && size != to[to.size() - 1 - i]) return false;
  }
  return true;
}

int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar) {
  const int64_t range = ndim == 0 && wrap_scalar ? 1 : ndim;
  EBB_CHECK_AS(IndexError, dim >= -range && dim < range, "dimension ", dim,
               " is out of range: the tensor has ", ndim, " dimensions, so use [", -range, ", ",
               range - 1, "]");
  return dim < 0 ? dim + range : dim;
}

uint64_t dims_to_mask(IntArrayRef dims, int64_t ndim, bool empty_means_all) {
  EBB_CHECK(ndim <= 64, "only tensors with up to 64 dimensions are supported, got ", ndim);
  if (dims.empty() && empty_means_all) {
    return ndim == 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1;
  }
  uint64_t mask = 0;
  for (const int64_t dim : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(dim, ndim);
    EBB_CHECK((mask & bit) == 0, "dimension ", dim, " appears more than once in ", dims);
    mask |= bit;
  }
  return mask;
}

DimVector infer_size(IntArrayRef sizes, int64_t numel) {
  DimVector result(sizes);
  int64_t known = 1;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      EBB_CHECK(!unknown, "only one size of ", sizes, " can be -1");
      unknown = i;
    } else {
      EBB_CHECK(sizes[i] >= 0, "invalid size ", sizes[i], " in ", sizes);
      EBB_CHECK(!__builtin_mul_overflow(known, sizes[i], &known), "sizes ", sizes,
                " are too large");
    }
  }
  if (unknown) {
    EBB_CHECK(known != 0, "cannot tell the size -1 in ", sizes, " for a tensor of ", numel,
              " elements: any size fits");
  }
  EBB_CHECK(unknown ? numel % known == 0 : numel == known, "shape ", sizes, " does not hold the ",
            numel, " elements of the tensor");
  if (unknown) result[*unknown] = numel / known;
  return result;
}

std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                      IntArrayRef new_sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  if (numel == 0) {
    return sizes == new_sizes ? DimVector(strides) : contiguous_strides(new_sizes);
  }
  if (sizes.empty()) {
    DimVector ones(new_sizes.size(), 1);
    return ones;
  }
  DimVector result(new_sizes.size());
  auto view_dim = static_cast<int64_t>(new_sizes.size()) - 1;
  int64_t chunk_stride = strides.back();
  int64_t chunk_numel = 1;
  int64_t view_numel = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    chunk_numel *= sizes[i];
    const bool chunk_ends =
        i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != chunk_numel * chunk_stride);
    if (!chunk_ends) continue;
    while (view_dim >= 0 &&
           (view_numel < chunk_numel || new_sizes[static_cast<size_t>(view_dim)] == 1)) {
      result[static_cast<size_t>(view_dim)] = view_numel * chunk_stride;
      view_numel *= new_sizes[static_cast<size_t>(view_dim)];
      --view_dim;
    }
    if (view_numel != chunk_numel) return std::nullopt;
    if (i > 0) {
      chunk_stride = strides[i - 1];
      chunk_numel = 1;
      view_numel = 1;
    }
  }
  if (view_dim != -1) return std::nullopt;
  return result;
}

}  // namespace ebb
