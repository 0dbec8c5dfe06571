#pragma once

#include <ebb/core/ops/copy.h>

namespace ebb::ops {

/// self if its elements lie in row-major order, else a copy where they do.
inline TensorBase row_major(const TensorBase& self) {
  return self.is_contiguous() ? self : clone_contiguous(self);
}

}  // namespace ebb::ops
