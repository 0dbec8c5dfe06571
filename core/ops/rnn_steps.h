#pragma once

#include <initializer_list>
#include <vector>

#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/matmul_kernels.h>
#include <ebb/core/ops/rnn.h>
#include <ebb/core/ops/rnn_kernels.h>

// What forward and backward of a recurrent layer share (core/ops/rnn.cpp, rnn_backward.cpp).
//
// The sums of the gates lie side by side in one row for each step of a sequence: i f g o of an
// LSTM, r z m n of a GRU, where m is what the hidden state adds to n, and the sum itself of a plain
// net. So the hidden state adds to the first columns in one product, and every mode needs one
// buffer.

namespace ebb::ops::rnn {

/// Rows of w_ih, and the columns of the sums that they add to.
struct Part {
  int64_t row;
  int64_t column;
  int64_t count;
};

/// The sizes of a layer.
struct Extent {
  explicit Extent(const RnnLayer& layer);

  [[nodiscard]] bool is_plain() const { return mode == RnnMode::tanh || mode == RnnMode::relu; }
  /// Columns of the sums, and those that the hidden state adds to.
  [[nodiscard]] int64_t columns() const { return is_plain() ? hidden : 4 * hidden; }
  [[nodiscard]] int64_t hidden_columns() const { return rnn_gates(mode) * hidden; }
  [[nodiscard]] std::vector<Part> parts() const;

  RnnMode mode;
  int64_t hidden;
  int64_t batch;
  int64_t directions;
  int64_t rows;
};

/// A step in the order of its direction. Its first `known` sequences were in the step before, whose
/// rows begin at `before`; the others begin here.
struct Step {
  int64_t row;
  int64_t size;
  int64_t before;
  int64_t known;
};
std::vector<Step> steps_of(IntArrayRef batch_sizes, bool reverse);

/// A matrix's elements from a row and column on.
MatrixView part_of(const TensorBase& matrix, int64_t row = 0, int64_t column = 0);
MatrixView transpose_of(MatrixView matrix);
/// A vector's elements from `begin` on as a row that repeats; nothing for an undefined one.
MatrixView repeated(const TensorBase& vector, int64_t begin = 0);
/// The same part as an operand of a step; none for an undefined matrix.
RnnOperand operand(const TensorBase& matrix, int64_t row = 0, int64_t column = 0);

/// The matrix of a direction in [D, rows, columns]; its columns in [N, D H]. Undefined stays so.
TensorBase own_matrix(const TensorBase& tensor, size_t direction);
TensorBase own_columns(const TensorBase& tensor, size_t direction, int64_t hidden);

/// `sizes` zeros.
TensorBase zeros(IntArrayRef sizes, const TensorBase& like);
/// A fresh [D, B, H] with the values of `from`; zeros if that is undefined.
TensorBase fresh_state(const TensorBase& from, const Extent& extent, const TensorBase& like);

/// The kernels of a layer's device.
class LayerKernels {
 public:
  LayerKernels(const Extent& extent, const TensorBase& like)
      : product_(kernels(like.device()).matmul->product),
        dtype_(like.scalar_type()),
        hidden_(extent.hidden),
        rules(*kernels(like.device()).rnn) {}

  /// c [m, n] = a [m, k] b [k, n] + addend, which may be c; nothing is added without data.
  void product(int64_t m, int64_t n, int64_t k, const MatrixView& a, const MatrixView& b,
               const MatrixView& c, const MatrixView& addend = {}) const;
  /// One step of `rows` sequences.
  void step(RnnKernel kernel, int64_t rows, std::initializer_list<RnnOperand> operands) const;

 private:
  void (*product_)(const MatmulArguments&);
  ScalarType dtype_;
  int64_t hidden_;

 public:
  const RnnKernels& rules;
};

}  // namespace ebb::ops::rnn
