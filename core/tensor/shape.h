#pragma once

#include <cstdint>
#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/tensor/array_ref.h>

namespace ebb {

/// Row-major strides, in elements. Sizes of zero count as one, as in LibTorch.
EBB_API DimVector contiguous_strides(IntArrayRef sizes);

/// Whether the elements lie in row-major order without gaps. Dimensions of size one may have any
/// stride; tensors without elements are contiguous.
EBB_API bool is_contiguous(IntArrayRef sizes, IntArrayRef strides);

/// Whether the elements lie without gaps or overlap in some order of the dimensions.
EBB_API bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides);

/// Whether two indices can reach the same element (stride zero, as after `expand`). Strides that
/// overlap in other ways are reported too, where there are more elements than places.
EBB_API bool has_internal_overlap(IntArrayRef sizes, IntArrayRef strides);

/// Whether two indices might reach the same element: false only if strides and sizes nest, so that
/// they surely do not.
EBB_API bool may_overlap(IntArrayRef sizes, IntArrayRef strides);

/// The product of the sizes. Throws if a size is negative or the product, or its bytes at
/// `element_bytes`, does not fit an int64.
EBB_API int64_t checked_numel(IntArrayRef sizes, size_t element_bytes = 1);

/// The shape that both broadcast to (NumPy's rules). Throws an Error that names both.
EBB_API DimVector broadcast_shapes(IntArrayRef a, IntArrayRef b);

/// Whether `from` broadcasts to `to`.
EBB_API bool is_expandable_to(IntArrayRef from, IntArrayRef to);

/// `dim` in [-ndim, ndim) as a number in [0, ndim). A 0-dim tensor is taken to have one dimension
/// where `wrap_scalar`. Throws an IndexError that states the range.
EBB_API int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true);

/// Marks the wrapped `dims` (all where the list is empty and `empty_means_all`). Throws if one
/// appears twice. More than 64 dimensions are an error.
EBB_API uint64_t dims_to_mask(IntArrayRef dims, int64_t ndim, bool empty_means_all = true);

/// `sizes` with one -1 replaced by what makes `numel` elements. Throws an Error that names both.
EBB_API DimVector infer_size(IntArrayRef sizes, int64_t numel);

/// Strides that view a tensor of `sizes` and `strides` as `new_sizes`, or nothing if that needs a
/// copy. As in at::computeStride: new dimensions may split or merge contiguous runs.
EBB_API std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                              IntArrayRef new_sizes);

}  // namespace ebb
