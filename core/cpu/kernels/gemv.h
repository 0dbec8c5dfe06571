#pragma once

#include <ebb/core/cpu/kernels/gemm.h>

// Products of a matrix and a vector: each element of the matrix is read once, so nothing is packed.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr int64_t kVectorRows = 256;    // rows that one thread takes at a time
constexpr int64_t kVectorDepth = 2048;  // elements along k that are summed in T, then in double

/// The inner product of two runs of n adjacent elements.
template <typename T>
T inner_product(const T* a, const T* b, int64_t n) {
  constexpr int lanes = 2 * kTileColumns<T>;
  T sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (int k = 0; i + k < n; ++k) sums[k] += a[i + k] * b[i + k];
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

/// Rows of `a` times x, where the elements of a row are adjacent.
template <typename T>
void add_rows(const T* a, int64_t row_stride, const T* x, int64_t depth, int64_t rows,
              double* sums) {
  for (int64_t r = 0; r < rows; ++r) {
    sums[r] += static_cast<double>(inner_product(a + r * row_stride, x, depth));
  }
}

/// The same where the elements of a column are adjacent.
template <typename T>
void add_columns(const T* a, int64_t column_stride, const T* x, int64_t depth, int64_t rows,
                 double* sums) {
  T block[kVectorRows] = {};
  for (int64_t p = 0; p < depth; ++p) {
    const T* column = a + p * column_stride;
    for (int64_t r = 0; r < rows; ++r) block[r] += column[r] * x[p];
  }
  for (int64_t r = 0; r < rows; ++r) sums[r] += static_cast<double>(block[r]);
}

/// Rows `row` to `row + rows` of A times the one column of B.
template <typename T>
void multiply_vector(const MatrixSource<T>& a, const MatrixSource<T>& b, int64_t k, int64_t row,
                     int64_t rows, const Destination<T, T>& out) {
  double sums[kVectorRows] = {};
  T buffer[2][kVectorDepth];
  for (int64_t p = 0; p < k; p += kVectorDepth) {
    const int64_t depth = std::min(kVectorDepth, k - p);
    const T* x = b.data + p * b.k_stride;
    if (b.k_stride != 1) {
      for (int64_t q = 0; q < depth; ++q) buffer[0][q] = x[q * b.k_stride];
      x = buffer[0];
    }
    const T* matrix = a.data + row * a.line_stride + p * a.k_stride;
    if (a.k_stride == 1) {
      add_rows(matrix, a.line_stride, x, depth, rows, sums);
    } else if (a.line_stride == 1 && rows > 1) {
      add_columns(matrix, a.k_stride, x, depth, rows, sums);
    } else {
      for (int64_t q = 0; q < depth; ++q) buffer[1][q] = matrix[q * a.k_stride];
      add_rows(buffer[1], 0, x, depth, 1, sums);
    }
  }
  T results[kVectorRows];
  for (int64_t r = 0; r < rows; ++r) results[r] = static_cast<T>(sums[r]);
  out.store(results, 1, row, 0, rows, 1, true);
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
