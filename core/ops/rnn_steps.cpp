#include <ebb/core/ops/rnn_steps.h>

#include <algorithm>
#include <numeric>

#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/shape.h>

namespace ebb::ops::rnn {

Extent::Extent(const RnnLayer& layer)
    : mode(layer.mode),
      hidden(layer.weights[1].size(1)),
      batch(layer.batch_sizes[0]),
      directions(static_cast<int64_t>(layer.directions)),
      rows(std::accumulate(layer.batch_sizes.begin(), layer.batch_sizes.end(), int64_t{0})) {}

std::vector<Part> Extent::parts() const {
  if (mode != RnnMode::gru) return {{0, 0, columns()}};
  return {{0, 0, 2 * hidden}, {2 * hidden, 3 * hidden, hidden}};
}

std::vector<Step> steps_of(IntArrayRef batch_sizes, bool reverse) {
  std::vector<Step> steps;
  steps.reserve(batch_sizes.size());
  int64_t row = 0;
  for (const int64_t size : batch_sizes) {
    steps.push_back({row, size, 0, 0});
    row += size;
  }
  if (reverse) std::reverse(steps.begin(), steps.end());
  for (size_t i = 1; i < steps.size(); ++i) {
    steps[i].before = steps[i - 1].row;
    steps[i].known = std::min(steps[i].size, steps[i - 1].size);
  }
  return steps;
}

MatrixView part_of(const TensorBase& matrix, int64_t row, int64_t column) {
  const int64_t at = row * matrix.stride(0) + column * matrix.stride(1);
  return {.data = static_cast<char*>(matrix.data_ptr()) + at * matrix.element_size(),
          .row_stride = matrix.stride(0),
          .column_stride = matrix.stride(1),
          .batch_strides = {}};
}

MatrixView transpose_of(MatrixView matrix) {
  std::swap(matrix.row_stride, matrix.column_stride);
  return matrix;
}

MatrixView repeated(const TensorBase& vector, int64_t begin) {
  if (!vector.defined()) return {};
  const int64_t at = begin * vector.stride(0) * vector.element_size();
  return {.data = static_cast<char*>(vector.data_ptr()) + at,
          .row_stride = 0,
          .column_stride = vector.stride(0),
          .batch_strides = {}};
}

RnnOperand operand(const TensorBase& matrix, int64_t row, int64_t column) {
  if (!matrix.defined()) return {};
  const MatrixView view = part_of(matrix, row, column);
  return {view.data, view.row_stride};
}

TensorBase own_matrix(const TensorBase& tensor, size_t direction) {
  return tensor.defined() ? select(tensor, 0, static_cast<int64_t>(direction)) : TensorBase();
}

TensorBase own_columns(const TensorBase& tensor, size_t direction, int64_t hidden) {
  if (!tensor.defined()) return {};
  return narrow(tensor, 1, static_cast<int64_t>(direction) * hidden, hidden);
}

TensorBase zeros(IntArrayRef sizes, const TensorBase& like) {
  TensorBase result = empty(sizes, like.scalar_type(), like.device());
  fill_fresh(result, 0);
  return result;
}

TensorBase fresh_state(const TensorBase& from, const Extent& extent, const TensorBase& like) {
  if (from.defined()) return clone_contiguous(from);
  return zeros({extent.directions, extent.batch, extent.hidden}, like);
}

void LayerKernels::product(int64_t m, int64_t n, int64_t k, const MatrixView& a,
                           const MatrixView& b, const MatrixView& c,
                           const MatrixView& addend) const {
  if (m == 0 || n == 0) return;
  product_({.m = m,
            .n = n,
            .k = k,
            .batch = {},
            .dtype = dtype_,
            .beta = addend.data == nullptr ? 0 : 1,
            .a = a,
            .b = b,
            .addend = addend,
            .c = c});
}

void LayerKernels::step(RnnKernel kernel, int64_t rows,
                        std::initializer_list<RnnOperand> operands) const {
  if (rows == 0 || hidden_ == 0) return;
  RnnArguments arguments{.rows = rows, .columns = hidden_, .dtype = dtype_, .operands = {}};
  std::copy(operands.begin(), operands.end(), arguments.operands);
  kernel(arguments);
}

}  // namespace ebb::ops::rnn
