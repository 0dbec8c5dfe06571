#pragma once

#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

// Products of matrices. Both sides are of one dtype (any but bool); 16-bit floats are multiplied
// and added in float32 and rounded once. Strides are read as they are: transposed, expanded and
// padded inputs are not copied. The result is the only allocation.

namespace ebb::ops {

/// [m, k] and [k, n] to [m, n].
EBB_API TensorBase mm(const TensorBase& self, const TensorBase& mat2);
/// [b, m, k] and [b, k, n] to [b, m, n].
EBB_API TensorBase bmm(const TensorBase& self, const TensorBase& mat2);
/// [m, k] and [k] to [m].
EBB_API TensorBase mv(const TensorBase& self, const TensorBase& vec);
/// [k] and [k] to [].
EBB_API TensorBase dot(const TensorBase& self, const TensorBase& tensor);
/// Vectors, matrices and batches of matrices as torch.matmul: a vector is a row on the left, a
/// column on the right, and leaves no dimension; batch dimensions broadcast.
EBB_API TensorBase matmul(const TensorBase& self, const TensorBase& other);
/// beta * self + alpha * mat1 mat2, where self broadcasts to the product; not read if beta is zero.
EBB_API TensorBase addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2,
                         const Scalar& beta, const Scalar& alpha);
/// The same written to self, whose version rises.
EBB_API void addmm_(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2,
                    const Scalar& beta, const Scalar& alpha);
/// input [..., in] times the transpose of weight [out, in] (or [in]), plus bias [out] (or []).
EBB_API TensorBase linear(const TensorBase& input, const TensorBase& weight,
                          const std::optional<TensorBase>& bias);

}  // namespace ebb::ops
