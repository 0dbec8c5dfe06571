#pragma once

#include <cstdint>

#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// Rows of adjacent elements. No data: read as zeros, and not written.
struct RnnOperand {
  void* data = nullptr;
  int64_t row_stride = 0;  ///< in elements
};

/// One step of a recurrent layer for `rows` sequences, `columns` elements of the hidden state each.
/// The rules and their operands are those of core/ops/functors/rnn.h. All operands are of `dtype`;
/// 16-bit floats are computed in float32.
struct RnnArguments {
  static constexpr int kMaxOperands = 12;

  int64_t rows;
  int64_t columns;
  ScalarType dtype;
  RnnOperand operands[kMaxOperands];
};

using RnnKernel = void (*)(const RnnArguments& arguments);

struct RnnKernels {
  RnnKernel tanh;
  RnnKernel tanh_backward;
  RnnKernel relu;
  RnnKernel relu_backward;
  RnnKernel lstm;
  RnnKernel lstm_backward;
  RnnKernel gru;
  RnnKernel gru_backward;
};

}  // namespace ebb
