#include <ebb/core/ops/pool.h>

#include <ebb/core/error.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/pool_kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/spatial.h>

namespace ebb::ops {
namespace {

/// How many windows there are; with `ceil_mode` the last may reach beyond the padding, but has to
/// start before it.
int64_t pooled_size(const PoolShape& s, int d, bool ceil_mode) {
  if (!ceil_mode) {
    return window_count(s.in[d], s.kernel[d], s.stride[d], s.padding[d], s.dilation[d]);
  }
  const int64_t rest = s.in[d] + 2 * s.padding[d] - s.dilation[d] * (s.kernel[d] - 1) - 1;
  if (rest + s.stride[d] - 1 < 0) return 0;
  const int64_t count = (rest + s.stride[d] - 1) / s.stride[d] + 1;
  return (count - 1) * s.stride[d] >= s.in[d] + s.padding[d] ? count - 1 : count;
}

PoolShape shape_of(IntArrayRef input, const PoolParameters& p) {
  const DimVector images = batch_of_images(input, "input");
  PoolShape shape{.planes = images[0] * images[1],
                  .in = {images[2], images[3]},
                  .out = {},
                  .kernel = {},
                  .stride = {},
                  .padding = {},
                  .dilation = {}};
  read_pair(p.kernel_size, "kernel_size", 1, shape.kernel);
  read_pair(p.stride.empty() ? p.kernel_size : p.stride, "stride", 1, shape.stride);
  read_pair(p.padding, "padding", 0, shape.padding);
  read_pair(p.dilation, "dilation", 1, shape.dilation);
  for (int d = 0; d < 2; ++d) {
    EBB_CHECK(shape.padding[d] * 2 <= shape.kernel[d], "padding ", p.padding,
              " is more than half of kernel_size ", p.kernel_size);
    shape.out[d] = pooled_size(shape, d, p.ceil_mode);
    EBB_CHECK(shape.out[d] > 0, "a window of ", p.kernel_size, " with padding ", p.padding,
              " and dilation ", p.dilation, " is larger than input of sizes ", input);
  }
  return shape;
}

DimVector output_sizes(IntArrayRef input, const PoolShape& shape) {
  DimVector sizes(input);
  sizes[sizes.size() - 2] = shape.out[0];
  sizes[sizes.size() - 1] = shape.out[1];
  return sizes;
}

bool has_wide_offsets(const PoolShape& shape) { return shape.kernel[0] * shape.kernel[1] > 255; }

const PoolKernels& pool_kernels(const TensorBase& tensor) {
  return *kernels(tensor.device()).pool;
}

void check_output(const TensorBase& tensor, const char* name, const DimVector& expected) {
  EBB_CHECK(tensor.sizes() == IntArrayRef(expected), name, " has sizes ", tensor.sizes(),
            ", the output of the pooling ", expected);
}

void check_offsets(const TensorBase& offsets, const PoolShape& shape, const DimVector& expected) {
  check_output(offsets, "offsets", expected);
  const ScalarType dtype = has_wide_offsets(shape) ? kInt : kByte;
  EBB_CHECK(offsets.scalar_type() == dtype, "offsets has dtype ", offsets.scalar_type(),
            ", but a window of ", shape.kernel[0], " x ", shape.kernel[1], " needs ", dtype);
}

}  // namespace

std::pair<TensorBase, TensorBase> max_pool2d(const TensorBase& self,
                                             const PoolParameters& parameters) {
  const PoolShape shape = shape_of(self.sizes(), parameters);
  const TensorBase input = row_major(self);
  const DimVector sizes = output_sizes(self.sizes(), shape);
  const bool wide = has_wide_offsets(shape);
  TensorBase result = empty(sizes, self.scalar_type(), self.device());
  TensorBase offsets = empty(sizes, wide ? kInt : kByte, self.device());
  if (result.numel() > 0) {
    pool_kernels(self).max({.shape = shape,
                            .dtype = self.scalar_type(),
                            .input = input.data_ptr(),
                            .output = result.data_ptr(),
                            .offsets = offsets.data_ptr(),
                            .wide_offsets = wide});
  }
  return {std::move(result), std::move(offsets)};
}

TensorBase max_pool2d_backward(const TensorBase& grad_output, const TensorBase& offsets,
                               IntArrayRef input_size, const PoolParameters& parameters) {
  const PoolShape shape = shape_of(input_size, parameters);
  const DimVector sizes = output_sizes(input_size, shape);
  check_output(grad_output, "grad_output", sizes);
  check_offsets(offsets, shape, sizes);
  check_same_device("grad_output", grad_output, "offsets", offsets);
  const TensorBase grad = row_major(grad_output);
  const TensorBase chosen = row_major(offsets);
  TensorBase result = empty(input_size, grad_output.scalar_type(), grad_output.device());
  if (result.numel() == 0) return result;
  pool_kernels(grad).max_backward({.shape = shape,
                                   .dtype = grad.scalar_type(),
                                   .input = grad.data_ptr(),
                                   .output = result.data_ptr(),
                                   .offsets = chosen.data_ptr(),
                                   .wide_offsets = has_wide_offsets(shape)});
  return result;
}

TensorBase max_pool2d_gather(const TensorBase& self, const TensorBase& offsets,
                             const PoolParameters& parameters) {
  const PoolShape shape = shape_of(self.sizes(), parameters);
  const DimVector sizes = output_sizes(self.sizes(), shape);
  check_offsets(offsets, shape, sizes);
  check_same_device("self", self, "offsets", offsets);
  const TensorBase input = row_major(self);
  const TensorBase chosen = row_major(offsets);
  TensorBase result = empty(sizes, self.scalar_type(), self.device());
  if (result.numel() == 0) return result;
  pool_kernels(self).max_gather({.shape = shape,
                                 .dtype = self.scalar_type(),
                                 .input = input.data_ptr(),
                                 .output = result.data_ptr(),
                                 .offsets = chosen.data_ptr(),
                                 .wide_offsets = has_wide_offsets(shape)});
  return result;
}

namespace {

int64_t divisor_of(const AverageParameters& average) {
  EBB_CHECK(average.divisor_override.value_or(1) != 0, "divisor_override must not be zero");
  return average.divisor_override.value_or(0);
}

}  // namespace

TensorBase avg_pool2d(const TensorBase& self, const PoolParameters& parameters,
                      const AverageParameters& average) {
  const PoolShape shape = shape_of(self.sizes(), parameters);
  const int64_t divisor = divisor_of(average);
  const TensorBase input = row_major(self);
  TensorBase result = empty(output_sizes(self.sizes(), shape), self.scalar_type(), self.device());
  if (result.numel() == 0) return result;
  pool_kernels(self).average({.shape = shape,
                              .dtype = self.scalar_type(),
                              .input = input.data_ptr(),
                              .output = result.data_ptr(),
                              .count_include_pad = average.count_include_pad,
                              .divisor = divisor});
  return result;
}

TensorBase avg_pool2d_backward(const TensorBase& grad_output, IntArrayRef input_size,
                               const PoolParameters& parameters, const AverageParameters& average) {
  const PoolShape shape = shape_of(input_size, parameters);
  const int64_t divisor = divisor_of(average);
  check_output(grad_output, "grad_output", output_sizes(input_size, shape));
  const TensorBase grad = row_major(grad_output);
  TensorBase result = empty(input_size, grad.scalar_type(), grad.device());
  if (result.numel() == 0) return result;
  pool_kernels(grad).average_backward({.shape = shape,
                                       .dtype = grad.scalar_type(),
                                       .input = grad.data_ptr(),
                                       .output = result.data_ptr(),
                                       .count_include_pad = average.count_include_pad,
                                       .divisor = divisor});
  return result;
}

}  // namespace ebb::ops
