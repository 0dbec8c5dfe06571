#pragma once

#include <cstdint>

#include <ebb/core/tensor/array_ref.h>

namespace ebb {

/// The sizes of a contiguous tensor seen along one dimension: [outer, n, inner], where a line is
/// the n elements that step by `inner`.
struct LineShape {
  int64_t outer = 1;
  int64_t n = 1;
  int64_t inner = 1;
  [[nodiscard]] int64_t lines() const { return outer * inner; }
};

/// `dim` counted from the start; a 0-dim tensor has one line of one element.
inline LineShape line_shape(IntArrayRef sizes, int64_t dim) {
  LineShape shape;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto at = static_cast<int64_t>(d);
    (at < dim ? shape.outer : at == dim ? shape.n : shape.inner) *= sizes[d];
  }
  return shape;
}

}  // namespace ebb
