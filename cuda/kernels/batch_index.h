#pragma once

#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/ops/matmul_kernels.h>

namespace ebb::cuda {

/// Where the matrices of a batch start, for kernels: a, b, addend and c of product i, in elements.
struct BatchIndex {
  static constexpr int kMaxDims = 8;

  struct Starts {
    int64_t a;
    int64_t b;
    int64_t addend;
    int64_t c;
  };

  int ndim;
  int64_t sizes[kMaxDims];
  Starts strides[kMaxDims];

  /// Of at most kMaxDims batch dimensions.
  explicit BatchIndex(const MatmulArguments& arguments)
      : ndim(static_cast<int>(arguments.batch.size())) {
    const auto stride = [](const MatrixView& view, size_t d) {
      return view.data == nullptr ? int64_t{0} : view.batch_strides[d];
    };
    for (size_t d = 0; d < arguments.batch.size(); ++d) {
      sizes[d] = arguments.batch[d];
      strides[d] = {stride(arguments.a, d), stride(arguments.b, d), stride(arguments.addend, d),
                    stride(arguments.c, d)};
    }
  }

  EBB_INLINE Starts operator()(int64_t i) const {
    Starts starts = {0, 0, 0, 0};
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t quotient = i / sizes[d];
      const int64_t index = i - quotient * sizes[d];
      i = quotient;
      starts.a += index * strides[d].a;
      starts.b += index * strides[d].b;
      starts.addend += index * strides[d].addend;
      starts.c += index * strides[d].c;
    }
    return starts;
  }
};

}  // namespace ebb::cuda
