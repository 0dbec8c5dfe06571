#include <ebb/core/ops/softmax.h>

#include <ebb/core/error.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/softmax_kernels.h>

namespace ebb::ops {
namespace {

TensorBase forward(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype, bool log) {
  dim = wrap_dim(dim, self.dim());
  const ScalarType type = dtype.value_or(self.scalar_type());
  EBB_CHECK(is_floating_point(type), "expected a floating-point tensor, got dtype ", type,
            " and sizes ", self.sizes(), "; pass dtype, for example kFloat");
  const TensorBase input = row_major(self);
  TensorBase result = empty(self.sizes(), type, self.device());
  if (self.numel() == 0) return result;
  kernels(self.device())
      .softmax->forward({.shape = line_shape(self.sizes(), dim),
                         .compute = compute_type(type),
                         .log = log,
                         .input = input.data_ptr(),
                         .input_dtype = self.scalar_type(),
                         .output = result.data_ptr(),
                         .output_dtype = type});
  return result;
}

TensorBase backward(const TensorBase& grad_output, const TensorBase& result, int64_t dim,
                    bool log) {
  dim = wrap_dim(dim, result.dim());
  EBB_CHECK(grad_output.sizes() == result.sizes(), "grad_output has sizes ", grad_output.sizes(),
            ", the result ", result.sizes(), "; they must be equal");
  EBB_CHECK(is_floating_point(result.scalar_type()) && is_floating_point(grad_output.scalar_type()),
            "expected floating-point tensors, got ", grad_output.scalar_type(), " and ",
            result.scalar_type());
  check_same_device("grad_output", grad_output, "result", result);
  const TensorBase grad = row_major(grad_output);
  const TensorBase saved = row_major(result);
  TensorBase grad_input = empty(result.sizes(), result.scalar_type(), result.device());
  if (result.numel() == 0) return grad_input;
  kernels(result.device())
      .softmax->backward({.shape = line_shape(result.sizes(), dim),
                          .compute = compute_type(result.scalar_type()),
                          .log = log,
                          .input = grad.data_ptr(),
                          .input_dtype = grad.scalar_type(),
                          .result = saved.data_ptr(),
                          .result_dtype = saved.scalar_type(),
                          .output = grad_input.data_ptr(),
                          .output_dtype = grad_input.scalar_type()});
  return grad_input;
}

}  // namespace

TensorBase softmax(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype) {
  return forward(self, dim, dtype, false);
}

TensorBase log_softmax(const TensorBase& self, int64_t dim, std::optional<ScalarType> dtype) {
  return forward(self, dim, dtype, true);
}

TensorBase softmax_backward(const TensorBase& grad_output, const TensorBase& result, int64_t dim) {
  return backward(grad_output, result, dim, false);
}

TensorBase log_softmax_backward(const TensorBase& grad_output, const TensorBase& result,
                                int64_t dim) {
  return backward(grad_output, result, dim, true);
}

}  // namespace ebb::ops
