#pragma once

#include <ebb/core/error.h>

#include <iostream>
#include <string>

namespace c10 {
using namespace ebb;

namespace detail {
/// The parts of a message joined, or the text for a check that has none.
template <typename... Parts>
std::string check_message(const char* fallback, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) {
    return fallback;
  } else {
    return ::ebb::detail::concat(parts...);
  }
}
}  // namespace detail
}  // namespace c10

/// Throws a c10::Error (an ebb::Error) with the further arguments as its message unless the
/// condition holds.
#define TORCH_CHECK(condition, ...) \
  EBB_CHECK(condition, TORCH_CHECK_MESSAGE_(#condition __VA_OPT__(, ) __VA_ARGS__))
#define TORCH_CHECK_MESSAGE_(text, ...)                                                      \
  ::c10::detail::check_message("Expected " text " to be true, but got false." __VA_OPT__(, ) \
                                   __VA_ARGS__)
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
