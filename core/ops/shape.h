#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ebb/core/export.h>
#include <ebb/core/tensor/shape.h>
#include <ebb/core/tensor/tensor_base.h>

// Views: tensors that share memory and version counter with another and differ in geometry. None of
// these allocates tensor memory.

namespace ebb::ops {

/// Sizes, strides (in elements) and the offset of the first element in the storage.
struct Geometry {
  DimVector sizes;
  DimVector strides;
  int64_t offset = 0;
};

/// The geometry of `self`.
EBB_API Geometry geometry(const TensorBase& self);
/// A tensor of that geometry over the memory of `self`; the geometry is taken to be valid.
EBB_API TensorBase make_view(const TensorBase& self, const Geometry& geometry);

/// What the views below do to a geometry, for views and for their in-place forms. Dimensions may be
/// negative; those out of range throw an IndexError.
EBB_API Geometry permuted(const TensorBase& self, IntArrayRef dims);
EBB_API Geometry transposed(const TensorBase& self, int64_t dim0, int64_t dim1);
/// The dimensions in `mask` removed where their size is one.
EBB_API Geometry squeezed(const TensorBase& self, uint64_t mask);
EBB_API Geometry unsqueezed(const TensorBase& self, int64_t dim);

/// `self` with other sizes, if strides can express that; one size may be -1.
EBB_API std::optional<TensorBase> try_view(const TensorBase& self, IntArrayRef sizes);
/// The same; throws an Error that names sizes and strides if it takes a copy.
EBB_API TensorBase view(const TensorBase& self, IntArrayRef sizes);
/// try_view, or else a contiguous copy with these sizes.
EBB_API TensorBase reshape(const TensorBase& self, IntArrayRef sizes);
/// Any geometry within the storage; throws an Error if it reaches beyond. `offset` absent: as self.
EBB_API TensorBase as_strided(const TensorBase& self, IntArrayRef sizes, IntArrayRef strides,
                              std::optional<int64_t> offset = std::nullopt);
EBB_API TensorBase permute(const TensorBase& self, IntArrayRef dims);
EBB_API TensorBase transpose(const TensorBase& self, int64_t dim0, int64_t dim1);
/// Dimensions of size one repeated with stride 0, new ones in front; -1 keeps a size.
EBB_API TensorBase expand(const TensorBase& self, IntArrayRef sizes);
/// Elements start to start + length - 1 of a dimension.
EBB_API TensorBase narrow(const TensorBase& self, int64_t dim, int64_t start, int64_t length);
/// Elements start, start + step, ... below end; the bounds are clipped, step is at least 1.
EBB_API TensorBase slice(const TensorBase& self, int64_t dim, std::optional<int64_t> start,
                         std::optional<int64_t> end, int64_t step);
/// One element of a dimension, which is dropped.
EBB_API TensorBase select(const TensorBase& self, int64_t dim, int64_t index);
EBB_API TensorBase unsqueeze(const TensorBase& self, int64_t dim);
/// The elements whose index in dim2 is `offset` above that in dim1, as a last dimension.
EBB_API TensorBase diagonal(const TensorBase& self, int64_t offset, int64_t dim1, int64_t dim2);

/// The sizes of `self` with the dimensions start to end made one.
EBB_API DimVector flattened_sizes(IntArrayRef sizes, int64_t start_dim, int64_t end_dim);

}  // namespace ebb::ops
