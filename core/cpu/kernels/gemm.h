#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/convert.h>
#include <ebb/core/cpu/kernels/micro_kernel.h>
#include <ebb/core/cpu/packing_buffer.h>
#include <ebb/core/parallel.h>

// C = alpha A B + beta E, blocked for the caches. A and B are read by "sources", which pack blocks
// of them into panels: a strided matrix (transposed or not, of any dtype), or the windows of an
// image, which so never lie in memory as a matrix. A block of C is computed by one thread, along k
// always in the same order: the result does not depend on the number of threads. A BLAS would read
// neither strides, 16-bit floats nor windows without copies, brings threads of its own, and may
// take a new CPU for an old one: Debian 12's OpenBLAS has been seen at a tenth of this code's
// speed.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// What elements of type S are added and multiplied in. Unsigned: integers wrap around.
template <typename S>
using Accumulator = std::conditional_t<std::is_same_v<S, double>, double,
                                       std::conditional_t<std::is_integral_v<S>, uint64_t, float>>;

template <typename T, typename S>
__attribute__((always_inline)) inline T widened(S x) {
  return static_cast<T>(x);
}
template <typename S, typename T>
__attribute__((always_inline)) inline S narrowed(T x) {
  if constexpr (ReducedFloat<S>) {
    return S(x);
  } else {
    return static_cast<S>(x);
  }
}

/// A strided matrix of S as rows of A or as columns of B ("lines"), each running along k.
template <typename S>
struct MatrixSource {
  const S* data;
  int64_t line_stride;
  int64_t k_stride;

  /// to[p * width + i] = element k + p of line first + i; zero for i beyond `lines`.
  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    const S* from = data + first * line_stride + k * k_stride;
    if (lines < width) std::fill(to, to + depth * width, T{});
    if (line_stride == 1) {
      for (int64_t p = 0; p < depth; ++p, from += k_stride, to += width) {
        if (lines == width) {
          for (int i = 0; i < width; ++i) to[i] = widened<T>(from[i]);
        } else {
          for (int64_t i = 0; i < lines; ++i) to[i] = widened<T>(from[i]);
        }
      }
    } else if (lines == width) {
      // Short runs along k of all lines, so that what is written stays in the nearest cache.
      constexpr int64_t run = 16;
      for (int64_t p = 0; p < depth; p += run, to += run * width, from += run * k_stride) {
        const int64_t count = std::min(run, depth - p);
        for (int64_t i = 0; i < width; ++i) {
          const S* line = from + i * line_stride;
          for (int64_t q = 0; q < count; ++q) to[q * width + i] = widened<T>(line[q * k_stride]);
        }
      }
    } else {
      for (int64_t i = 0; i < lines; ++i) {
        const S* line = from + i * line_stride;
        for (int64_t p = 0; p < depth; ++p) to[p * width + i] = widened<T>(line[p * k_stride]);
      }
    }
  }
};

/// A matrix whose lines are cut into pieces of `inner` elements, `outer_stride` apart.
template <typename S>
struct SplitSource {
  MatrixSource<S> piece;
  int64_t inner;
  int64_t outer_stride;

  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    while (depth > 0) {
      const int64_t start = k % inner;
      const int64_t count = std::min(depth, inner - start);
      MatrixSource<S> source = piece;
      source.data += k / inner * outer_stride;
      source.template pack<width>(to, first, lines, start, count);
      to += count * width;
      k += count;
      depth -= count;
    }
  }
};

/// Any of the sources, as panels of `width` lines of T, so that what multiplies them is compiled
/// once for all. Holds a reference.
template <int width, typename T>
class Panels {
 public:
  template <typename Source>
  Panels(const Source& source)  // NOLINT: implicit
      : source_(&source),
        pack_([](const void* from, T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) {
          static_cast<const Source*>(from)->template pack<width>(to, first, lines, k, depth);
        }) {}

  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    pack_(source_, to, first, lines, k, depth);
  }

 private:
  const void* source_;
  void (*pack_)(const void*, T*, int64_t, int64_t, int64_t, int64_t);
};
template <typename T>
using LeftPanels = std::type_identity_t<Panels<kTileRows, T>>;
template <typename T>
using RightPanels = std::type_identity_t<Panels<kTileColumns<T>, T>>;

