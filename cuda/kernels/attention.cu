#include <ebb/core/ops/attention_kernels.h>

#include <cmath>
#include <limits>

#include <ebb/cuda/kernels/attention_tile.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Attention by tiles of 64 queries and 64 keys, as core/cpu/kernels/attention.cpp: forward with a
// running maximum and sum, backward with the weights made again, once for each tile of queries
// (grad_query) and once for each tile of keys (grad_key, grad_value). No two blocks add to one
// element, so the results are the same on each run.

namespace ebb::cuda {

namespace {

using namespace attention;  // NOLINT: the parts of these kernels

template <typename T>
struct Larger {
  EBB_INLINE T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T>
struct Plus {
  EBB_INLINE T operator()(T a, T b) const { return a + b; }
};

/// The running softmax of the rows that a thread holds.
template <typename T>
struct OnlineSoftmax {
  T largest[kItems<T>];
  T sum[kItems<T>];

  __device__ __forceinline__ OnlineSoftmax() {
    EBB_UNROLL
    for (int r = 0; r < kItems<T>; ++r) {
      largest[r] = -std::numeric_limits<T>::infinity();
      sum[r] = 0;
    }
  }

  /// Makes scores weights (not yet over the sum), and the sums so far fit them.
  template <int D>
  __device__ __forceinline__ void add(Scores<T>& scores, RowSums<T, D>& sums) {
    EBB_UNROLL
    for (int r = 0; r < kItems<T>; ++r) {
      T most = scores.at[r][0];
      EBB_UNROLL
      for (int c = 1; c < kItems<T>; ++c) most = Larger<T>()(most, scores.at[r][c]);
      most = Larger<T>()(largest[r], reduce_row(most, Larger<T>()));
      const bool none = most == -std::numeric_limits<T>::infinity();
      const T shift = none ? T{0} : most;  // -inf - -inf is not a number
      const T correction = std::exp(largest[r] - shift);
      T added = 0;
      EBB_UNROLL
      for (int c = 0; c < kItems<T>; ++c) {
        scores.at[r][c] = std::exp(scores.at[r][c] - shift);
        added += scores.at[r][c];
      }
      sum[r] = sum[r] * correction + reduce_row(added, Plus<T>());
      largest[r] = most;
      EBB_UNROLL
      for (int j = 0; j < D / kSide; ++j) sums.at[r][j] *= correction;
    }
  }
};

template <typename S, int D>
__global__ void __launch_bounds__(kThreads, 1) attention_forward(Problem<S> p) {
  using T = Sum<S>;
  EBB_SHARED(stage, T[kStage<T>]);
  EBB_SHARED(tile, T[kTile<T> * kTilePitch<T>]);
  const int64_t tiles = (p.queries + kTile<T> - 1) / kTile<T>;
  for (int64_t work = blockIdx.x; work < tiles * p.heads; work += gridDim.x) {
    const int64_t head = work / tiles;
    const int64_t first = work % tiles * kTile<T>;
    const int64_t row = first + side_y() * kItems<T>;
    const Lines<S> query = p.query_lines(head);
    const Lines<S> key = p.key_lines(head);
    const Lines<S> value = p.value_lines(head);
    const int64_t mask = p.start(p.mask, head);
    OnlineSoftmax<T> softmax;
    RowSums<T, D> sums = {};
    const int64_t keys = p.is_causal && first + kTile<T> < p.keys ? first + kTile<T> : p.keys;
    for (int64_t j = 0; j < keys; j += kTile<T>) {
      const int64_t column = j + side_x();
      Scores<T> scores = {};
      add_products(query, first, key, j, stage, scores);
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) {
        EBB_UNROLL
        for (int c = 0; c < kItems<T>; ++c) {
          scores.at[r][c] = p.score(scores.at[r][c], row + r, column + kSide * c, mask);
        }
      }
      softmax.add(scores, sums);
      if (p.drops) {
        draw_dropout<false>(p, head, row, column, tile);
        EBB_UNROLL
        for (int r = 0; r < kItems<T>; ++r) {
          EBB_UNROLL
          for (int c = 0; c < kItems<T>; ++c) scores.at[r][c] *= at_tile(tile, r, c);
        }
      }
      store_tile(scores, tile);
      add_rows(tile, value, j, stage, sums);
    }
    T factors[kItems<T>];
    EBB_UNROLL
    for (int r = 0; r < kItems<T>; ++r) {
      const T sum = softmax.sum[r];
      factors[r] = sum == T{0} ? T{0} : T{1} / sum;
      if (side_x() == 0 && row + r < p.queries) {
        p.log_sum_exp[head * p.queries + row + r] =
            sum == T{0} ? std::numeric_limits<T>::infinity() : softmax.largest[r] + std::log(sum);
      }
    }
    store_rows(sums, factors, p.output + head * p.queries * p.value_width, first, p.queries,
               p.value_width);
  }
}

/// What softmax subtracts from the gradients of the weights of a query: grad_output times output,
/// one row a warp.
template <typename S>
__global__ void attention_products(Problem<S> p) {
  using T = Sum<S>;
  const auto lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const auto warps = static_cast<int64_t>(gridDim.x) * (blockDim.x / kWarpSize);
  for (int64_t row =
           static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
       row < p.heads * p.queries; row += warps) {
    const int64_t head = row / p.queries;
    const Lines<S> grad = p.grad_lines(head);
    const S* const from = grad.data + (row - head * p.queries) * grad.row_stride;
    T sum = 0;
    for (int d = lane; d < p.value_width; d += kWarpSize) {
      sum += static_cast<T>(p.output[row * p.value_width + d]) *
             static_cast<T>(from[d * grad.column_stride]);
    }
    sum = warp_reduce(sum, Plus<T>());
    if (lane == 0) p.products[row] = sum;
  }
}

template <typename S, int D>
__global__ void __launch_bounds__(kThreads, 1) attention_backward_query(Problem<S> p) {
  using T = Sum<S>;
  EBB_SHARED(stage, T[kStage<T>]);
  EBB_SHARED(tile, T[kTile<T> * kTilePitch<T>]);
  const int64_t tiles = (p.queries + kTile<T> - 1) / kTile<T>;
  for (int64_t work = blockIdx.x; work < tiles * p.heads; work += gridDim.x) {
    const int64_t head = work / tiles;
    const int64_t first = work % tiles * kTile<T>;
    const int64_t row = first + side_y() * kItems<T>;
    const Lines<S> query = p.query_lines(head);
    const Lines<S> key = p.key_lines(head);
    const Lines<S> value = p.value_lines(head);
    const Lines<S> grad = p.grad_lines(head);
    const int64_t mask = p.start(p.mask, head);
    T log_sum_exp[kItems<T>];
    T subtract[kItems<T>];
    T factors[kItems<T>];
    EBB_UNROLL
    for (int r = 0; r < kItems<T>; ++r) {
      const bool exists = row + r < p.queries;
      log_sum_exp[r] = exists ? p.log_sum_exp[head * p.queries + row + r] : T{0};
      subtract[r] = exists ? p.products[head * p.queries + row + r] : T{0};
      factors[r] = p.scale;
    }
    RowSums<T, D> sums = {};
    const int64_t keys = p.is_causal && first + kTile<T> < p.keys ? first + kTile<T> : p.keys;
    for (int64_t j = 0; j < keys; j += kTile<T>) {
      const int64_t column = j + side_x();
      Scores<T> scores = {};
      Scores<T> grads = {};
      add_products(query, first, key, j, stage, scores);
      add_products(grad, first, value, j, stage, grads);
      if (p.drops) {
        draw_dropout<false>(p, head, row, column, tile);
        EBB_UNROLL
        for (int r = 0; r < kItems<T>; ++r) {
          EBB_UNROLL
          for (int c = 0; c < kItems<T>; ++c) grads.at[r][c] *= at_tile(tile, r, c);
        }
      }
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) {
        EBB_UNROLL
        for (int c = 0; c < kItems<T>; ++c) {
          const T score = p.score(scores.at[r][c], row + r, column + kSide * c, mask);
          const T weight = std::exp(score - log_sum_exp[r]);
          grads.at[r][c] = weight * (grads.at[r][c] - subtract[r]);
        }
      }
      store_tile(grads, tile);
      add_rows(tile, key, j, stage, sums);
    }
    store_rows(sums, factors, p.grad_query + head * p.queries * p.width, first, p.queries, p.width);
  }
}

/// Rows are keys here, columns queries.
template <typename S, int D>
__global__ void __launch_bounds__(kThreads, 1) attention_backward_key(Problem<S> p) {
  using T = Sum<S>;
  EBB_SHARED(stage, T[kStage<T>]);
  EBB_SHARED(tile, T[kTile<T> * kTilePitch<T>]);
  const int64_t tiles = (p.keys + kTile<T> - 1) / kTile<T>;
  for (int64_t work = blockIdx.x; work < tiles * p.heads; work += gridDim.x) {
    const int64_t head = work / tiles;
    const int64_t first = work % tiles * kTile<T>;
    const int64_t row = first + side_y() * kItems<T>;
    const Lines<S> query = p.query_lines(head);
    const Lines<S> key = p.key_lines(head);
    const Lines<S> value = p.value_lines(head);
    const Lines<S> grad = p.grad_lines(head);
    const int64_t mask = p.start(p.mask, head);
    RowSums<T, D> grad_key = {};
    RowSums<T, D> grad_value = {};
    // Queries before the first key's place do not meet these keys.
    for (int64_t i = p.is_causal ? first : 0; i < p.queries; i += kTile<T>) {
      const int64_t column = i + side_x();
      Scores<T> scores = {};
      Scores<T> grads = {};
      add_products(key, first, query, i, stage, scores);
      add_products(value, first, grad, i, stage, grads);
      if (p.drops) draw_dropout<true>(p, head, row, column, tile);
      EBB_UNROLL
      for (int c = 0; c < kItems<T>; ++c) {
        const int64_t at = column + kSide * c;
        const bool exists = at < p.queries;
        const T log_sum_exp = exists ? p.log_sum_exp[head * p.queries + at] : T{0};
        const T subtract = exists ? p.products[head * p.queries + at] : T{0};
        EBB_UNROLL
        for (int r = 0; r < kItems<T>; ++r) {
          const T weight = std::exp(p.score(scores.at[r][c], at, row + r, mask) - log_sum_exp);
          const T factor = p.drops ? at_tile(tile, r, c) : T{1};
          scores.at[r][c] = weight * factor;
          grads.at[r][c] = weight * (grads.at[r][c] * factor - subtract);
        }
      }
      store_tile(scores, tile);
      add_rows(tile, grad, i, stage, grad_value);
      __syncthreads();
      store_tile(grads, tile);
      add_rows(tile, query, i, stage, grad_key);
    }
    T factors[kItems<T>];
    if (p.grad_key != nullptr) {
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) factors[r] = p.scale;
      store_rows(grad_key, factors, p.grad_key + head * p.keys * p.width, first, p.keys, p.width);
    }
    if (p.grad_value != nullptr) {
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) factors[r] = T{1};
      store_rows(grad_value, factors, p.grad_value + head * p.keys * p.value_width, first, p.keys,
                 p.value_width);
    }
  }
}

