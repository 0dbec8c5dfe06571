#pragma once

#include <optional>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb::ops {

/// The running sum along `dim`. Integers and bools give int64 unless `dtype` says otherwise.
EBB_API TensorBase cumsum(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype);
/// The running product along `dim`; dtypes as cumsum.
EBB_API TensorBase cumprod(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype);

}  // namespace ebb::ops
