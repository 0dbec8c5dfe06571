#pragma once

#include <string>
#include <vector>

#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/autograd.h>
#include <ebb/autograd/factories.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_tensor_hooks.h>
#include <ebb/core/memory/memory.h>
#include <ebb/testing/gradcheck.h>

#include "catch.h"

// What the tests of this folder share.

using ebb::Tensor;
using Values = std::vector<double>;

/// A float64 leaf that requires grad.
inline Tensor leaf(const Values& values) {
  return ebb::tensor(values, ebb::kDouble).requires_grad_();
}

inline Tensor constant(const Values& values) { return ebb::tensor(values, ebb::kDouble); }

/// The elements in row-major order.
inline Values values(const Tensor& tensor) {
  const Tensor dense = tensor.detach().cpu().to(ebb::kDouble).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

/// The message of the ebb::Error that `action` throws.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "no error";
}

inline auto says(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
