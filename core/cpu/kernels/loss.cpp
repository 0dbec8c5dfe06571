#include <ebb/core/ops/loss_kernels.h>

#include <algorithm>
#include <cmath>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/kernels/lanes.h>
#include <ebb/core/cpu/kernels/lines.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/functors/math.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

template <typename T>
class Loss {
 public:
  explicit Loss(const LossArguments& a)
      : a_(a),
        input_(a.input, a.input_dtype, a.compute),
        probabilities_(a.probabilities, a.input_dtype, a.compute),
        weight_(static_cast<const T*>(a.weight)),
        log_sum_exp_(static_cast<const T*>(a.log_sum_exp)),
        keep_(static_cast<T>(1 - a.smoothing)),
        spread_(
            static_cast<T>(a.smoothing / static_cast<double>(std::max<int64_t>(1, a.shape.n)))) {
    for (int64_t c = 0; spread_ != 0 && c < a.shape.n; ++c) total_weight_ += weight(c);
  }

  void forward() const {
    const int64_t rows = a_.shape.lines();
    const int64_t pieces = (rows + kLossPiece - 1) / kLossPiece;
    const Writer<T> out(a_.row_losses, a_.loss_dtype, a_.compute);
    parallel_for(0, pieces, std::max<int64_t>(1, 8 * kGrain / (kLossPiece * row_work())),
                 [&](int64_t begin, int64_t end) {
                   for (; begin < end; ++begin) {
                     double sum = 0;
                     double total = 0;
                     const int64_t last = std::min((begin + 1) * kLossPiece, rows);
                     for (int64_t row = begin * kLossPiece; row < last; ++row) {
                       const T loss = row_loss(row, total);
                       if (a_.row_losses != nullptr) out.run(&loss, row, 1);
                       sum += static_cast<double>(loss);
                     }
                     a_.workspace[2 * begin] = sum;
                     a_.workspace[2 * begin + 1] = total;
                   }
                 });
    double sum = 0;
    double total = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      sum += a_.workspace[2 * piece];
      total += a_.workspace[2 * piece + 1];
    }
    *static_cast<T*>(a_.total) = static_cast<T>(total);
    if (a_.output == nullptr) return;
    const T result = static_cast<T>(a_.mean ? sum / total : sum);
    Writer<T>(a_.output, a_.loss_dtype, a_.compute).run(&result, 0, 1);
  }

  void backward_row(int64_t row) const {
    const Writer<T> out(a_.output, a_.input_dtype, a_.compute);
    alignas(64) T input[kBlock];
    alignas(64) T target[kBlock];
    alignas(64) T result[kBlock];
    const int64_t start = row * a_.shape.n;
    const T scale = row_scale(row);
    const T all = scale == 0 ? T{0} : row_weight(row);
    for_each_block(a_.shape.n, [&](int64_t i, int64_t count) {
      if (scale == 0) {
        for (int64_t k = 0; k < count; ++k) result[k] = T{0};
        out.run(result, start + i, count);
        return;
      }
      if (log_sum_exp_ != nullptr) {
        const T* x = input_.run(input, start + i, count);
        const T lse = log_sum_exp_[row];
        for (int64_t k = 0; k < count; ++k) {
          result[k] = scale * all * functors::math::exp(x[k] - lse);
        }
      } else {
        for (int64_t k = 0; k < count; ++k) result[k] = T{0};
      }
      if (a_.probabilities != nullptr) {
        const T* y = probabilities_.run(target, start + i, count);
        for (int64_t k = 0; k < count; ++k) {
          result[k] -= scale * weight(i + k) * (keep_ * y[k] + spread_);
        }
      } else {
        for (int64_t k = 0; spread_ != 0 && k < count; ++k) {
          result[k] -= scale * weight(i + k) * spread_;
        }
        const int64_t at = a_.target[row] - i;
        if (at >= 0 && at < count) result[at] -= scale * weight(i + at) * keep_;
      }
      out.run(result, start + i, count);
    });
  }

  void backward_columns(int64_t outer, int64_t column, int64_t columns) const {
    const Writer<T> out(a_.output, a_.input_dtype, a_.compute);
    alignas(64) T input[kBlock];
    alignas(64) T target[kBlock];
    T scale[kColumns];
    T all[kColumns];
    int64_t class_of[kColumns];
    const int64_t inner = a_.shape.inner;
    const int64_t first = outer * inner + column;
    for (int64_t c = 0; c < columns; ++c) {
      scale[c] = row_scale(first + c);
      all[c] = scale[c] == 0 ? T{0} : scale[c] * row_weight(first + c);
      class_of[c] = a_.probabilities != nullptr ? -1 : a_.target[first + c];
    }
    int64_t number = 0;
    for_each_rows(a_.shape, outer, column, [&](int64_t at, int64_t rows) {
      if (log_sum_exp_ != nullptr) input_.tile(input, at, rows, columns, inner);
      if (a_.probabilities != nullptr) probabilities_.tile(target, at, rows, columns, inner);
      for (int64_t r = 0; r < rows; ++r, ++number) {
        T* x = input + r * columns;
        const T* y = target + r * columns;
        const T w = weight(number);
        for (int64_t c = 0; c < columns; ++c) {
          const T p = log_sum_exp_ == nullptr
                          ? T{0}
                          : all[c] * functors::math::exp(x[c] - log_sum_exp_[first + c]);
          const T t = a_.probabilities != nullptr ? keep_ * y[c]
                      : class_of[c] == number     ? keep_
                                                  : T{0};
          x[c] = scale[c] == 0 ? T{0} : p - scale[c] * w * (t + spread_);
        }
      }
      out.tile(input, at, rows, columns, inner);
    });
  }

 private:
  [[nodiscard]] T weight(int64_t c) const { return weight_ == nullptr ? T{1} : weight_[c]; }
  [[nodiscard]] int64_t at(int64_t row, int64_t c) const {
    return (row / a_.shape.inner * a_.shape.n + c) * a_.shape.inner + row % a_.shape.inner;
  }
  [[nodiscard]] bool reads_rows() const { return a_.probabilities != nullptr || spread_ != 0; }
  [[nodiscard]] int64_t row_work() const {
    return reads_rows() ? std::max<int64_t>(1, a_.shape.n) : 1;
  }
  [[nodiscard]] bool ignored(int64_t row) const {
    return a_.probabilities == nullptr && a_.target[row] == a_.ignore_index;
  }

  /// The t[c] of a row, added up.
  [[nodiscard]] T row_weight(int64_t row) const {
    if (a_.probabilities == nullptr) {
      return keep_ * weight(a_.target[row]) + spread_ * total_weight_;
    }
    T sum = T{0};
    for (int64_t c = 0; c < a_.shape.n; ++c) {
      T y;
      probabilities_.run_one(&y, at(row, c));
      sum += weight(c) * (keep_ * y + spread_);
    }
    return sum;
  }

  [[nodiscard]] T row_loss(int64_t row, double& total) const {
    if (ignored(row)) return T{0};
    const T lse = log_sum_exp_ == nullptr ? T{0} : log_sum_exp_[row];
    double loss = 0;
    T x;
    if (a_.probabilities == nullptr) {
      const int64_t c = a_.target[row];
      total += static_cast<double>(weight(c));
      input_.run_one(&x, at(row, c));
      loss = static_cast<double>(keep_ * weight(c) * (lse - x));
    } else {
      total += 1;
    }
    for (int64_t c = 0; reads_rows() && c < a_.shape.n; ++c) {
      T y = T{0};
      input_.run_one(&x, at(row, c));
      if (a_.probabilities != nullptr) probabilities_.run_one(&y, at(row, c));
      const T t = weight(c) * (keep_ * y + spread_);
      if (t != 0) loss += static_cast<double>(t * (lse - x));
    }
    return static_cast<T>(loss);
  }

  /// The gradient of the loss of a row; 0 for a row that is ignored.
  [[nodiscard]] T row_scale(int64_t row) const {
    if (ignored(row)) return T{0};
    T grad;
    Reader<T>(a_.grad, a_.grad_dtype, a_.compute).run_one(&grad, a_.grad_per_row ? row : 0);
    return a_.mean ? grad / *static_cast<const T*>(a_.total) : grad;
  }

  const LossArguments& a_;
  Reader<T> input_;
  Reader<T> probabilities_;
  const T* weight_;
  const T* log_sum_exp_;
  T keep_;
  T spread_;
  T total_weight_ = T{0};
};

