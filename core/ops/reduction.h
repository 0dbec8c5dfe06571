#pragma once

#include <cstdint>

namespace ebb {

/// What a loss does with its elements, with the numbers LibTorch uses.
namespace Reduction {
enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2, END };
}  // namespace Reduction

}  // namespace ebb
