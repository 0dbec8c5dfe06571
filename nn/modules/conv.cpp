#include <ebb/nn/modules/conv.h>

#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

namespace {

void check(const Conv2dOptions& options) {
  EBB_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
            "in_channels, groups and out_channels must be positive, got ", options.in_channels(),
            ", ", options.groups(), " and ", options.out_channels());
  EBB_CHECK(options.in_channels() % options.groups() == 0, "in_channels (", options.in_channels(),
            ") must be divisible by groups (", options.groups(), ")");
  EBB_CHECK(options.out_channels() % options.groups() == 0, "out_channels (",
            options.out_channels(), ") must be divisible by groups (", options.groups(), ")");
  for (size_t i = 0; i < 2; ++i) {
    EBB_CHECK(options.kernel_size()[i] > 0 && options.stride()[i] > 0 && options.dilation()[i] > 0,
              "kernel_size, stride and dilation must be positive, got ", options.kernel_size(),
              ", ", options.stride(), " and ", options.dilation());
    EBB_CHECK(
        !std::holds_alternative<enumtype::kSame>(options.padding()) || options.stride()[i] == 1,
        "padding='same' is not supported for strided convolutions");
  }
  EBB_CHECK_AS(NotImplementedError,
               std::holds_alternative<enumtype::kZeros>(options.padding_mode()),
               "Conv2d pads with zeros only; padding_mode ",
               enumtype::get_enum_name(options.padding_mode()), " is not implemented");
}

}  // namespace

Conv2dImpl::Conv2dImpl(Conv2dOptions options) : options(std::move(options)) { Conv2dImpl::reset(); }

void Conv2dImpl::reset() {
  const OpName name("Conv2d");
  check(options);
  weight = register_parameter(
      "weight", empty({options.out_channels(), options.in_channels() / options.groups(),
                       options.kernel_size()[0], options.kernel_size()[1]}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_channels()}))
                        : register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_parameters();
}

void Conv2dImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight)));
  const double bound = 1 / std::sqrt(fan_in);
  init::uniform_(bias, -bound, bound);
}

void Conv2dImpl::pretty_print(std::ostream& stream) const {
  const auto differs = [](const ExpandingArray<2>& array, int64_t value) {
    return array[0] != value || array[1] != value;
  };
  stream << "ebb::nn::Conv2d(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  if (const auto* padding = std::get_if<ExpandingArray<2>>(&options.padding())) {
    if (differs(*padding, 0)) stream << ", padding=" << *padding;
  } else {
    const bool same = std::holds_alternative<enumtype::kSame>(options.padding());
    stream << ", padding=" << (same ? "'same'" : "'valid'");
  }
  if (differs(options.dilation(), 1)) stream << ", dilation=" << options.dilation();
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=false";
  stream << ")";
}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return functional::conv2d(input, weight,
                            functional::Conv2dFuncOptions()
                                .bias(bias)
                                .stride(options.stride())
                                .padding(options.padding())
                                .dilation(options.dilation())
                                .groups(options.groups()));
}

}  // namespace ebb::nn
