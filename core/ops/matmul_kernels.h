#pragma once

#include <cstdint>

#include <ebb/core/tensor/array_ref.h>
#include <ebb/core/tensor/scalar.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// A matrix, or a batch of them; strides in elements, 0 repeats.
struct MatrixView {
  void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  DimVector batch_strides;  ///< one for each of MatmulArguments::batch
};

/// c = alpha a b + beta addend for each matrix of the batch. `c` may be `addend` itself and
/// overlaps nothing else. All are of one dtype; 16-bit floats are multiplied and added in float32,
/// integers wrap around.
struct MatmulArguments {
  int64_t m;  ///< rows of a and c
  int64_t n;  ///< columns of b and c
  int64_t k;  ///< columns of a, rows of b
  DimVector batch;
  ScalarType dtype;
  Scalar alpha = 1;
  Scalar beta = 0;  ///< if it is zero the addend is not read
  MatrixView a;
  MatrixView b;
  MatrixView addend;
  MatrixView c;
};

struct MatmulKernels {
  void (*product)(const MatmulArguments& arguments);
};

}  // namespace ebb
