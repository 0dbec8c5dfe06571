#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ebb/core/tensor/scalar_type.h>
#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of ReLU: whether it overwrites its input.
struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT: implicit
  EBB_ARG(bool, inplace);
};

/// Options of GELU: "none" for the exact function, "tanh" for an approximation.
struct GELUOptions {
  EBB_ARG(std::string, approximate) = "none";
};

/// Options of Softmax: the dimension along which values sum to one.
struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  EBB_ARG(int64_t, dim);
};

/// Options of LogSoftmax.
struct LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  EBB_ARG(int64_t, dim);
};

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using GELUFuncOptions = GELUOptions;

/// Options of softmax as a function. `dtype`: what the input is converted to first.
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  EBB_ARG(int64_t, dim);
  EBB_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};

/// Options of log_softmax as a function.
struct LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  EBB_ARG(int64_t, dim);
  EBB_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};

}  // namespace functional
}  // namespace ebb::nn
