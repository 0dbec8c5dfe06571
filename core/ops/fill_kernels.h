#pragma once

#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// Writing one number everywhere.
struct FillKernels {
  /// Operand 0, the only one, becomes `value` converted to its dtype.
  void (*fill)(const TensorIterator& iterator, const Scalar& value);
};

}  // namespace ebb
