#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/ops/functors/math.h>
#include <ebb/core/ops/functors/reduce.h>
#include <ebb/core/ops/reduce_kernels.h>

// The reductions as the CPU runs them: a table of functions for each op and compute type that fold
// a tile of elements into states, one state a column.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// How many rows are folded in the compute type before they are merged into a state.
constexpr int64_t kReduceBlockRows = 32;
constexpr int64_t kReduceColumns = 512;

/// rows x cols elements of the compute type, columns adjacent. The element (r, c) is number
/// index + r * index_row + c * index_col of its output.
struct ReduceTile {
  const void* data;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t index;
  int64_t index_row;
  int64_t index_col;
};

struct Reducer {
  size_t state_bytes;
  /// Over how many states one long row is spread.
  int64_t lanes;
  void (*start)(void* states, int64_t n);
  /// At most kReduceBlockRows rows and kReduceColumns columns.
  void (*fold)(void* states, const ReduceTile& tile, double parameter);
  /// states[i] takes in others[i].
  void (*merge)(void* states, const void* others, int64_t n);
  void (*finish)(const void* states, int64_t n, int64_t count, double parameter, void* values,
                 int64_t* indices);
};

/// What folds one element after another (functors/reduce.h).
template <typename Fold, typename T>
struct FoldReducer {
  using State = typename Fold::State;
  static constexpr int64_t kLanes = 64;

  static void start(State* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = static_cast<State>(Fold::identity());
  }

  static void fold(State* states, const ReduceTile& tile, double parameter) {
    const Fold op(parameter);
    const int64_t cols = tile.cols;
    T sums[kReduceColumns];
    for (int64_t c = 0; c < cols; ++c) sums[c] = Fold::identity();
    const T* row = static_cast<const T*>(tile.data);
    int64_t r = 0;
    for (; r + 4 <= tile.rows; r += 4, row += 4 * tile.row_stride) {
      const T* row1 = row + tile.row_stride;
      const T* row2 = row1 + tile.row_stride;
      const T* row3 = row2 + tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) {
        sums[c] = op.step(op.step(op.step(op.step(sums[c], row[c]), row1[c]), row2[c]), row3[c]);
      }
    }
    for (; r < tile.rows; ++r, row += tile.row_stride) {
      for (int64_t c = 0; c < cols; ++c) sums[c] = op.step(sums[c], row[c]);
    }
    for (int64_t c = 0; c < cols; ++c) {
      states[c] = Fold::merge(states[c], static_cast<State>(sums[c]));
    }
  }

  static void merge(State* states, const State* others, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = Fold::merge(states[i], others[i]);
  }

  static void finish(const State* states, int64_t n, int64_t count, double parameter, T* values,
                     int64_t*) {
    const Fold op(parameter);
    for (int64_t i = 0; i < n; ++i) values[i] = op.finish(states[i], count);
  }
};

struct VarState {
  double count;
  double mean;
  double squares;  ///< sum (x - mean)^2
};

/// Mean and squared deviations of blocks, in two passes over a block that is in cache, merged as in
/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances" (1979).
template <typename T, bool kRoot>
struct VarReducer {
  using State = VarState;
  static constexpr int64_t kLanes = 16;

  static void start(State* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = {0, 0, 0};
  }

  static void fold(State* states, const ReduceTile& tile, double) {
    const int64_t cols = tile.cols;
    T means[kReduceColumns];
    T squares[kReduceColumns];
    const T* data = static_cast<const T*>(tile.data);
    for (int64_t c = 0; c < cols; ++c) means[c] = squares[c] = T{0};
    for (int64_t r = 0; r < tile.rows; ++r) {
      const T* row = data + r * tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) means[c] += row[c];
    }
    const T scale = T{1} / static_cast<T>(tile.rows);
    T rest[kReduceColumns];
    for (int64_t c = 0; c < cols; ++c) {
      means[c] *= scale;
      rest[c] = T{0};
    }
    for (int64_t r = 0; r < tile.rows; ++r) {
      const T* row = data + r * tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) {
        const T deviation = row[c] - means[c];
        squares[c] += deviation * deviation;
        rest[c] += deviation;
      }
    }
    // The deviations add up to what rounding took from the mean.
    const auto rows = static_cast<double>(tile.rows);
    for (int64_t c = 0; c < cols; ++c) {
      const double shift = static_cast<double>(rest[c]) / rows;
      const double around = static_cast<double>(squares[c]) - shift * shift * rows;
      states[c] =
          merged(states[c], {rows, static_cast<double>(means[c]) + shift, around < 0 ? 0 : around});
    }
  }

  static State merged(const State& a, const State& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const double count = a.count + b.count;
    const double delta = b.mean - a.mean;
    return {count, a.mean + delta * (b.count / count),
            a.squares + b.squares + delta * delta * (a.count * b.count / count)};
  }

  static void merge(State* states, const State* others, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = merged(states[i], others[i]);
  }

  static void finish(const State* states, int64_t n, int64_t count, double correction, T* values,
                     int64_t*) {
    const double divisor = std::max(0.0, static_cast<double>(count) - correction);
    for (int64_t i = 0; i < n; ++i) {
      const double variance = states[i].squares / divisor;
      values[i] = static_cast<T>(kRoot ? std::sqrt(variance) : variance);
    }
  }
};

