#pragma once

// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <cstdint>
#include <string_view>

namespace ebb::autograd {

/// What autocast does with the floating-point inputs of an op, but float64 ones: nothing, a cast to
/// the low dtype, to float32, or to the widest among them.
enum class AutocastClass : uint8_t { none, low, fp32, promote };

/// The classes of an op. Where an op has a dtype of its own to choose (sum, softmax, ...), fp32
/// means that of the result.
struct AutocastRow {
  AutocastClass cuda = AutocastClass::none;
  AutocastClass cpu = AutocastClass::none;
};

/// A row with the name of its op.
struct NamedAutocastRow {
  std::string_view op;
  AutocastRow row;
};

/// The ops that have a class.
inline constexpr NamedAutocastRow kAutocastTable[] = {
    {"exp", {AutocastClass::fp32, AutocastClass::none}},
    {"expm1", {AutocastClass::fp32, AutocastClass::none}},
    {"log", {AutocastClass::fp32, AutocastClass::none}},
    {"log2", {AutocastClass::fp32, AutocastClass::none}},
    {"log10", {AutocastClass::fp32, AutocastClass::none}},
    {"log1p", {AutocastClass::fp32, AutocastClass::none}},
    {"rsqrt", {AutocastClass::fp32, AutocastClass::none}},
    {"reciprocal", {AutocastClass::fp32, AutocastClass::none}},
    {"tan", {AutocastClass::fp32, AutocastClass::none}},
    {"asin", {AutocastClass::fp32, AutocastClass::none}},
    {"acos", {AutocastClass::fp32, AutocastClass::none}},
    {"sinh", {AutocastClass::fp32, AutocastClass::none}},
    {"cosh", {AutocastClass::fp32, AutocastClass::none}},
    {"logit", {AutocastClass::fp32, AutocastClass::none}},
    {"pow", {AutocastClass::fp32, AutocastClass::none}},
    {"atan2", {AutocastClass::fp32, AutocastClass::none}},
    {"addcmul", {AutocastClass::promote, AutocastClass::none}},
    {"addcdiv", {AutocastClass::promote, AutocastClass::none}},
    {"sum", {AutocastClass::fp32, AutocastClass::none}},
    {"prod", {AutocastClass::fp32, AutocastClass::fp32}},
    {"norm", {AutocastClass::fp32, AutocastClass::none}},
    {"logsumexp", {AutocastClass::fp32, AutocastClass::none}},
    {"cumsum", {AutocastClass::fp32, AutocastClass::none}},
    {"cumprod", {AutocastClass::fp32, AutocastClass::none}},
    {"cat", {AutocastClass::none, AutocastClass::promote}},
    {"stack", {AutocastClass::none, AutocastClass::promote}},
    {"scatter_add", {AutocastClass::promote, AutocastClass::none}},
    {"mm", {AutocastClass::low, AutocastClass::low}},
    {"bmm", {AutocastClass::low, AutocastClass::low}},
    {"mv", {AutocastClass::low, AutocastClass::none}},
    {"dot", {AutocastClass::promote, AutocastClass::none}},
    {"matmul", {AutocastClass::low, AutocastClass::low}},
    {"addmm", {AutocastClass::low, AutocastClass::low}},
    {"linear", {AutocastClass::low, AutocastClass::low}},
    {"scaled_dot_product_attention", {AutocastClass::low, AutocastClass::low}},
    {"softmax", {AutocastClass::fp32, AutocastClass::none}},
    {"log_softmax", {AutocastClass::fp32, AutocastClass::none}},
    {"layer_norm", {AutocastClass::fp32, AutocastClass::none}},
    {"rnn_layer", {AutocastClass::low, AutocastClass::low}},
    {"conv2d", {AutocastClass::low, AutocastClass::low}},
    {"nll_loss", {AutocastClass::fp32, AutocastClass::fp32}},
    {"cross_entropy_loss", {AutocastClass::fp32, AutocastClass::fp32}},
    {"linear_cross_entropy", {AutocastClass::low, AutocastClass::low}},
    {"mse_loss", {AutocastClass::fp32, AutocastClass::fp32}},
};

/// The row of an op; does not compile for an op without one.
consteval AutocastRow autocast_of(std::string_view op) {
  for (const NamedAutocastRow& named : kAutocastTable) {
    if (named.op == op) return named.row;
  }
  throw "an op without an autocast class in core/ops/ops.def";
}

}  // namespace ebb::autograd
