#pragma once

#include <tuple>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// The elements in order along `dim` and their int64 indices; equal ones keep their order, NaN
/// counts as the largest.
EBB_API std::tuple<TensorBase, TensorBase> sort(const TensorBase& self, int64_t dim,
                                                bool descending);
/// The indices alone.
EBB_API TensorBase argsort(const TensorBase& self, int64_t dim, bool descending);
/// The k first of them, in order.
EBB_API std::tuple<TensorBase, TensorBase> topk(const TensorBase& self, int64_t k, int64_t dim,
                                                bool largest);

}  // namespace ebb::ops
