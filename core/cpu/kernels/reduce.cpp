#include <ebb/core/ops/reduce_kernels.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/kernels/reducers.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/parallel.h>

// How a reduction walks over memory. The elements of one output, or of a row of outputs that are
// neighbours in memory, are brought into tiles of the compute type (in place where they have it
// already); a Reducer (reducers.h) folds tile after tile into the states of the outputs.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr size_t kStateBytes = kReduceStateBytes;

/// Calls f(offset, count, stride, index) for the runs along the innermost dimension that make up
/// the elements [begin, end), counted in row-major order; `index` is the number of the first.
template <typename F>
void for_each_piece(const ReduceDims& dims, int64_t begin, int64_t end, F&& f) {
  const size_t ndim = dims.sizes.size();
  if (ndim == 0) {
    if (begin < end) f(int64_t{0}, int64_t{1}, int64_t{1}, begin);
    return;
  }
  const int64_t inner = dims.sizes[ndim - 1];
  const int64_t inner_stride = dims.strides[ndim - 1];
  while (begin < end) {
    const int64_t at = begin % inner;
    int64_t outer = begin / inner;
    int64_t offset = at * inner_stride;
    for (size_t d = ndim - 1; d-- > 0; outer /= dims.sizes[d]) {
      offset += outer % dims.sizes[d] * dims.strides[d];
    }
    const int64_t count = std::min(inner - at, end - begin);
    f(offset, count, inner_stride, begin);
    begin += count;
  }
}

int64_t offset_of(int64_t index, const DimVector& sizes, const DimVector& strides) {
  int64_t offset = 0;
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) offset += index % sizes[d] * strides[d];
  return offset;
}

class Reduction {
 public:
  Reduction(const ReducePlan& plan, const ReduceArguments& arguments)
      : plan_(plan),
        arguments_(arguments),
        reducer_(reducer(arguments.op, arguments.compute)),
        load_(loads(arguments.compute)[static_cast<int>(arguments.input_dtype)]),
        store_(stores(arguments.compute)[static_cast<int>(arguments.output_dtype)]),
        input_(static_cast<const char*>(arguments.input)),
        element_(static_cast<int64_t>(element_size(arguments.input_dtype))),
        compute_bytes_(static_cast<int64_t>(element_size(arguments.compute))),
        converts_(arguments.input_dtype != arguments.compute) {}

