#include <ebb/nn/modules/normalization.h>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/ops/functions.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

namespace {

std::optional<Tensor> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

}  // namespace

LayerNormImpl::LayerNormImpl(LayerNormOptions options) : options(std::move(options)) {
  LayerNormImpl::reset();
}

void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  const auto parameter = [&](const char* name) {
    return register_parameter(name, affine ? ebb::empty(options.normalized_shape()) : Tensor(),
                              affine);
  };
  weight = parameter("weight");
  bias = parameter("bias");
  reset_parameters();
}

void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
         << ", eps=" << options.eps()
         << ", elementwise_affine=" << (options.elementwise_affine() ? "true" : "false") << ")";
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return ebb::layer_norm(input, options.normalized_shape(), if_defined(weight), if_defined(bias),
                         options.eps());
}

}  // namespace ebb::nn