/// The largest element and the sum of exp(x - largest); an infinite largest element counts as 0.
template <typename T>
struct LogSumExpReducer {
  struct State {
    double largest;
    double sum;
  };
  static constexpr int64_t kLanes = 16;

  static void start(State* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = {-std::numeric_limits<double>::infinity(), 0};
  }

  template <typename U>
  static U finite(U x) {
    return std::fabs(x) == std::numeric_limits<U>::infinity() ? U{0} : x;
  }

  static void fold(State* states, const ReduceTile& tile, double) {
    const int64_t cols = tile.cols;
    const functors::MaxFold<T> max(0);
    T largest[kReduceColumns];
    T sums[kReduceColumns];
    const T* data = static_cast<const T*>(tile.data);
    for (int64_t c = 0; c < cols; ++c) largest[c] = functors::MaxFold<T>::identity();
    for (int64_t r = 0; r < tile.rows; ++r) {
      const T* row = data + r * tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) largest[c] = max.step(largest[c], row[c]);
    }
    for (int64_t c = 0; c < cols; ++c) sums[c] = T{0};
    for (int64_t r = 0; r < tile.rows; ++r) {
      const T* row = data + r * tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) {
        sums[c] += functors::math::exp(row[c] - finite(largest[c]));
      }
    }
    for (int64_t c = 0; c < cols; ++c) {
      states[c] =
          merged(states[c], {static_cast<double>(largest[c]), static_cast<double>(sums[c])});
    }
  }

  static State merged(const State& a, const State& b) {
    if (a.sum == 0) return b;  // nothing yet, or nothing but -inf
    if (b.sum == 0) return a;
    const double largest = functors::MaxFold<double>::merge(a.largest, b.largest);
    const double shift = finite(largest);
    return {largest, a.sum * std::exp(finite(a.largest) - shift) +
                         b.sum * std::exp(finite(b.largest) - shift)};
  }

  static void merge(State* states, const State* others, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = merged(states[i], others[i]);
  }

  static void finish(const State* states, int64_t n, int64_t, double, T* values, int64_t*) {
    for (int64_t i = 0; i < n; ++i) {
      values[i] = static_cast<T>(std::log(states[i].sum) + finite(states[i].largest));
    }
  }
};

/// The largest (or least) element and its first index; NaN wins.
template <typename T, bool kLargest>
struct ArgReducer {
  struct State {
    T value;
    int64_t index;  ///< -1: none yet
  };
  static constexpr int64_t kLanes = 32;
  using Row = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as T: vectorisable

  static bool beats(T a, T b) { return kLargest ? a > b : a < b; }

  static void start(State* states, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = {T{0}, -1};
  }

  static void fold(State* states, const ReduceTile& tile, double) {
    const int64_t cols = tile.cols;
    T best[kReduceColumns];
    Row rows[kReduceColumns];
    const T* data = static_cast<const T*>(tile.data);
    for (int64_t c = 0; c < cols; ++c) {
      best[c] = data[c];
      rows[c] = 0;
    }
    for (int64_t r = 1; r < tile.rows; ++r) {
      const T* row = data + r * tile.row_stride;
      for (int64_t c = 0; c < cols; ++c) {
        const int first_nan = static_cast<int>(functors::is_nan(row[c])) &
                              static_cast<int>(!functors::is_nan(best[c]));
        const bool better = (static_cast<int>(beats(row[c], best[c])) | first_nan) != 0;
        best[c] = better ? row[c] : best[c];
        rows[c] = better ? static_cast<Row>(r) : rows[c];
      }
    }
    for (int64_t c = 0; c < cols; ++c) {
      states[c] =
          merged(states[c], {best[c], tile.index + rows[c] * tile.index_row + c * tile.index_col});
    }
  }