/// What a product is added to and where it goes, strides in elements.
template <typename S, typename T>
struct Destination {
  S* data;
  int64_t row_stride;
  int64_t column_stride;
  T alpha = T{1};
  T beta = T{0};
  const S* addend = nullptr;  ///< E; null if beta is zero: then E is not read
  int64_t addend_row_stride = 0;
  int64_t addend_column_stride = 0;
  int64_t first_row = 0;  ///< where `data` points, in C
  int64_t first_column = 0;
  /// Columns are cut into pieces of this many; these are `middle_stride` apart for `middle_columns`
  /// pieces (the rows of an image), which are `outer_stride` apart (the images of a batch).
  int64_t inner_columns = std::numeric_limits<int64_t>::max();
  int64_t middle_columns = 1;
  int64_t middle_stride = 0;
  int64_t outer_stride = 0;

  /// Writes a tile of sums whose rows are `stride` apart. `first`: nothing was written before.
  void store(const T* sums, int64_t stride, int64_t row, int64_t column, int64_t rows,
             int64_t columns, bool first) const {
    while (columns > 0) {
      const int64_t piece = column / inner_columns;
      const int64_t start = column % inner_columns;
      const int64_t count = std::min(columns, inner_columns - start);
      S* const to = data + piece / middle_columns * outer_stride +
                    piece % middle_columns * middle_stride + (row - first_row) * row_stride +
                    (start - first_column) * column_stride;
      const S* const added = addend == nullptr
                                 ? nullptr
                                 : addend + row * addend_row_stride + column * addend_column_stride;
      for (int64_t r = 0; r < rows; ++r) {
        store_row(sums + r * stride, addend == nullptr ? nullptr : added + r * addend_row_stride,
                  to + r * row_stride, count, first);
      }
      sums += count;
      column += count;
      columns -= count;
    }
  }

 private:
  T scaled(T sum) const { return alpha * sum; }

  void store_row(const T* sums, const S* added, S* to, int64_t columns, bool first) const {
    if (!first) {
      write(sums, to, column_stride, T{1}, to, column_stride, columns);
    } else if (addend != nullptr) {
      write(sums, added, addend_column_stride, beta, to, column_stride, columns);
    } else if (column_stride == 1) {
      for (int64_t c = 0; c < columns; ++c) to[c] = narrowed<S>(scaled(sums[c]));
    } else {
      for (int64_t c = 0; c < columns; ++c) to[c * column_stride] = narrowed<S>(scaled(sums[c]));
    }
  }

  void write(const T* sums, const S* added, int64_t added_stride, T factor, S* to, int64_t stride,
             int64_t columns) const {
    if (stride == 1 && added_stride == 1) {
      for (int64_t c = 0; c < columns; ++c) {
        to[c] = narrowed<S>(scaled(sums[c]) + factor * widened<T>(added[c]));
      }
    } else {
      for (int64_t c = 0; c < columns; ++c) {
        to[c * stride] =
            narrowed<S>(scaled(sums[c]) + factor * widened<T>(added[c * added_stride]));
      }
    }
  }
};

constexpr int64_t kDepth = 256;     // of a block along k: a panel of B stays in the nearest cache
constexpr int64_t kRowBlock = 96;   // rows of A packed together
constexpr int64_t kTaskRows = 384;  // rows that share a packed block of B
template <typename T>
constexpr int64_t kColumnBlock = sizeof(T) == 4 ? 512 : 256;

