#pragma once

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

// Reading and writing at indices along one dimension, without gradients. Indices are int64 (int32
// too where they form a vector), in [0, size): others are an IndexError that names the index and
// the size, before anything is written.

namespace ebb::ops {

/// The slices of `self` along `dim` that the vector `index` names.
EBB_API TensorBase index_select(const TensorBase& self, int64_t dim, const TensorBase& index);
/// result[i][j] = self[index[i][j]][j] for dim 0, and so on; of the sizes of `index`, which has as
/// many dimensions as self and is nowhere larger but along `dim`.
EBB_API TensorBase gather(const TensorBase& self, int64_t dim, const TensorBase& index);

/// self with self[index[i][j]][j] = src[i][j] for dim 0, and so on. Where an index occurs twice the
/// later one wins. `src` has self's dtype and is nowhere smaller than `index`.
EBB_API TensorBase scatter(const TensorBase& self, int64_t dim, const TensorBase& index,
                           const TensorBase& src);
EBB_API void scatter_(const TensorBase& self, int64_t dim, const TensorBase& index,
                      const TensorBase& src);
EBB_API TensorBase scatter(const TensorBase& self, int64_t dim, const TensorBase& index,
                           const Scalar& value);
EBB_API void scatter_(const TensorBase& self, int64_t dim, const TensorBase& index,
                      const Scalar& value);
/// The same, adding; in the order of the indices, whatever the number of threads.
EBB_API TensorBase scatter_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                               const TensorBase& src);
EBB_API void scatter_add_(const TensorBase& self, int64_t dim, const TensorBase& index,
                          const TensorBase& src);
/// self with alpha times slice i of `source` added to the slice index[i] along `dim`.
EBB_API TensorBase index_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                             const TensorBase& source, const Scalar& alpha);
EBB_API void index_add_(const TensorBase& self, int64_t dim, const TensorBase& index,
                        const TensorBase& source, const Scalar& alpha);

/// The elements of `self` where the bool tensor `mask` holds, in row-major order; both broadcast.
EBB_API TensorBase masked_select(const TensorBase& self, const TensorBase& mask);
/// [n, self.dim()]: the indices of the elements that are not zero.
EBB_API TensorBase nonzero(const TensorBase& self);
/// A further dimension of `num_classes` (-1: the largest element + 1), 1 at self, 0 elsewhere.
EBB_API TensorBase one_hot(const TensorBase& self, int64_t num_classes);

/// `index` as an int64 tensor of any sizes, checked against [0, size).
EBB_API TensorBase checked_indices(const TensorBase& index, int64_t dim, int64_t size);

}  // namespace ebb::ops
