#pragma once

#include <cstdint>
#include <limits>

#include <ebb/core/ops/attention_kernels.h>
#include <ebb/cuda/kernels/storage_types.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/runtime/device_code.h>

// What the kernels of attention are made of. A block of 256 threads, 16 x 16, works on a square
// tile of scores, 64 x 64 (32 x 32 in double): thread (y, x) holds the rows y kItems + r and the
// columns x + 16 c. Factors come through shared memory a few columns or rows at a time, so that
// wide rows take no more of it than narrow ones.

namespace ebb::cuda {

namespace attention {

constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
/// Columns of the factors of a tile that are in shared memory at a time.
constexpr int kDepth = 32;
/// From one row to the next in shared memory, so that a column lies in different banks.
constexpr int kPitch = kDepth + 1;

/// Rows, and columns, of a tile that a thread holds.
template <typename T>
constexpr int kItems = sizeof(T) == 8 ? 2 : 4;
/// Rows of a tile.
template <typename T>
constexpr int kTile = kSide* kItems<T>;
/// Elements of the shared memory for factors: a piece of two.
template <typename T>
constexpr int kStage = 2 * kTile<T>* kPitch;
/// Rows of up to D elements that fit there.
template <typename T, int D>
constexpr int kStageRows = kTile<T> * 64 / D < kTile<T> ? kTile<T> * 64 / D : kTile<T>;
/// From one row of a tile to the next in shared memory.
template <typename T>
constexpr int kTilePitch = kTile<T> + 1;

__device__ __forceinline__ int side_x() { return static_cast<int>(threadIdx.x) % kSide; }
__device__ __forceinline__ int side_y() { return static_cast<int>(threadIdx.x) / kSide; }

/// A tensor [rows, width] of one matrix of the batch.
template <typename S>
struct Lines {
  const S* data;
  int64_t row_stride;
  int64_t column_stride;
  int64_t rows;
  int width;
};

/// A piece of a tile of scores per thread.
template <typename T>
struct Scores {
  T at[kItems<T>][kItems<T>];
};

/// Sums of rows of up to D elements: rows y kItems + r, columns x + 16 j.
template <typename T, int D>
struct RowSums {
  T at[kItems<T>][D / kSide];
};

/// Copies rows from `first` on, columns from `column` on, to shared memory; zeros beyond the ends.
template <typename S, typename T>
__device__ __forceinline__ void stage_columns(const Lines<S>& from, int64_t first, int column,
                                              T* to) {
  const int d = static_cast<int>(threadIdx.x) % kDepth;
  for (int r = static_cast<int>(threadIdx.x) / kDepth; r < kTile<T>; r += kThreads / kDepth) {
    const bool exists = first + r < from.rows && column + d < from.width;
    to[r * kPitch + d] =
        exists ? static_cast<T>(
                     from.data[(first + r) * from.row_stride + (column + d) * from.column_stride])
               : static_cast<T>(0);
  }
}

/// scores += rows of a from a_first on times rows of b from b_first on. Begins with a barrier.
template <typename S, typename T>
__device__ __forceinline__ void add_products(const Lines<S>& a, int64_t a_first, const Lines<S>& b,
                                             int64_t b_first, T* stage, Scores<T>& scores) {
  const int x = side_x();
  const int y = side_y();
  T* const b_stage = stage + kTile<T> * kPitch;
  for (int column = 0; column < a.width; column += kDepth) {
    __syncthreads();
    stage_columns(a, a_first, column, stage);
    stage_columns(b, b_first, column, b_stage);
    __syncthreads();
    EBB_UNROLL_BY_4
    for (int d = 0; d < kDepth; ++d) {
      T left[kItems<T>];
      T right[kItems<T>];
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) left[r] = stage[(y * kItems<T> + r) * kPitch + d];
      EBB_UNROLL
      for (int c = 0; c < kItems<T>; ++c) right[c] = b_stage[(x + kSide * c) * kPitch + d];
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) {
        EBB_UNROLL
        for (int c = 0; c < kItems<T>; ++c) scores.at[r][c] += left[r] * right[c];
      }
    }
  }
}

/// The calling thread's element (r, c) of a tile in shared memory.
template <typename T>
__device__ __forceinline__ T& at_tile(T* tile, int r, int c) {
  return tile[(side_y() * kItems<T> + r) * kTilePitch<T> + side_x() + kSide * c];
}