constexpr int64_t round_up(int64_t x, int64_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

struct Block {
  int64_t row;
  int64_t rows;
  int64_t column;
  int64_t columns;
};

/// All tiles of one packed block of A and one of B.
template <typename T>
void multiply_panels(const T* a, const T* b, int64_t depth, const Block& block,
                     const Destination<T, T>& out, bool first) {
  constexpr int64_t width = kTileColumns<T>;
  alignas(64) T tile[kTileRows * width];
  for (int64_t j = 0; j < block.columns; j += width) {
    const T* const right = b + j * depth;
    for (int64_t i = 0; i < block.rows; i += kTileRows) {
      const int64_t rows = std::min<int64_t>(kTileRows, block.rows - i);
      multiply_tile<T>(depth, rows, a + i * depth, right, tile);
      out.store(tile, width, block.row + i, block.column + j, rows,
                std::min<int64_t>(width, block.columns - j), first);
    }
  }
}

/// Elements of the packed rows of A, rounded so that what follows is aligned to a vector.
template <typename T>
int64_t left_elements(const Block& block, int64_t k) {
  return round_up(round_up(std::min(block.rows, kRowBlock), kTileRows) * std::min(k, kDepth),
                  kTileColumns<T>);
}

template <typename T>
int64_t panel_elements(const Block& block, int64_t k) {
  return left_elements<T>(block, k) +
         round_up(block.columns, kTileColumns<T>) * std::min(k, kDepth);
}

/// One block of C, written to as its elements are computed.
template <typename T>
void multiply_block(LeftPanels<T> a, RightPanels<T> b, int64_t k, const Block& block,
                    const Destination<T, T>& out, T* buffer) {
  constexpr int64_t width = kTileColumns<T>;
  T* const left = buffer;
  T* const right = buffer + left_elements<T>(block, k);
  int64_t p = 0;
  do {
    const int64_t depth = std::min(kDepth, k - p);
    for (int64_t j = 0; j < block.columns; j += width) {
      b.pack(right + j * depth, block.column + j, std::min<int64_t>(width, block.columns - j), p,
             depth);
    }
    for (int64_t i = 0; i < block.rows; i += kRowBlock) {
      const int64_t rows = std::min(kRowBlock, block.rows - i);
      for (int64_t r = 0; r < rows; r += kTileRows) {
        a.pack(left + r * depth, block.row + i + r, std::min<int64_t>(kTileRows, rows - r), p,
               depth);
      }
      multiply_panels(left, right, depth, {block.row + i, rows, block.column, block.columns}, out,
                      p == 0);
    }
    p += kDepth;
  } while (p < k);
}

/// One block of C; where the accumulator is wider than S it is summed apart and rounded once.
template <typename S, typename T>
void multiply(LeftPanels<T> a, RightPanels<T> b, int64_t k, const Block& block,
              const Destination<S, T>& out) {
  constexpr size_t kSmall = 16384;
  alignas(64) unsigned char small[kSmall];
  const int64_t panels = panel_elements<T>(block, k);
  const int64_t sums = std::is_same_v<S, T> ? 0 : block.rows * block.columns;
  const size_t bytes = static_cast<size_t>(panels + sums) * sizeof(T);
  auto* const buffer =
      static_cast<T*>(bytes <= kSmall ? static_cast<void*>(small) : packing_buffer(bytes));
  if constexpr (std::is_same_v<S, T>) {
    multiply_block(a, b, k, block, out, buffer);
  } else {
    const Destination<T, T> apart{.data = buffer + panels,
                                  .row_stride = block.columns,
                                  .column_stride = 1,
                                  .first_row = block.row,
                                  .first_column = block.column};
    multiply_block(a, b, k, block, apart, buffer);
    out.store(buffer + panels, block.columns, block.row, block.column, block.rows, block.columns,
              true);
  }
}

/// How C is cut into blocks for the threads.
struct Blocks {
  int64_t m;
  int64_t n;
  int64_t rows;  ///< of a block
  int64_t columns;
  int64_t down;  ///< blocks
  int64_t across;

  [[nodiscard]] int64_t count() const { return down * across; }
  [[nodiscard]] Block operator[](int64_t i) const {
    const int64_t row = i / across * rows;
    const int64_t column = i % across * columns;
    return {row, std::min(rows, m - row), column, std::min(columns, n - column)};
  }
};

/// `others`: products that run beside this one.
template <typename T>
Blocks cut(int64_t m, int64_t n, int64_t k, int64_t others) {
  constexpr int64_t width = kTileColumns<T>;
  constexpr int64_t kLeastWork = int64_t{1} << 19;
  const auto even = [](int64_t size, int64_t pieces, int64_t multiple) {
    return round_up((size + pieces - 1) / pieces, multiple);
  };
  int64_t down = (m + kTaskRows - 1) / kTaskRows;
  int64_t across = (n + kColumnBlock<T> - 1) / kColumnBlock<T>;
  const int64_t threads = get_num_threads();
  const int64_t wanted = threads == 1 ? 1 : 2 * threads;
  while (down * across * others < wanted && m * n / (down * across) * (k + 1) > 2 * kLeastWork) {
    const bool by_columns = n / across >= m / down;
    if (by_columns && n / across >= 2 * width)
      across *= 2;
    else if (m / down >= 2 * kTileRows)
      down *= 2;
    else
      break;
  }
  Blocks blocks{m, n, even(m, down, kTileRows), even(n, across, width), 0, 0};
  blocks.down = (m + blocks.rows - 1) / blocks.rows;
  blocks.across = (n + blocks.columns - 1) / blocks.columns;
  return blocks;
}

/// Blocks that are worth a thread of their own.
inline int64_t block_grain(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kWork = int64_t{1} << 18;
  return std::max<int64_t>(1, kWork / std::max<int64_t>(1, m * n * std::max<int64_t>(k, 1)));
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
