#pragma once

#include <cstdint>

#include <ebb/core/export.h>

namespace ebb::memory {

/// What a block of memory is for. The first five are sticky: whoever knows sets them. Below these
/// ranks `saved`, in force while a node of the tape holds the block for backward; then `workspace`
/// (scratch of a running op) and `temporary` (all else).
enum class Category : uint8_t {
  parameter,
  buffer,
  optimizer_state,
  gradient,
  input,
  saved,
  workspace,
  temporary,
};
inline constexpr int kCategories = 8;

/// "parameter", "optimizer state", ...
EBB_API const char* name(Category category);

}  // namespace ebb::memory