/// Writes a tile to shared memory. The caller has seen to it that nobody reads it any more.
template <typename T>
__device__ __forceinline__ void store_tile(const Scores<T>& scores, T* tile) {
  EBB_UNROLL
  for (int r = 0; r < kItems<T>; ++r) {
    EBB_UNROLL
    for (int c = 0; c < kItems<T>; ++c) {
      at_tile(tile, r, c) = scores.at[r][c];
    }
  }
}

/// sums += the tile in shared memory times rows of b from b_first on. Begins with a barrier.
template <int D, typename S, typename T>
__device__ __forceinline__ void add_rows(const T* tile, const Lines<S>& b, int64_t b_first,
                                         T* stage, RowSums<T, D>& sums) {
  constexpr int kRows = kStageRows<T, D>;
  const int x = side_x();
  const int y = side_y();
  for (int start = 0; start < kTile<T> && b_first + start < b.rows; start += kRows) {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kRows * D; i += kThreads) {
      const int r = i / D;
      const int d = i % D;
      const bool exists = b_first + start + r < b.rows && d < b.width;
      stage[i] =
          exists
              ? static_cast<T>(b.data[(b_first + start + r) * b.row_stride + d * b.column_stride])
              : static_cast<T>(0);
    }
    __syncthreads();
    EBB_UNROLL_BY_4
    for (int k = 0; k < kRows; ++k) {
      T left[kItems<T>];
      EBB_UNROLL
      for (int r = 0; r < kItems<T>; ++r) {
        left[r] = tile[(y * kItems<T> + r) * kTilePitch<T> + start + k];
      }
      EBB_UNROLL
      for (int j = 0; j < D / kSide; ++j) {
        const T right = stage[k * D + x + kSide * j];
        EBB_UNROLL
        for (int r = 0; r < kItems<T>; ++r) sums.at[r][j] += left[r] * right;
      }
    }
  }
}

/// Writes the rows from `first` on of a contiguous tensor [rows, width], multiplied by a factor for
/// each.
template <int D, typename S, typename T>
__device__ __forceinline__ void store_rows(const RowSums<T, D>& sums, const T (&factors)[kItems<T>],
                                           S* to, int64_t first, int64_t rows, int width) {
  EBB_UNROLL
  for (int r = 0; r < kItems<T>; ++r) {
    const int64_t row = first + side_y() * kItems<T> + r;
    if (row >= rows) continue;
    EBB_UNROLL
    for (int j = 0; j < D / kSide; ++j) {
      const int column = side_x() + kSide * j;
      if (column < width) to[row * width + column] = static_cast<S>(sums.at[r][j] * factors[r]);
    }
  }
}

/// op over the 16 threads that hold one row.
template <typename T, typename Op>
__device__ __forceinline__ T reduce_row(T value, Op op) {
  for (int mask = kSide / 2; mask > 0; mask /= 2) value = op(value, shuffle_xor(value, mask));
  return value;
}

/// The arguments of attention, for kernels.
template <typename S>
struct Problem {
  using T = Sum<S>;

  struct View {
    const void* data;
    int64_t row_stride;
    int64_t column_stride;
    int64_t batch_strides[AttentionArguments::kMaxBatchDims];

    View(const MatrixView& view, size_t batch_dims)
        : data(view.data), row_stride(view.row_stride), column_stride(view.column_stride) {
      for (size_t d = 0; d < batch_dims; ++d) {
        batch_strides[d] = view.data == nullptr ? 0 : view.batch_strides[d];
      }
    }
  };

  int64_t queries;
  int64_t keys;
  int width;
  int value_width;
  int batch_dims;
  int64_t batch[AttentionArguments::kMaxBatchDims];
  int64_t heads = 1;
  T scale;
  bool is_causal;
  bool mask_is_bool;
  bool drops;
  double keep;
  T keep_scale;
  random::Reservation draw;
  View query;
  View key;
  View value;
  View mask;
  View grad_output;
  S* output;
  T* log_sum_exp;
  T* products;
  S* grad_query;
  S* grad_key;
  S* grad_value;

