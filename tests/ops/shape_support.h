#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ebb/core/memory/memory.h>
#include <ebb/ebb.h>
#include <ebb/testing/gradcheck.h>

#include "catch.h"

// What the tests of views, joins and factories share.

using ebb::Tensor;
using Sizes = std::vector<int64_t>;

inline Sizes sizes(const Tensor& tensor) { return tensor.sizes().vec(); }
inline Sizes strides(const Tensor& tensor) { return tensor.strides().vec(); }

/// The elements in row-major order.
inline std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  const Tensor dense = tensor.detach().cpu().to(ebb::kDouble).contiguous();
  const double* data = dense.data_ptr<double>();
  result.assign(data, data + dense.numel());
  return result;
}

/// The name of the node that computed a tensor.
inline std::string name_of(const Tensor& tensor) { return tensor.grad_fn()->name(); }

/// 0, 1, 2, ... in these sizes, as float64.
inline Tensor counted(ebb::IntArrayRef size) {
  int64_t numel = 1;
  for (const int64_t n : size) numel *= n;
  return ebb::arange(numel, ebb::kDouble).reshape(size);
}

/// The message of the ebb::Error that `action` throws.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    static_cast<void>(action());
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "no error";
}

inline auto says(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }

/// The bytes that `action` allocates and still holds with its result alive, in rounded blocks.
template <typename Action>
int64_t bytes_kept(Action&& action) {
  const int64_t before = ebb::memory::memory_allocated();
  const auto result = action();
  return ebb::memory::memory_allocated() - before;
}

/// The most bytes that `action` holds at any time beyond those held before.
template <typename Action>
int64_t bytes_peak(Action&& action) {
  ebb::memory::reset_peak_memory_stats();
  const int64_t before = ebb::memory::memory_allocated();
  const auto result = action();
  static_cast<void>(result);
  return ebb::memory::max_memory_allocated() - before;
}

/// First and second derivatives of f at a float64 tensor of these sizes against differences.
inline void check_gradients(const std::function<Tensor(const Tensor&)>& f, ebb::IntArrayRef size) {
  const Tensor input = (counted(size) * 0.37 + 0.2).sin().requires_grad_();
  const auto call = [&](const std::vector<Tensor>& inputs) { return f(inputs[0]); };
  CHECK(ebb::testing::gradcheck(call, {input}));
  CHECK(ebb::testing::gradgradcheck(call, {input}));
}
