#pragma once

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// Writes the values of `source`, converted and broadcast, to `self` and raises its version. Throws
/// an Error if source does not expand to self's sizes, or if they overlap in part. `non_blocking`: a
/// copy between a device and pinned memory of the host may still be under way on return.
EBB_API void copy_(const TensorBase& self, const TensorBase& source, bool non_blocking = false);

/// A dense copy with the order of strides of `self`.
EBB_API TensorBase clone(const TensorBase& self);
/// A row-major copy.
EBB_API TensorBase clone_contiguous(const TensorBase& self);
/// A dense copy with the order of strides of `self`, in that dtype on that device. `non_blocking` as
/// for copy_.
EBB_API TensorBase to(const TensorBase& self, ScalarType dtype, Device device,
                      bool non_blocking = false);

/// A copy in pinned memory of the host, dense with the order of strides of `self`, which must be on
/// the CPU. Throws an Error if there is no CUDA device.
EBB_API TensorBase pin_memory(const TensorBase& self);

/// The only element. Throws if there are more, or none.
EBB_API Scalar item(const TensorBase& self);

}  // namespace ebb::ops
