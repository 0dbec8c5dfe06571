#pragma once

#include <cstdint>

#include <ebb/core/tensor/array_ref.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// What a reduction computes from the elements that fall on one output.
enum class ReduceOp : uint8_t {
  sum,
  mean,
  prod,
  max,
  min,
  all,
  any,
  count_nonzero,
  sum_abs,
  norm2,   ///< sqrt(sum x^2)
  norm_p,  ///< (sum |x|^p)^(1/p), p is the parameter
  max_abs,
  min_abs,
  argmax,  ///< the value and, in `indices`, where it is first
  argmin,
  var,  ///< sum (x - mean)^2 / max(0, n - parameter)
  std,
  logsumexp,
};
inline constexpr int kReduceOps = 18;

/// Dimensions that a reduction walks over, the innermost last; strides count elements.
struct ReduceDims {
  DimVector sizes;
  DimVector strides;
  [[nodiscard]] int64_t numel() const {
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    return numel;
  }
};

/// One reduction. The kept dimensions make `outputs` results, each of `count` elements. One kept
/// dimension may be set apart as `columns`: neighbours along it are reduced side by side, which is
/// fast where they are neighbours in memory.
struct ReducePlan {
  ReduceDims kept;             ///< without the columns
  DimVector kept_out_strides;  ///< of the (dense) output
  int64_t columns = 1;
  int64_t column_stride = 0;
  int64_t column_out_stride = 0;
  ReduceDims reduced;
  int64_t count = 1;
  int64_t outputs = 1;
  /// In how many pieces each output's elements are cut, to be reduced by different threads. It
  /// depends on the shape alone, and so does the result, bit for bit. Devices cut by themselves.
  int64_t pieces = 1;
};

/// Bytes of the state of one piece of one output, whatever the op.
inline constexpr size_t kReduceStateBytes = 24;

struct ReduceArguments {
  ReduceOp op;
  double parameter = 0;
  ScalarType compute;  ///< Float, Double or Long: elements are converted to it when loaded
  const void* input;
  ScalarType input_dtype;
  void* output;  ///< may be null for argmax and argmin
  ScalarType output_dtype;
  int64_t* indices = nullptr;
  /// outputs * pieces * kReduceStateBytes bytes, where pieces > 1.
  void* workspace = nullptr;
};

struct ReduceKernels {
  void (*reduce)(const ReducePlan& plan, const ReduceArguments& arguments);
};

}  // namespace ebb
