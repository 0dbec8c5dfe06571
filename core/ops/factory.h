#pragma once

#include <cstdint>
#include <optional>

#include <ebb/core/random/generator.h>
#include <ebb/core/tensor/scalar.h>
#include <ebb/core/tensor/tensor_base.h>

// New tensors. Every tensor with memory of its own gets it through `empty` or `empty_strided`.

namespace ebb::ops {

/// A contiguous tensor with memory of its own, its values not set. Throws an Error if a size is
/// negative or the bytes overflow, and OutOfMemoryError.
[[nodiscard]] EBB_API TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device);

/// The same with any strides that are not negative; the storage is as long as they reach.
[[nodiscard]] EBB_API TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                               ScalarType dtype, Device device);

/// The same on the CPU, in pinned memory, which devices copy from and to while the host goes on.
/// Throws an Error if there is no CUDA device.
[[nodiscard]] EBB_API TensorBase empty_pinned(IntArrayRef sizes, IntArrayRef strides,
                                              ScalarType dtype);

/// A tensor like `self`, of another dtype if given. A dense one keeps its strides; others become
/// contiguous.
[[nodiscard]] EBB_API TensorBase empty_like(const TensorBase& self,
                                            ScalarType dtype = ScalarType::Undefined);

/// How many elements a storage needs for that geometry at offset 0. Throws an Error if a size or
/// stride is negative, or the bytes overflow.
[[nodiscard]] EBB_API int64_t checked_storage_numel(IntArrayRef sizes, IntArrayRef strides,
                                                    size_t element_bytes);

/// start, start + step, ... below `end`. Integer dtypes are computed in int64, others in double.
[[nodiscard]] EBB_API TensorBase arange(const Scalar& start, const Scalar& end, const Scalar& step,
                                        ScalarType dtype, Device device);
/// `steps` evenly spaced numbers from start to end.
[[nodiscard]] EBB_API TensorBase linspace(const Scalar& start, const Scalar& end, int64_t steps,
                                          ScalarType dtype, Device device);
/// 0 .. n - 1 in random order (Fisher and Yates' shuffle).
[[nodiscard]] EBB_API TensorBase randperm(int64_t n, ScalarType dtype, Device device,
                                          const std::optional<Generator>& generator);

}  // namespace ebb::ops
