#pragma once

#include <cstdint>
#include <optional>

#include <ebb/nn/arg.h>
#include <ebb/nn/expanding_array.h>

namespace ebb::nn {

/// Options of max pooling over D dimensions. Windows do not overlap unless `stride` says so.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size)  // NOLINT: implicit
      : kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);
  EBB_ARG(ExpandingArray<D>, stride);
  EBB_ARG(ExpandingArray<D>, padding) = 0;
  /// The distance of the elements of a window.
  EBB_ARG(ExpandingArray<D>, dilation) = 1;
  /// Whether a window that is cut off by the border counts.
  EBB_ARG(bool, ceil_mode) = false;
};

using MaxPool2dOptions = MaxPoolOptions<2>;

/// Options of mean pooling over D dimensions. Windows do not overlap unless `stride` says so.
template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size)  // NOLINT: implicit
      : kernel_size_(kernel_size), stride_(kernel_size) {}

  EBB_ARG(ExpandingArray<D>, kernel_size);
  EBB_ARG(ExpandingArray<D>, stride);
  EBB_ARG(ExpandingArray<D>, padding) = 0;
  EBB_ARG(bool, ceil_mode) = false;
  /// Whether the zeros of the padding count as elements of a window.
  EBB_ARG(bool, count_include_pad) = true;
  /// What a window's sum is divided by, instead of its number of elements.
  EBB_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};

using AvgPool2dOptions = AvgPoolOptions<2>;

namespace functional {
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
}  // namespace functional

}  // namespace ebb::nn
