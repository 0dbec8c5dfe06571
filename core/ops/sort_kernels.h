#pragma once

#include <cstdint>

#include <ebb/core/ops/line_shape.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// Bytes of an element with its index while it is sorted, whatever the dtype.
inline constexpr int64_t kSortPairBytes = 16;

struct SortArguments {
  LineShape shape;
  int64_t k;          ///< how many of each line are wanted, the first ones in order
  bool descending;    ///< NaN counts as the largest
  const void* input;  ///< contiguous
  ScalarType dtype;
  void* values;      ///< contiguous [outer, k, inner], of the same dtype; may be null
  int64_t* indices;  ///< contiguous [outer, k, inner]
  void* workspace;   ///< workers * n * kSortPairBytes bytes; on the CPU only
  int64_t workers;   ///< how many lines may be sorted at the same time, on the CPU
};

/// Sorts lines; equal elements keep their order.
struct SortKernels {
  void (*sort)(const SortArguments& arguments);
};

}  // namespace ebb
