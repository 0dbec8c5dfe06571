#include <ebb/core/ops/softmax_kernels.h>

#include <algorithm>
#include <cmath>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/kernels/lanes.h>
#include <ebb/core/cpu/kernels/lines.h>
#include <ebb/core/ops/functors/math.h>

// Softmax along lines: three passes (largest element, sum, result) over blocks that stay in cache.
// Lines of adjacent elements are taken one by one; where neighbours in memory belong to different
// lines, these are taken side by side.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// An infinite largest element is not subtracted: inf - inf is not a number.
template <typename T>
T finite(T x) {
  return std::fabs(x) == std::numeric_limits<T>::infinity() ? T{0} : x;
}

/// The two passes that all need: the largest element of a line, and the sum of exp(x - shift).
/// Where the line is one block, `x` and `values` hold it and its exponentials afterwards.
template <typename T>
struct RowStatistics {
  alignas(64) T buffer[kBlock];
  alignas(64) T values[kBlock];
  const T* x = nullptr;
  T largest = -std::numeric_limits<T>::infinity();
  T shift = T{0};
  double sum = 0;

  RowStatistics(const Reader<T>& in, int64_t start, int64_t n, bool finite_shift) {
    for_each_block(n, [&](int64_t i, int64_t count) {
      x = in.run(buffer, start + i, count);
      largest = lanes_max(largest, x, count);
    });
    shift = finite_shift ? finite(largest) : largest;
    for_each_block(n, [&](int64_t i, int64_t count) {
      if (n > kBlock) x = in.run(buffer, start + i, count);
      exponentials(count);
      sum += lanes_sum(values, count);
    });
  }
  void exponentials(int64_t count) {
    // Copies: a write to values could change a member, for all the compiler knows.
    const T* const from = x;
    const T less = shift;
    for (int64_t k = 0; k < count; ++k) values[k] = functors::math::exp(from[k] - less);
  }
};

template <typename T>
void forward_row(const SoftmaxArguments& a, int64_t line) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  const int64_t n = a.shape.n;
  const int64_t start = line * n;
  RowStatistics<T> row(in, start, n, false);
  T* const values = row.values;
  const T scale = static_cast<T>(1 / row.sum);
  const T log_sum = static_cast<T>(std::log(row.sum));
  for_each_block(n, [&](int64_t i, int64_t count) {
    if (n > kBlock) {
      row.x = in.run(row.buffer, start + i, count);
      if (!a.log) row.exponentials(count);
    }
    if (a.log) {
      for (int64_t k = 0; k < count; ++k) values[k] = row.x[k] - row.largest - log_sum;
    } else {
      for (int64_t k = 0; k < count; ++k) values[k] *= scale;
    }
    out.run(values, start + i, count);
  });
}

template <typename T>
void logsumexp_row(const SoftmaxArguments& a, int64_t line) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  const RowStatistics<T> row(in, line * a.shape.n, a.shape.n, true);
  const T result = static_cast<T>(std::log(row.sum) + static_cast<double>(row.shift));
  out.run(&result, line, 1);
}

/// RowStatistics for lines side by side. exp(x - shift) adds up in T over the rows of a block, and
/// in double over the blocks.
template <typename T>
struct ColumnStatistics {
  alignas(64) T buffer[kBlock];
  T shift[kColumns];
  double sums[kColumns];

  ColumnStatistics(const Reader<T>& in, const LineShape& shape, int64_t outer, int64_t column,
                   int64_t columns, bool finite_shift) {
    for (int64_t c = 0; c < columns; ++c) {
      shift[c] = -std::numeric_limits<T>::infinity();
      sums[c] = 0;
    }
    for_each_rows(shape, outer, column, [&](int64_t at, int64_t rows) {
      in.tile(buffer, at, rows, columns, shape.inner);
      for (int64_t r = 0; r < rows; ++r) {
        const T* x = buffer + r * columns;
        for (int64_t c = 0; c < columns; ++c) {
          shift[c] = functors::larger(shift[c], x[c]);
        }
      }
    });
    for (int64_t c = 0; finite_shift && c < columns; ++c) shift[c] = finite(shift[c]);
    for_each_rows(shape, outer, column, [&](int64_t at, int64_t rows) {
      in.tile(buffer, at, rows, columns, shape.inner);
      T block[kColumns];
      for (int64_t c = 0; c < columns; ++c) block[c] = T{0};
      for (int64_t r = 0; r < rows; ++r) {
        const T* x = buffer + r * columns;
        for (int64_t c = 0; c < columns; ++c) block[c] += functors::math::exp(x[c] - shift[c]);
      }
      for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(block[c]);
    });
  }
};

template <typename T>
void forward_columns(const SoftmaxArguments& a, int64_t outer, int64_t column, int64_t columns) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  const int64_t inner = a.shape.inner;
  ColumnStatistics<T> lines(in, a.shape, outer, column, columns, false);
  T* const buffer = lines.buffer;
  T factor[kColumns];
  for (int64_t c = 0; c < columns; ++c) {
    factor[c] = static_cast<T>(a.log ? std::log(lines.sums[c]) : 1 / lines.sums[c]);
  }
  for_each_rows(a.shape, outer, column, [&](int64_t at, int64_t rows) {
    in.tile(buffer, at, rows, columns, inner);
    for (int64_t r = 0; r < rows; ++r) {
      T* x = buffer + r * columns;
      if (a.log) {
        for (int64_t c = 0; c < columns; ++c) x[c] = x[c] - lines.shift[c] - factor[c];
      } else {
        for (int64_t c = 0; c < columns; ++c) {
          x[c] = functors::math::exp(x[c] - lines.shift[c]) * factor[c];
        }
      }
    }
    out.tile(buffer, at, rows, columns, inner);
  });
}

