#pragma once

#include <ebb/core/error.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// What check_same_device throws.
[[noreturn]] EBB_API void raise_devices(const char* name, const TensorBase& tensor,
                                        const char* other_name, const TensorBase& other);

/// Throws an Error that names both tensors unless they are on one device. The names are those of
/// the op's parameters.
inline void check_same_device(const char* name, const TensorBase& tensor, const char* other_name,
                              const TensorBase& other) {
  if (!(tensor.device() == other.device())) [[unlikely]] {
    raise_devices(name, tensor, other_name, other);
  }
}

}  // namespace ebb::ops
