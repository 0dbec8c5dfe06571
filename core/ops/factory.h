#pragma once

#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// A contiguous tensor with memory of its own, its values not set. Throws an Error if a size is
/// negative or the bytes overflow, and OutOfMemoryError.
[[nodiscard]] EBB_API TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device);

/// The same with any strides that are not negative; the storage is as long as they reach.
[[nodiscard]] EBB_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                               ScalarType dtype, Device device);

/// A tensor like `self`, of another dtype if given. A dense one keeps its strides; others become
/// contiguous.
[[nodiscard]] EBB_API TensorBase empty_like(const TensorBase& self,
                                            ScalarType dtype = ScalarType::Undefined);

}  // namespace ebb::ops
