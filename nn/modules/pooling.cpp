#include <ebb/nn/modules/pooling.h>

#include <ebb/nn/functional.h>

namespace ebb::nn {

void MaxPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MaxPool2d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding()
         << ", dilation=" << options.dilation()
         << ", ceil_mode=" << (options.ceil_mode() ? "true" : "false") << ")";
}

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return functional::max_pool2d(input, options);
}

void AvgPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::AvgPool2d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

Tensor AvgPool2dImpl::forward(const Tensor& input) {
  return functional::avg_pool2d(input, options);
}

}  // namespace ebb::nn
