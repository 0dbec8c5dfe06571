#include <ebb/nn/modules/loss.h>

#include <ebb/nn/functional.h>

namespace ebb::nn {

namespace {

/// A tensor of its own over the same memory, so that a clone can replace it.
Tensor own_handle(const Tensor& tensor) { return tensor.defined() ? tensor.detach() : Tensor(); }

}  // namespace

void MSELossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::MSELoss()"; }
Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::mse_loss(input, target, options);
}

NLLLossImpl::NLLLossImpl(NLLLossOptions options) : options(std::move(options)) {
  NLLLossImpl::reset();
}
void NLLLossImpl::reset() { weight = register_buffer("weight", own_handle(options.weight())); }
void NLLLossImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::NLLLoss()"; }
Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::nll_loss(input, target, NLLLossOptions(options).weight(weight));
}

CrossEntropyLossImpl::CrossEntropyLossImpl(CrossEntropyLossOptions options)
    : options(std::move(options)) {
  CrossEntropyLossImpl::reset();
}
void CrossEntropyLossImpl::reset() {
  weight = register_buffer("weight", own_handle(options.weight()));
}
void CrossEntropyLossImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::CrossEntropyLoss()";
}
Tensor CrossEntropyLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::cross_entropy(input, target, CrossEntropyLossOptions(options).weight(weight));
}

}  // namespace ebb::nn
