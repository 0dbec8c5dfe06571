#pragma once

#include <ebb/ebb.h>

#include <optional>
#include <string>

#include "catch.h"
#include "op_cases/op_cases.h"

// What the tests of this folder share.

using ebb::Tensor;
using op_cases::Case;
using op_cases::Tensors;

/// The message of the ebb::Error that `action` throws; none if it throws nothing. Any other
/// exception passes, and fails the test.
template <typename Action>
std::optional<std::string> error_of(Action&& action) {
  try {
    action();
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return std::nullopt;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string sizes_of(const Tensor& tensor) {
  return tensor.defined() ? ebb::detail::concat(tensor.sizes()) : "undefined";
}

/// Arguments as an error could name them: "(float [2, 3], long [4])".
inline std::string describe(const Tensors& arguments) {
  std::string text;
  for (const auto& argument : arguments) {
    text += text.empty() ? "(" : ", ";
    if (argument.defined()) text += std::string(ebb::toString(argument.scalar_type())) + " ";
    text += sizes_of(argument);
  }
  return text + ")";
}

/// Requires the arguments to have gradients where the op has them.
inline void want_gradients(const Case& op_case, const Tensors& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op_case.arguments[i].differentiable && arguments[i].defined() &&
        arguments[i].is_floating_point()) {
      arguments[i].requires_grad_();
    }
  }
}

/// Runs backward from the results that have a gradient, with ones.
inline void run_backward(const Tensors& results) {
  for (const auto& result : results) {
    if (result.requires_grad()) result.backward(ebb::ones_like(result), /*retain_graph=*/true);
  }
}

/// Whether two tensors have equal sizes, dtypes and elements, as far as float32 sums can.
inline bool same(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  if (!a.is_floating_point()) return ebb::equal(a, b);
  return ebb::allclose(a, b, 1e-4, 1e-5, /*equal_nan=*/true);
}
inline bool same(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}