  explicit Problem(const AttentionArguments& a)
      : queries(a.queries),
        keys(a.keys),
        width(static_cast<int>(a.width)),
        value_width(static_cast<int>(a.value_width)),
        batch_dims(static_cast<int>(a.batch.size())),
        scale(static_cast<T>(a.scale)),
        is_causal(a.is_causal),
        mask_is_bool(a.mask_is_bool),
        drops(a.dropout_p > 0),
        keep(1 - a.dropout_p),
        keep_scale(keep == 0 ? T{0} : static_cast<T>(1 / keep)),
        draw(a.draw),
        query(a.query, a.batch.size()),
        key(a.key, a.batch.size()),
        value(a.value, a.batch.size()),
        mask(a.mask, a.batch.size()),
        grad_output(a.grad_output, a.batch.size()),
        output(static_cast<S*>(a.output)),
        log_sum_exp(static_cast<T*>(a.log_sum_exp)),
        products(static_cast<T*>(a.products)),
        grad_query(static_cast<S*>(a.grad_query)),
        grad_key(static_cast<S*>(a.grad_key)),
        grad_value(static_cast<S*>(a.grad_value)) {
    for (size_t d = 0; d < a.batch.size(); ++d) heads *= batch[d] = a.batch[d];
  }

  /// Where matrix `head` of the batch starts, in elements.
  EBB_INLINE int64_t start(const View& view, int64_t head) const {
    int64_t offset = 0;
    for (int d = batch_dims - 1; d >= 0; --d) {
      const int64_t quotient = head / batch[d];
      offset += (head - quotient * batch[d]) * view.batch_strides[d];
      head = quotient;
    }
    return offset;
  }
  EBB_INLINE Lines<S> lines(const View& view, int64_t head, int64_t rows, int columns) const {
    return {static_cast<const S*>(view.data) + start(view, head), view.row_stride,
            view.column_stride, rows, columns};
  }
  EBB_INLINE Lines<S> query_lines(int64_t head) const { return lines(query, head, queries, width); }
  EBB_INLINE Lines<S> key_lines(int64_t head) const { return lines(key, head, keys, width); }
  EBB_INLINE Lines<S> value_lines(int64_t head) const {
    return lines(value, head, keys, value_width);
  }
  EBB_INLINE Lines<S> grad_lines(int64_t head) const {
    return lines(grad_output, head, queries, value_width);
  }

  /// The score of a product of a query and a key; -inf where they do not meet. `mask_start` is
  /// start(mask, head).
  EBB_INLINE T score(T product, int64_t i, int64_t j, int64_t mask_start) const {
    constexpr T kNever = -std::numeric_limits<T>::infinity();
    if (i >= queries || j >= keys || (is_causal && j > i)) return kNever;
    const T score = product * scale;
    if (mask.data == nullptr) return score;
    const int64_t offset = mask_start + i * mask.row_stride + j * mask.column_stride;
    if (!mask_is_bool) return score + static_cast<T>(static_cast<const S*>(mask.data)[offset]);
    return static_cast<const uint8_t*>(mask.data)[offset] != 0 ? score : kNever;
  }
  /// What dropout multiplies a weight by.
  EBB_INLINE T dropout(int64_t head, int64_t i, int64_t j) const {
    const auto element = static_cast<uint64_t>((head * queries + i) * keys + j);
    const random::Words4 words = random::philox(draw.seed, draw.offset + element / 4);
    const uint64_t lane = element % 4;  // chosen by comparisons: an index would need local memory
    const uint32_t word = lane < 2 ? (lane == 0 ? words.lane[0] : words.lane[1])
                                   : (lane == 2 ? words.lane[2] : words.lane[3]);
    return random::to_bernoulli(word, keep) ? keep_scale : T{0};
  }
};

/// Fills the calling thread's places in a tile in shared memory with what dropout multiplies the
/// weights there by; `row` and `column` are its first. A loop, since random numbers are long code.
template <bool rows_are_keys, typename S>
__device__ __forceinline__ void draw_dropout(const Problem<S>& p, int64_t head, int64_t row,
                                             int64_t column, Sum<S>* tile) {
  using T = Sum<S>;
  EBB_NO_UNROLL
  for (int e = 0; e < kItems<T> * kItems<T>; ++e) {
    const int r = e / kItems<T>;
    const int c = e % kItems<T>;
    const int64_t i = row + r;
    const int64_t j = column + kSide * c;
    at_tile(tile, r, c) = rows_are_keys ? p.dropout(head, j, i) : p.dropout(head, i, j);
  }
}

}  // namespace attention

}  // namespace ebb::cuda
