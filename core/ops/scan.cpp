#include <ebb/core/ops/scan.h>

#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/scan_kernels.h>

namespace ebb::ops {
namespace {

TensorBase scan(void (*kernel)(const ScanArguments&), const TensorBase& self, int64_t dim,
                std::optional<ScalarType> dtype) {
  dim = wrap_dim(dim, self.dim());
  const ScalarType type =
      dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
  const TensorBase input = row_major(self);
  TensorBase result = empty(self.sizes(), type, self.device());
  if (self.numel() == 0) return result;
  kernel({.shape = line_shape(self.sizes(), dim),
          .compute = compute_type(type),
          .input = input.data_ptr(),
          .input_dtype = self.scalar_type(),
          .output = result.data_ptr(),
          .output_dtype = type});
  return result;
}

}  // namespace

TensorBase cumsum(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype) {
  return scan(kernels(self.device()).scan->cumsum, self, dim, dtype);
}

TensorBase cumprod(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype) {
  return scan(kernels(self.device()).scan->cumprod, self, dim, dtype);
}

}  // namespace ebb::ops
