#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <variant>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/arg.h>
#include <ebb/nn/enum.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

namespace detail {

/// How the border is padded: with zeros; the other modes are not implemented.
using conv_padding_mode_t =
    std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
/// How much on both sides of each dimension; nothing (kValid); or as much as keeps the size
/// (kSame).
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

}  // namespace detail

/// Options of a convolution over D dimensions.
template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;

  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(std::move(kernel_size)) {}

  EBB_ARG(int64_t, in_channels);
  EBB_ARG(int64_t, out_channels);
  EBB_ARG(ExpandingArray<D>, kernel_size);
  EBB_ARG(ExpandingArray<D>, stride) = 1;
  EBB_ARG(padding_t, padding) = 0;

 public:
  decltype(auto) padding(std::initializer_list<int64_t> values) {
    return padding(IntArrayRef(values));
  }

  /// The distance of the elements of a window.
  EBB_ARG(ExpandingArray<D>, dilation) = 1;
  /// Into how many groups the channels fall that do not see each other.
  EBB_ARG(int64_t, groups) = 1;
  EBB_ARG(bool, bias) = true;
  EBB_ARG(padding_mode_t, padding_mode) = kZeros;
};

using Conv2dOptions = ConvOptions<2>;

namespace functional {

/// Options of a convolution as a function, which is given its weight.
template <size_t D>
struct ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;

  EBB_ARG(Tensor, bias) = Tensor();
  EBB_ARG(ExpandingArray<D>, stride) = 1;
  EBB_ARG(padding_t, padding) = 0;

 public:
  decltype(auto) padding(std::initializer_list<int64_t> values) {
    return padding(IntArrayRef(values));
  }

  EBB_ARG(ExpandingArray<D>, dilation) = 1;
  EBB_ARG(int64_t, groups) = 1;
};

using Conv2dFuncOptions = ConvFuncOptions<2>;

}  // namespace functional
}  // namespace ebb::nn
