#pragma once

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// Writes `value`, converted to its dtype, to all elements of `self` and raises its version.
EBB_API void fill_(const TensorBase& self, const Scalar& value);
/// The same for memory that nobody has seen yet: no checks, the version stays.
EBB_API void fill_fresh(const TensorBase& self, const Scalar& value);
/// A dense tensor like `self` in sizes, dtype, device and the order of strides, full of `value`.
EBB_API TensorBase filled_like(const TensorBase& self, const Scalar& value);

}  // namespace ebb::ops