  static State merged(const State& a, const State& b) {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    const bool a_nan = functors::is_nan(a.value);
    const bool b_nan = functors::is_nan(b.value);
    if (a_nan != b_nan) return a_nan ? a : b;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return a.index < b.index ? a : b;
  }

  static void merge(State* states, const State* others, int64_t n) {
    for (int64_t i = 0; i < n; ++i) states[i] = merged(states[i], others[i]);
  }

  static void finish(const State* states, int64_t n, int64_t, double, T* values, int64_t* indices) {
    for (int64_t i = 0; i < n; ++i) {
      values[i] = states[i].value;
      indices[i] = states[i].index;
    }
  }
};

template <typename R, typename T, typename State>
constexpr Reducer make_reducer() {
  static_assert(sizeof(State) <= kReduceStateBytes);
  return {sizeof(State),
          R::kLanes,
          [](void* states, int64_t n) { R::start(static_cast<State*>(states), n); },
          [](void* states, const ReduceTile& tile, double parameter) {
            R::fold(static_cast<State*>(states), tile, parameter);
          },
          [](void* states, const void* others, int64_t n) {
            R::merge(static_cast<State*>(states), static_cast<const State*>(others), n);
          },
          [](const void* states, int64_t n, int64_t count, double parameter, void* values,
             int64_t* indices) {
            R::finish(static_cast<const State*>(states), n, count, parameter,
                      static_cast<T*>(values), indices);
          }};
}

template <template <typename> typename Fold, typename T>
constexpr Reducer fold_reducer() {
  return make_reducer<FoldReducer<Fold<T>, T>, T, typename Fold<T>::State>();
}

/// For ops on floating-point elements only.
template <typename R, typename T>
constexpr Reducer floating_reducer() {
  return make_reducer<R, T, typename R::State>();
}

template <typename T>
struct Reducers {
  Reducer table[kReduceOps] = {};
  constexpr Reducers() {
    auto set = [this](ReduceOp op, Reducer reducer) { table[static_cast<int>(op)] = reducer; };
    set(ReduceOp::sum, fold_reducer<functors::SumFold, T>());
    set(ReduceOp::prod, fold_reducer<functors::ProdFold, T>());
    set(ReduceOp::max, fold_reducer<functors::MaxFold, T>());
    set(ReduceOp::min, fold_reducer<functors::MinFold, T>());
    set(ReduceOp::all, fold_reducer<functors::AllFold, T>());
    set(ReduceOp::any, fold_reducer<functors::AnyFold, T>());
    set(ReduceOp::argmax, floating_reducer<ArgReducer<T, true>, T>());
    set(ReduceOp::argmin, floating_reducer<ArgReducer<T, false>, T>());
    if constexpr (std::is_floating_point_v<T>) {
      set(ReduceOp::mean, fold_reducer<functors::MeanFold, T>());
      set(ReduceOp::count_nonzero, fold_reducer<functors::CountNonzeroFold, T>());
      set(ReduceOp::sum_abs, fold_reducer<functors::SumAbsFold, T>());
      set(ReduceOp::norm2, fold_reducer<functors::Norm2Fold, T>());
      set(ReduceOp::norm_p, fold_reducer<functors::NormPFold, T>());
      set(ReduceOp::max_abs, fold_reducer<functors::MaxAbsFold, T>());
      set(ReduceOp::min_abs, fold_reducer<functors::MinAbsFold, T>());
      set(ReduceOp::var, floating_reducer<VarReducer<T, false>, T>());
      set(ReduceOp::std, floating_reducer<VarReducer<T, true>, T>());
      set(ReduceOp::logsumexp, floating_reducer<LogSumExpReducer<T>, T>());
    }
  }
};

constexpr Reducers<float> kFloatReducers;
constexpr Reducers<double> kDoubleReducers;
constexpr Reducers<int64_t> kLongReducers;

const Reducer& reducer(ReduceOp op, ScalarType compute) {
  const auto i = static_cast<size_t>(op);
  if (compute == kFloat) return kFloatReducers.table[i];
  if (compute == kDouble) return kDoubleReducers.table[i];
  return kLongReducers.table[i];
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
