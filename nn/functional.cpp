#include <ebb/nn/functional.h>

#include <ebb/autograd/ops/functions.h>

namespace ebb::nn::functional {

namespace {

std::optional<Tensor> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

/// A convolution whose result has the sizes of its input. Where the zeros of a dimension are odd in
/// number, the right side gets one more: both sides get as many, and the first result is left out.
Tensor conv2d_same(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options) {
  std::array<int64_t, 2> padding{};
  std::array<bool, 2> is_odd{};
  for (size_t i = 0; i < 2; ++i) {
    EBB_CHECK(options.stride()[i] == 1, "conv2d: padding='same' is not supported for strided ",
              "convolutions (stride ", options.stride(), ")");
    const int64_t total = options.dilation()[i] * (weight.size(static_cast<int64_t>(i) - 2) - 1);
    is_odd[i] = total % 2 != 0;
    padding[i] = (total + 1) / 2;
  }
  Tensor result = ebb::conv2d(input, weight, if_defined(options.bias()), options.stride(), padding,
                              options.dilation(), options.groups());
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t dim = i - 2;
    if (is_odd[static_cast<size_t>(i)]) result = result.narrow(dim, 1, result.size(dim) - 1);
  }
  return result;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return ebb::linear(input, weight, if_defined(bias));
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options) {
  if (std::holds_alternative<enumtype::kSame>(options.padding())) {
    return conv2d_same(input, weight, options);
  }
  const auto* padding = std::get_if<ExpandingArray<2>>(&options.padding());
  return ebb::conv2d(input, weight, if_defined(options.bias()), options.stride(),
                     padding != nullptr ? IntArrayRef(*padding) : IntArrayRef(0),
                     options.dilation(), options.groups());
}

Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return ebb::max_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                         options.dilation(), options.ceil_mode());
}

Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return ebb::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                         options.ceil_mode(), options.count_include_pad(),
                         options.divisor_override());
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  EBB_CHECK(options.momentum().has_value(),
            "batch_norm: momentum must be a number here; BatchNorm ",
            "modules take nullopt, for the mean over all batches");
  return ebb::batch_norm(input, if_defined(options.weight()), if_defined(options.bias()),
                         if_defined(running_mean), if_defined(running_var), options.training(),
                         *options.momentum(), options.eps());
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return ebb::layer_norm(input, options.normalized_shape(), if_defined(options.weight()),
                         if_defined(options.bias()), options.eps());
}

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  EBB_CHECK_AS(NotImplementedError, !options.max_norm(), "embedding: max_norm is not implemented");
  int64_t padding_idx = -1;
  if (options.padding_idx()) {
    const int64_t rows = weight.size(0);
    padding_idx = *options.padding_idx();
    EBB_CHECK(padding_idx >= -rows && padding_idx < rows, "embedding: padding_idx ", padding_idx,
              " must be within num_embeddings (", rows, ")");
    if (padding_idx < 0) padding_idx += rows;
  }
  return ebb::embedding(weight, input, padding_idx, options.scale_grad_by_freq(), options.sparse());
}

Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return ebb::one_hot(tensor, num_classes);
}

Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  EBB_CHECK(options.p() >= 0 && options.p() <= 1,
            "dropout probability has to be between 0 and 1, but got ", options.p());
  if (!options.inplace()) return ebb::dropout(input, options.p(), options.training());
  ebb::dropout_(input, options.p(), options.training());
  return input;
}

Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  if (!options.inplace()) return ebb::relu(input);
  input.relu_();
  return input;
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return ebb::gelu(input, options.approximate());
}

Tensor silu(const Tensor& input) { return ebb::silu(input); }

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return ebb::softmax(input, options.dim(), options.dtype());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return ebb::log_softmax(input, options.dim(), options.dtype());
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  return ebb::mse_loss(input, target, reduction_number(options.reduction()));
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  return ebb::nll_loss(input, target, if_defined(options.weight()),
                       reduction_number(options.reduction()), options.ignore_index());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return ebb::cross_entropy_loss(input, target, if_defined(options.weight()),
                                 reduction_number(options.reduction()), options.ignore_index(),
                                 options.label_smoothing());
}

Tensor linear_cross_entropy(const Tensor& input, const Tensor& weight, const Tensor& target,
                            const LinearCrossEntropyFuncOptions& options) {
  return ebb::linear_cross_entropy(input, weight, target, if_defined(options.bias()),
                                   reduction_number(options.reduction()), options.ignore_index(),
                                   options.label_smoothing(), options.chunk());
}

}  // namespace ebb::nn::functional
