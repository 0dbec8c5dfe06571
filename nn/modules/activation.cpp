#include <ebb/nn/modules/activation.h>

#include <ebb/autograd/ops/functions.h>
#include <ebb/nn/functional.h>

namespace ebb::nn {

void ReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ReLU(" << (options.inplace() ? "inplace=true" : "") << ")";
}
void GELUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::GELU(";
  if (options.approximate() != "none") stream << "approximate='" << options.approximate() << "'";
  stream << ")";
}
void SiLUImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::SiLU()"; }
void TanhImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Tanh()"; }
void SigmoidImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Sigmoid()"; }
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Softmax(dim=" << options.dim() << ")";
}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LogSoftmax(dim=" << options.dim() << ")";
}

Tensor ReLUImpl::forward(Tensor input) { return functional::relu(std::move(input), options); }
Tensor GELUImpl::forward(const Tensor& input) { return functional::gelu(input, options); }
Tensor SiLUImpl::forward(const Tensor& input) { return ebb::silu(input); }
Tensor TanhImpl::forward(const Tensor& input) { return ebb::tanh(input); }
Tensor SigmoidImpl::forward(const Tensor& input) { return ebb::sigmoid(input); }
Tensor SoftmaxImpl::forward(const Tensor& input) { return ebb::softmax(input, options.dim()); }
Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return ebb::log_softmax(input, options.dim());
}

}  // namespace ebb::nn
