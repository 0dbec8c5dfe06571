#pragma once

#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of Dropout: the probability with which an element becomes zero.
struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}  // NOLINT: implicit

  EBB_ARG(double, p);
  EBB_ARG(bool, inplace) = false;
};

namespace functional {

/// Options of dropout as a function.
struct DropoutFuncOptions {
  EBB_ARG(double, p) = 0.5;
  EBB_ARG(bool, training) = true;
  EBB_ARG(bool, inplace) = false;
};

}  // namespace functional
}  // namespace ebb::nn
