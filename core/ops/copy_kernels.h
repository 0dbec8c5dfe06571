#pragma once

#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// Copies with conversion.
struct CopyKernels {
  /// Operand 0 becomes operand 1, converted to its dtype. They may not overlap unless they are the
  /// same. The compute type is that of the source.
  void (*copy)(const TensorIterator& iterator);
};

}  // namespace ebb
