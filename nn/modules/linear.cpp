#include <ebb/nn/modules/linear.h>

#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Identity()"; }

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) { LinearImpl::reset(); }

void LinearImpl::reset() {
  EBB_CHECK(options.in_features() >= 0 && options.out_features() >= 0,
            "Linear: the numbers of features must not be negative, got ", options.in_features(),
            " and ", options.out_features());
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()}))
                        : register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined() || bias.numel() == 0) return;
  const auto fan_in = static_cast<double>(options.in_features());
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features()
         << ", bias=" << (options.bias() ? "true" : "false") << ")";
}

Tensor LinearImpl::forward(const Tensor& input) { return functional::linear(input, weight, bias); }

void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Flatten(start_dim=" << options.start_dim()
         << ", end_dim=" << options.end_dim() << ")";
}

Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

}  // namespace ebb::nn