template <typename T>
void logsumexp_columns(const SoftmaxArguments& a, int64_t outer, int64_t column, int64_t columns) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  const ColumnStatistics<T> lines(in, a.shape, outer, column, columns, true);
  T results[kColumns];
  for (int64_t c = 0; c < columns; ++c) {
    results[c] = static_cast<T>(std::log(lines.sums[c]) + static_cast<double>(lines.shift[c]));
  }
  out.run(results, outer * a.shape.inner + column, columns);
}

template <typename T>
void backward_row(const SoftmaxArguments& a, int64_t line) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Reader<T> result(a.result, a.result_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  alignas(64) T grad_buffer[kBlock];
  alignas(64) T result_buffer[kBlock];
  alignas(64) T values[kBlock];
  const int64_t start = line * a.shape.n;
  double sum = 0;
  for_each_block(a.shape.n, [&](int64_t i, int64_t count) {
    const T* grad = in.run(grad_buffer, start + i, count);
    if (a.log) {
      sum += lanes_sum(grad, count);
      return;
    }
    const T* y = result.run(result_buffer, start + i, count);
    for (int64_t k = 0; k < count; ++k) values[k] = grad[k] * y[k];
    sum += lanes_sum(values, count);
  });
  const T total = static_cast<T>(sum);
  for_each_block(a.shape.n, [&](int64_t i, int64_t count) {
    const T* grad = in.run(grad_buffer, start + i, count);
    const T* y = result.run(result_buffer, start + i, count);
    if (a.log) {
      for (int64_t k = 0; k < count; ++k) {
        values[k] = grad[k] - functors::math::exp(y[k]) * total;
      }
    } else {
      for (int64_t k = 0; k < count; ++k) values[k] = y[k] * (grad[k] - total);
    }
    out.run(values, start + i, count);
  });
}

template <typename T>
void backward_columns(const SoftmaxArguments& a, int64_t outer, int64_t column, int64_t columns) {
  const Reader<T> in(a.input, a.input_dtype, a.compute);
  const Reader<T> result(a.result, a.result_dtype, a.compute);
  const Writer<T> out(a.output, a.output_dtype, a.compute);
  alignas(64) T grad[kBlock];
  alignas(64) T y[kBlock];
  T sums[kColumns];
  const int64_t inner = a.shape.inner;
  for (int64_t c = 0; c < columns; ++c) sums[c] = T{0};
  for_each_rows(a.shape, outer, column, [&](int64_t at, int64_t rows) {
    in.tile(grad, at, rows, columns, inner);
    if (!a.log) result.tile(y, at, rows, columns, inner);
    for (int64_t r = 0; r < rows; ++r) {
      const T* g = grad + r * columns;
      const T* v = y + r * columns;
      if (a.log) {
        for (int64_t c = 0; c < columns; ++c) sums[c] += g[c];
      } else {
        for (int64_t c = 0; c < columns; ++c) sums[c] += g[c] * v[c];
      }
    }
  });
  for_each_rows(a.shape, outer, column, [&](int64_t at, int64_t rows) {
    in.tile(grad, at, rows, columns, inner);
    result.tile(y, at, rows, columns, inner);
    for (int64_t r = 0; r < rows; ++r) {
      T* g = grad + r * columns;
      const T* v = y + r * columns;
      if (a.log) {
        for (int64_t c = 0; c < columns; ++c) g[c] -= functors::math::exp(v[c]) * sums[c];
      } else {
        for (int64_t c = 0; c < columns; ++c) g[c] = v[c] * (g[c] - sums[c]);
      }
    }
    out.tile(grad, at, rows, columns, inner);
  });
}

void forward(const SoftmaxArguments& a) {
  dispatch_floating(a.compute, [&](auto zero) {
    using T = decltype(zero);
    for_each_line(
        a.shape, [&](int64_t line) { forward_row<T>(a, line); },
        [&](int64_t outer, int64_t first, int64_t count) {
          forward_columns<T>(a, outer, first, count);
        });
  });
}

void backward(const SoftmaxArguments& a) {
  dispatch_floating(a.compute, [&](auto zero) {
    using T = decltype(zero);
    for_each_line(
        a.shape, [&](int64_t line) { backward_row<T>(a, line); },
        [&](int64_t outer, int64_t first, int64_t count) {
          backward_columns<T>(a, outer, first, count);
        });
  });
}

void logsumexp(const SoftmaxArguments& a) {
  dispatch_floating(a.compute, [&](auto zero) {
    using T = decltype(zero);
    for_each_line(
        a.shape, [&](int64_t line) { logsumexp_row<T>(a, line); },
        [&](int64_t outer, int64_t first, int64_t count) {
          logsumexp_columns<T>(a, outer, first, count);
        });
  });
}

}  // namespace

extern const SoftmaxKernels softmax_kernels = {&forward, &backward, &logsumexp};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
