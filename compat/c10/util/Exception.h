#pragma once

#include <ebb/core/error.h>

#include <iostream>

namespace c10 {
using namespace ebb;
}

/// Throws a c10::Error (an ebb::Error) with the further arguments as its message unless the
/// condition holds.
#define TORCH_CHECK(condition, ...) EBB_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) EBB_CHECK_AS(IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) EBB_CHECK_AS(ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  EBB_CHECK_AS(NotImplementedError, condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) \
  EBB_CHECK(condition, "not expected: " #condition __VA_OPT__(, " ", ) __VA_ARGS__)
#define AT_ASSERT(condition) TORCH_INTERNAL_ASSERT(condition)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false, __VA_ARGS__)
/// One line on stderr.
#define TORCH_WARN(...) \
  (std::cerr << "Warning: " << ::ebb::detail::concat(__VA_ARGS__) << std::endl)
