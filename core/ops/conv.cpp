#include <ebb/core/ops/conv.h>

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/conv_kernels.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/spatial.h>

namespace ebb::ops {
namespace {

/// The shape of a convolution; throws if input and weight do not fit.
ConvShape shape_of(IntArrayRef input, IntArrayRef weight, const ConvParameters& parameters) {
  const DimVector images = batch_of_images(input, "input");
  EBB_CHECK(weight.size() == 4, "expected weight [O, C / groups, kH, kW], got sizes ", weight);
  const int64_t groups = parameters.groups;
  EBB_CHECK(groups > 0, "groups must be at least 1, got ", groups);
  EBB_CHECK(weight[1] * groups == images[1] && weight[0] % groups == 0, "weight of sizes ", weight,
            " with ", groups, " group", groups == 1 ? "" : "s", " does not fit input of sizes ",
            input, ": it needs ", weight[1] * groups,
            " input channels and a number of output channels that the groups divide");
  ConvShape shape{.batch = images[0],
                  .groups = groups,
                  .in_channels = weight[1],
                  .out_channels = weight[0] / groups,
                  .in = {images[2], images[3]},
                  .out = {},
                  .kernel = {weight[2], weight[3]},
                  .stride = {},
                  .padding = {},
                  .dilation = {}};
  read_pair(parameters.stride, "stride", 1, shape.stride);
  read_pair(parameters.padding, "padding", 0, shape.padding);
  read_pair(parameters.dilation, "dilation", 1, shape.dilation);
  for (int d = 0; d < 2; ++d) {
    shape.out[d] = window_count(shape.in[d], shape.kernel[d], shape.stride[d], shape.padding[d],
                                shape.dilation[d]);
    EBB_CHECK(shape.out[d] > 0 && shape.kernel[d] > 0, "the kernel of weight ", weight,
              " with padding ", parameters.padding, " and dilation ", parameters.dilation,
              " is larger than input of sizes ", input);
  }
  return shape;
}

DimVector output_sizes(const ConvShape& s, size_t input_dims) {
  DimVector sizes{s.groups * s.out_channels, s.out[0], s.out[1]};
  if (input_dims == 4) sizes.insert(0, s.batch);
  return sizes;
}

void check_pair(const TensorBase& a, const char* a_name, const TensorBase& b, const char* b_name) {
  EBB_CHECK(a.scalar_type() == b.scalar_type(), a_name, " has dtype ", a.scalar_type(), ", ",
            b_name, " ", b.scalar_type(), "; convert one with .to()");
  check_same_device(a_name, a, b_name, b);
}

void check_grad_output(const TensorBase& grad_output, const ConvShape& shape, size_t input_dims) {
  const DimVector expected = output_sizes(shape, input_dims);
  EBB_CHECK(grad_output.sizes() == IntArrayRef(expected), "grad_output has sizes ",
            grad_output.sizes(), ", the output ", expected);
}

ImageView view_of(const TensorBase& images) {
  ImageView view{.data = images.data_ptr(), .strides = {}};
  const size_t missing = images.dim() == 3 ? 1 : 0;
  for (size_t d = missing; d < 4; ++d) view.strides[d] = images.strides()[d - missing];
  return view;
}

const ConvKernels& conv_kernels(const TensorBase& tensor) {
  return *kernels(tensor.device()).conv;
}

/// In how many pieces the pixels are summed for the gradient of the weight: enough for some
/// threads, of a few thousand pixels each, with at most a few MiB of partial results.
int64_t weight_pieces(const ConvShape& s) {
  constexpr int64_t kLeastPixels = 2048;
  constexpr int64_t kMaxPieces = 16;
  constexpr int64_t kMaxElements = int64_t{1} << 20;
  const int64_t elements = s.out_channels * s.in_channels * s.taps();
  const int64_t by_pixels = s.batch * s.out_pixels() / kLeastPixels;
  return std::clamp<int64_t>(std::min(by_pixels, kMaxElements / std::max<int64_t>(1, elements)), 1,
                             kMaxPieces);
}

}  // namespace

TensorBase conv2d(const TensorBase& input, const TensorBase& weight,
                  const std::optional<TensorBase>& bias, const ConvParameters& parameters) {
  const ConvShape shape = shape_of(input.sizes(), weight.sizes(), parameters);
  check_pair(input, "input", weight, "weight");
  const bool has_bias = bias && bias->defined();
  TensorBase added;
  if (has_bias) {
    check_pair(input, "input", *bias, "bias");
    EBB_CHECK(bias->sizes() == IntArrayRef(weight.size(0)), "bias has sizes ", bias->sizes(),
              ", but weight ", weight.sizes(), " needs [", weight.size(0), "]");
    added = row_major(*bias);
  }
  const TensorBase matrix = row_major(weight);
  TensorBase result =
      empty(output_sizes(shape, input.sizes().size()), input.scalar_type(), input.device());
  if (result.numel() == 0) return result;
  conv_kernels(input).forward({.shape = shape,
                               .dtype = input.scalar_type(),
                               .image = view_of(input),
                               .matrix = matrix.data_ptr(),
                               .bias = has_bias ? added.data_ptr() : nullptr,
                               .output = result.data_ptr()});
  return result;
}

TensorBase conv2d_backward_input(IntArrayRef input_size, const TensorBase& grad_output,
                                 const TensorBase& weight, const ConvParameters& parameters) {
  const ConvShape shape = shape_of(input_size, weight.sizes(), parameters);
  check_pair(grad_output, "grad_output", weight, "weight");
  check_grad_output(grad_output, shape, input_size.size());
  const TensorBase matrix = row_major(weight);
  TensorBase result = empty(input_size, weight.scalar_type(), weight.device());
  if (result.numel() == 0) return result;
  conv_kernels(weight).backward_input({.shape = shape,
                                       .dtype = weight.scalar_type(),
                                       .image = view_of(grad_output),
                                       .matrix = matrix.data_ptr(),
                                       .output = result.data_ptr()});
  return result;
}

TensorBase conv2d_backward_weight(IntArrayRef weight_size, const TensorBase& grad_output,
                                  const TensorBase& input, const ConvParameters& parameters) {
  const ConvShape shape = shape_of(input.sizes(), weight_size, parameters);
  check_pair(grad_output, "grad_output", input, "input");
  check_grad_output(grad_output, shape, input.sizes().size());
  const TensorBase matrix = row_major(grad_output);
  TensorBase result = empty(weight_size, input.scalar_type(), input.device());
  if (result.numel() == 0) return result;
  // Other devices take scratch of their own.
  const int64_t pieces = input.device().is_cpu() ? weight_pieces(shape) : 0;
  const size_t bytes = input.scalar_type() == kDouble ? sizeof(double) : sizeof(float);
  const int64_t elements = shape.out_channels * shape.in_channels * shape.taps();
  const memory::Workspace workspace(static_cast<size_t>(pieces * elements) * bytes, input.device());
  conv_kernels(input).backward_weight({.shape = shape,
                                       .dtype = input.scalar_type(),
                                       .image = view_of(input),
                                       .matrix = matrix.data_ptr(),
                                       .output = result.data_ptr(),
                                       .pieces = pieces,
                                       .workspace = workspace.data()});
  return result;
}

}  // namespace ebb::ops