  void run() {
    const int64_t others = plan_.outputs / plan_.columns;
    const int64_t groups = (plan_.columns + kGroup - 1) / kGroup;
    const int64_t work = std::max<int64_t>(1, std::min(plan_.columns, kGroup) * plan_.count);
    const int64_t grain = std::max<int64_t>(1, kGrain / work);
    if (plan_.pieces == 1) {
      parallel_for(0, others * groups, grain, [&](int64_t begin, int64_t end) {
        for_each_tile(begin, end, groups, [&](int64_t other, int64_t column, int64_t columns) {
          alignas(64) char states[kMaxColumns * kStateBytes];
          reduce_piece(other, column, columns, 0, plan_.count, states);
          finish(states, other, column, columns);
        });
      });
      return;
    }
    auto* partial = static_cast<char*>(arguments_.workspace);
    const int64_t length = (plan_.count + plan_.pieces - 1) / plan_.pieces;
    parallel_for(0, plan_.pieces * others, 1, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) {
        const int64_t piece = begin / others;
        const int64_t other = begin % others;
        char* states = partial + begin * plan_.columns * static_cast<int64_t>(kStateBytes);
        reduce_piece(other, 0, plan_.columns, piece * length,
                     std::min((piece + 1) * length, plan_.count), states);
      }
    });
    for (int64_t other = 0; other < others; ++other) {
      auto states = [&](int64_t piece) {
        return partial +
               (piece * others + other) * plan_.columns * static_cast<int64_t>(kStateBytes);
      };
      for (int64_t piece = 1; piece < plan_.pieces; ++piece) {
        reducer_.merge(states(0), states(piece), plan_.columns);
      }
      finish(states(0), other, 0, plan_.columns);
    }
  }

 private:
  static constexpr int64_t kGroup = 64;  ///< columns that stay on one thread
  static constexpr int64_t kMaxColumns = 512;
  static constexpr int64_t kTileElements = 4096;

  /// Splits the groups [begin, end) of columns into tiles: f(other, first column, columns).
  template <typename F>
  void for_each_tile(int64_t begin, int64_t end, int64_t groups, F&& f) const {
    const int64_t widest = converts_ || plan_.column_stride != 1 ? 2 * kGroup : kMaxColumns;
    while (begin < end) {
      const int64_t other = begin / groups;
      const int64_t group = begin % groups;
      const int64_t taken = std::min({groups - group, end - begin, widest / kGroup});
      const int64_t column = group * kGroup;
      f(other, column, std::min(taken * kGroup, plan_.columns - column));
      begin += taken;
    }
  }

  /// The states of `columns` outputs over their elements [begin, end).
  void reduce_piece(int64_t other, int64_t column, int64_t columns, int64_t begin, int64_t end,
                    char* states) const {
    const char* base = input_ + element_ * (offset_of(other, plan_.kept.sizes, plan_.kept.strides) +
                                            column * plan_.column_stride);
    if (plan_.columns == 1) {
      reduce_row(base, begin, end, states);
    } else {
      for (int64_t c = 0; c < columns; c += kMaxColumns) {
        const int64_t width = std::min(kMaxColumns, columns - c);
        reduce_columns(base + element_ * c * plan_.column_stride, width, begin, end,
                       states + c * static_cast<int64_t>(reducer_.state_bytes));
      }
    }
  }

  /// One output: its elements are dealt out to lanes, which are columns that end up merged.
  void reduce_row(const char* base, int64_t begin, int64_t end, char* state) const {
    alignas(64) char buffer[kTileElements * 8];
    alignas(64) char lanes[64 * kStateBytes];
    const int64_t width = reducer_.lanes;
    const auto used = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(end - begin, 1, width))));
    reducer_.start(lanes, used);
    const int64_t most = kTileElements / width * width;
    for_each_piece(plan_.reduced, begin, end,
                   [&](int64_t offset, int64_t count, int64_t stride, int64_t index) {
                     for (int64_t i = 0; i < count; i += most) {
                       const int64_t n = std::min(most, count - i);
                       const char* data =
                           load_run(buffer, base + element_ * (offset + i * stride), stride, n);
                       const int64_t rows = n / width;
                       if (rows > 0) {
                         fold(lanes, {data, rows, width, width, index + i, width, 1});
                       }
                       if (n > rows * width) {
                         fold(lanes, {data + rows * width * compute_bytes_, 1, n - rows * width,
                                      width, index + i + rows * width, 0, 1});
                       }
                     }
                   });
    const auto bytes = static_cast<int64_t>(reducer_.state_bytes);
    for (int64_t half = used / 2; half > 0; half /= 2) {
      reducer_.merge(lanes, lanes + half * bytes, half);
    }
    std::memcpy(state, lanes, reducer_.state_bytes);
  }

  /// Neighbouring outputs side by side.
  void reduce_columns(const char* base, int64_t columns, int64_t begin, int64_t end,
                      char* states) const {
    alignas(64) char buffer[kTileElements * 8];
    reducer_.start(states, columns);
    const bool direct = !converts_ && plan_.column_stride == 1;
    const int64_t rows_at_once = direct ? kReduceBlockRows : kTileElements / columns;
    for_each_piece(
        plan_.reduced, begin, end,
        [&](int64_t offset, int64_t count, int64_t stride, int64_t index) {
          for (int64_t i = 0; i < count; i += rows_at_once) {
            const int64_t rows = std::min(rows_at_once, count - i);
            const char* data = base + element_ * (offset + i * stride);
            if (direct) {
              fold(states, {data, rows, columns, stride, index + i, 1, 0});
              continue;
            }
            load_(buffer, data, {columns, rows, plan_.column_stride * element_, stride * element_});
            fold(states, {buffer, rows, columns, columns, index + i, 1, 0});
          }
        });
  }

  const char* load_run(char* buffer, const char* from, int64_t stride, int64_t n) const {
    if (!converts_ && (stride == 1 || n == 1)) return from;
    load_(buffer, from, {n, 1, stride * element_, 0});
    return buffer;
  }

  /// Folds a tile block by block.
  void fold(char* states, ReduceTile tile) const {
    const int64_t rows = tile.rows;
    const auto* data = static_cast<const char*>(tile.data);
    const int64_t index = tile.index;
    for (int64_t r = 0; r < rows; r += kReduceBlockRows) {
      tile.rows = std::min(kReduceBlockRows, rows - r);
      tile.data = data + r * tile.row_stride * compute_bytes_;
      tile.index = index + r * tile.index_row;
      reducer_.fold(states, tile, arguments_.parameter);
    }
  }

  void finish(const char* states, int64_t other, int64_t column, int64_t columns) const {
    const int64_t out_element = static_cast<int64_t>(element_size(arguments_.output_dtype));
    const int64_t out_offset = offset_of(other, plan_.kept.sizes, plan_.kept_out_strides);
    alignas(64) char values[64 * 8];
    int64_t indices[64];
    for (int64_t c = 0; c < columns; c += 64) {
      const int64_t n = std::min<int64_t>(64, columns - c);
      reducer_.finish(states + c * static_cast<int64_t>(reducer_.state_bytes), n, plan_.count,
                      arguments_.parameter, values, indices);
      const int64_t at = out_offset + (column + c) * plan_.column_out_stride;
      if (arguments_.output != nullptr) {
        store_(static_cast<char*>(arguments_.output) + at * out_element, values,
               {n, 1, plan_.column_out_stride * out_element, 0});
      }
      if (arguments_.indices == nullptr) continue;
      for (int64_t i = 0; i < n; ++i) {
        arguments_.indices[at + i * plan_.column_out_stride] = indices[i];
      }
    }
  }

  const ReducePlan& plan_;
  const ReduceArguments& arguments_;
  const Reducer& reducer_;
  Load load_;
  Store store_;
  const char* input_;
  int64_t element_;
  int64_t compute_bytes_;
  bool converts_;
};

void reduce(const ReducePlan& plan, const ReduceArguments& arguments) {
  Reduction(plan, arguments).run();
}

}  // namespace

extern const ReduceKernels reduce_kernels = {&reduce};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
