#pragma once

#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/tensor/array_ref.h>
#include <ebb/core/tensor/tensor_base.h>

// Ops that move data into a new tensor. Each allocates its result and nothing else.

namespace ebb::ops {

/// Tensors by pointer, so that handles of any kind can be joined.
using TensorPointers = ArrayRef<const TensorBase*>;

/// The tensors one after another along `dim`; their other sizes must be equal. Dtypes promote.
/// One-dimensional tensors without elements fit everywhere, as in LibTorch.
EBB_API TensorBase cat(TensorPointers tensors, int64_t dim);
/// Tensors of equal sizes along a new dimension.
EBB_API TensorBase stack(TensorPointers tensors, int64_t dim);
/// `self` so many times along each dimension; further counts in front add dimensions.
EBB_API TensorBase repeat(const TensorBase& self, IntArrayRef repeats);
/// Element i of dimension dims[k] moves to i + shifts[k], round the end; without dims those of the
/// flattened tensor.
EBB_API TensorBase roll(const TensorBase& self, IntArrayRef shifts, IntArrayRef dims);
/// The order along the dimensions turned round.
EBB_API TensorBase flip(const TensorBase& self, IntArrayRef dims);

enum class Triangle { lower, upper };
/// The triangle of each matrix up to (lower) or from (upper) the diagonal that lies `diagonal`
/// above the main one; zero elsewhere.
EBB_API TensorBase triangle(const TensorBase& self, int64_t diagonal, Triangle part);
/// The same in place; raises the version.
EBB_API void triangle_(const TensorBase& self, int64_t diagonal, Triangle part);
/// The diagonal of a matrix, copied, or a matrix with a vector on its diagonal.
EBB_API TensorBase diag(const TensorBase& self, int64_t diagonal);

}  // namespace ebb::ops