void forward(const LossArguments& a) {
  dispatch_floating(a.compute, [&](auto zero) { Loss<decltype(zero)>(a).forward(); });
}

void backward(const LossArguments& a) {
  dispatch_floating(a.compute, [&](auto zero) {
    const Loss<decltype(zero)> loss(a);
    for_each_line(
        a.shape, [&](int64_t row) { loss.backward_row(row); },
        [&](int64_t outer, int64_t first, int64_t count) {
          loss.backward_columns(outer, first, count);
        });
  });
}

template <typename T>
double squared_differences(const TensorIterator& it, char* const* p, int64_t n) {
  const Load load_a = loads(it.compute_type())[static_cast<int>(it.dtype(0))];
  const Load load_b = loads(it.compute_type())[static_cast<int>(it.dtype(1))];
  constexpr int64_t kChunk = 1024;
  alignas(64) T a[kChunk];
  alignas(64) T b[kChunk];
  double sum = 0;
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = std::min(kChunk, n - i);
    load_a(a, p[0] + i * it.stride(0, 0), {count, 1, it.stride(0, 0), 0});
    load_b(b, p[1] + i * it.stride(1, 0), {count, 1, it.stride(1, 0), 0});
    for (int64_t k = 0; k < count; ++k) a[k] = (a[k] - b[k]) * (a[k] - b[k]);
    sum += lanes_sum(a, count);
  }
  return sum;
}

void squared_difference(const TensorIterator& it, const SquaredDifference& a) {
  const int64_t pieces = (it.numel() + kSquaresPiece - 1) / kSquaresPiece;
  const memory::Workspace workspace(static_cast<size_t>(pieces) * sizeof(double), kCPU);
  auto* const sums = workspace.as<double>();
  dispatch_floating(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(
        0, pieces, std::max<int64_t>(1, kGrain / kSquaresPiece), [&](int64_t begin, int64_t end) {
          for (; begin < end; ++begin) {
            double sum = 0;
            for_each_run(
                it, begin * kSquaresPiece, std::min((begin + 1) * kSquaresPiece, it.numel()),
                [&](char* const* p, int64_t n) { sum += squared_differences<T>(it, p, n); });
            sums[begin] = sum;
          }
        });
  });
  double sum = 0;
  for (int64_t piece = 0; piece < pieces; ++piece) sum += sums[piece];
  const double result = sum / a.divisor;
  Writer<double>(a.output, a.output_dtype, kDouble).run(&result, 0, 1);
}

}  // namespace

extern const LossKernels loss_kernels = {&forward, &backward, &squared_difference};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
