#pragma once

#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// exp(self) / sum(exp(self)) along `dim`; the elements are converted to `dtype` first. A line of
/// nothing but -inf gives NaN.
EBB_API TensorBase softmax(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype);
EBB_API TensorBase log_softmax(const TensorBase& self, int64_t dim,
                               std::optional<ScalarType> dtype);
/// result * (grad_output - sum(grad_output * result)).
EBB_API TensorBase softmax_backward(const TensorBase& grad_output, const TensorBase& result,
                                    int64_t dim);
/// grad_output - exp(result) * sum(grad_output).
EBB_API TensorBase log_softmax_backward(const TensorBase& grad_output, const TensorBase& result,
                                        int64_t dim);

}  // namespace ebb::ops
