#include <cstring>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/copy_kernels.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

struct Identity : functors::Elementwise<1> {
  template <typename T>
  struct Op : functors::NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return x; }
  };
};

void copy_bytes(const TensorIterator& it) {
  const auto size = static_cast<int64_t>(element_size(it.dtype(0)));
  parallel_for(0, it.numel(), kGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(it.data(0) + begin * size, it.data(1) + begin * size,
                static_cast<size_t>((end - begin) * size));
  });
}

/// Rows and columns that are moved together where the layouts run in different orders, so that both
/// stay in cache.
constexpr int64_t kTransposeTile = 32;

/// What is copied between: strides in bytes of dimensions 0 (columns) and 1 (rows).
struct Strides {
  int64_t to_column, to_row, from_column, from_row;
};

/// A tile whose rows are adjacent in one layout and whose columns are in the other.
template <typename T>
void transpose_tile(char* to, const char* from, const Strides& s, int64_t columns, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    T* out = reinterpret_cast<T*>(to + row * s.to_row);
    const char* in = from + row * static_cast<int64_t>(sizeof(T));
    for (int64_t column = 0; column < columns; ++column) {
      out[column] = *reinterpret_cast<const T*>(in + column * s.from_column);
    }
  }
}

/// Moves elements of type T, which stands for all dtypes of its size.
template <typename T>
void copy_tile(char* to, const char* from, const Strides& s, int64_t columns, int64_t rows) {
  if (s.to_column == sizeof(T) && s.from_row == sizeof(T)) {
    return transpose_tile<T>(to, from, s, columns, rows);
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      std::memcpy(to + row * s.to_row + column * s.to_column,
                  from + row * s.from_row + column * s.from_column, sizeof(T));
    }
  }
}

template <typename T>
void copy_matrix(char* to, const char* from, const Strides& s, int64_t columns, int64_t rows) {
  if (s.to_column == sizeof(T) && s.from_column == sizeof(T)) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * s.to_row, from + row * s.from_row,
                  static_cast<size_t>(columns) * sizeof(T));
    }
    return;
  }
  for (int64_t row = 0; row < rows; row += kTransposeTile) {
    const int64_t tile_rows = rows - row < kTransposeTile ? rows - row : kTransposeTile;
    for (int64_t column = 0; column < columns; column += kTransposeTile) {
      const int64_t rest = columns - column;
      copy_tile<T>(to + row * s.to_row + column * s.to_column,
                   from + row * s.from_row + column * s.from_column, s,
                   rest < kTransposeTile ? rest : kTransposeTile, tile_rows);
    }
  }
}

/// Copies between any layouts, without conversion.
template <typename T>
void copy_elements(const TensorIterator& it) {
  if (it.ndim() == 1) {
    const Strides s = {it.stride(0, 0), 0, it.stride(1, 0), 0};
    parallel_for(0, it.numel(), kGrain, [&](int64_t begin, int64_t end) {
      copy_tile<T>(it.data(0) + begin * s.to_column, it.data(1) + begin * s.from_column, s,
                   end - begin, 1);
    });
    return;
  }
  const Strides s = {it.stride(0, 0), it.stride(0, 1), it.stride(1, 0), it.stride(1, 1)};
  const int64_t columns = it.size(0);
  const int64_t grain = kGrain / columns > kTransposeTile ? kGrain / columns : kTransposeTile;
  parallel_for(0, it.numel() / columns, grain, [&](int64_t begin, int64_t end) {
    IteratorPosition position(it, begin * columns);
    while (begin < end) {
      const int64_t rest = it.size(1) - position.index(1);
      const int64_t rows = rest < end - begin ? rest : end - begin;
      copy_matrix<T>(position.pointer(0), position.pointer(1), s, columns, rows);
      position.advance(1, rows);
      begin += rows;
    }
  });
}

void copy(const TensorIterator& it) {
  if (it.numel() == 0) return;
  if (it.dtype(0) != it.dtype(1)) return elementwise<Identity>(it, nullptr);
  if (it.is_contiguous(0) && it.is_contiguous(1)) return copy_bytes(it);
  switch (element_size(it.dtype(0))) {
    case 1:
      return copy_elements<uint8_t>(it);
    case 2:
      return copy_elements<uint16_t>(it);
    case 4:
      return copy_elements<uint32_t>(it);
    default:
      return copy_elements<uint64_t>(it);
  }
}

}  // namespace

extern const CopyKernels copy_kernels = {&copy};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
