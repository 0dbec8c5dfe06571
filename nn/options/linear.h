#pragma once

#include <cstdint>

#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of Linear: the sizes of the last dimension of input and output.
struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}

  EBB_ARG(int64_t, in_features);
  EBB_ARG(int64_t, out_features);
  /// Whether a learned vector is added.
  EBB_ARG(bool, bias) = true;
};

/// Options of Flatten: the first and last of the dimensions that become one.
struct FlattenOptions {
  EBB_ARG(int64_t, start_dim) = 1;
  EBB_ARG(int64_t, end_dim) = -1;
};

}  // namespace ebb::nn
