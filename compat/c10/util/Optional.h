#pragma once

#include <optional>

// LibTorch's older name for what the standard library has now.
namespace c10 {
template <typename T>
using optional = std::optional<T>;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
}  // namespace c10
namespace torch {
using c10::make_optional;
using c10::nullopt;
using c10::optional;
}  // namespace torch
namespace at {
using c10::make_optional;
using c10::nullopt;
using c10::optional;
}  // namespace at
