#pragma once

#include <cstdint>

#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of LoRALinear: the sizes of the last dimension of input and output, and the rank of the
/// update.
struct LoRALinearOptions {
  LoRALinearOptions(int64_t in_features, int64_t out_features, int64_t rank)
      : in_features_(in_features),
        out_features_(out_features),
        rank_(rank),
        alpha_(static_cast<double>(rank)) {}

  EBB_ARG(int64_t, in_features);
  EBB_ARG(int64_t, out_features);
  EBB_ARG(int64_t, rank);
  /// The update is scaled by alpha / rank; by default that is 1.
  EBB_ARG(double, alpha);
  /// Whether the frozen layer adds a vector.
  EBB_ARG(bool, bias) = true;
};

}  // namespace ebb::nn