/// Calls f with the width that kernels are compiled for, as a type, that holds rows of `width`.
template <int D>
struct Width {
  static constexpr int value = D;
};
template <typename F>
void dispatch_width(int64_t width, F&& f) {
  if (width <= 64) return f(Width<64>());
  if (width <= 128) return f(Width<128>());
  static_assert(AttentionArguments::kMaxWidth == 256);
  f(Width<256>());
}

/// Launches a kernel that works on tiles of `rows` rows of each matrix.
template <typename S>
void launch_tiles(void (*kernel)(Problem<S>), const KernelDevice& device, const Problem<S>& problem,
                  int64_t rows) {
  const int64_t tiles = (rows + kTile<Sum<S>> - 1) / kTile<Sum<S>>;
  if (tiles == 0) return;
  launch(kernel, blocks_for(tiles * problem.heads, 1), kThreads, 0, device.stream(), problem);
}

/// Calls f(zero, width) with the types that the arguments need.
template <typename F>
void dispatch_attention(const AttentionArguments& a, F&& f) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    dispatch_width(a.width > a.value_width ? a.width : a.value_width,
                   [&](auto width) { f(zero, width); });
  });
}

void forward(const AttentionArguments& a) {
  const KernelDevice device;
  dispatch_attention(a, [&](auto zero, auto width) {
    using S = decltype(zero);
    launch_tiles(&attention_forward<S, decltype(width)::value>, device, Problem<S>(a), a.queries);
  });
}

void backward(const AttentionArguments& a) {
  const KernelDevice device;
  dispatch_attention(a, [&](auto zero, auto width) {
    using S = decltype(zero);
    constexpr int D = decltype(width)::value;
    const Problem<S> problem(a);
    const int64_t rows = problem.heads * a.queries;
    if (rows > 0) {
      constexpr int kRows = kBlockThreads / kWarpSize;
      launch(&attention_products<S>, blocks_for(rows, kRows), kBlockThreads, 0, device.stream(),
             problem);
    }
    if (a.grad_query != nullptr) {
      launch_tiles(&attention_backward_query<S, D>, device, problem, a.queries);
    }
    if (a.grad_key != nullptr || a.grad_value != nullptr) {
      launch_tiles(&attention_backward_key<S, D>, device, problem, a.keys);
    }
  });
}

}  // namespace

extern const AttentionKernels attention_kernels = {&forward, &backward};

}  // namespace ebb::cuda
