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

/// Elements of a transposed copy that are moved together: their rows and columns stay in cache.
constexpr int64_t kTransposeTile = 32;

/// A tile of columns (dimension 0) by rows (dimension 1) of elements of type T, whose source is
/// adjacent along the rows.
template <typename T>
void copy_tile(char* to, const char* from, const TensorIterator& it, int64_t columns,
               int64_t rows) {
  const int64_t to_column = it.stride(0, 0), to_row = it.stride(0, 1);
  const int64_t from_column = it.stride(1, 0), from_row = it.stride(1, 1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      std::memcpy(to + row * to_row + column * to_column,
                  from + row * from_row + column * from_column, sizeof(T));
    }
  }
}

/// The matrix of dimensions 0 and 1 in square tiles.
template <typename T>
void copy_matrix(char* to, const char* from, const TensorIterator& it, int64_t rows) {
  const int64_t columns = it.size(0);
  for (int64_t row = 0; row < rows; row += kTransposeTile) {
    const int64_t tile_rows = rows - row < kTransposeTile ? rows - row : kTransposeTile;
    for (int64_t column = 0; column < columns; column += kTransposeTile) {
      const int64_t rest = columns - column;
      copy_tile<T>(to + row * it.stride(0, 1) + column * it.stride(0, 0),
                   from + row * it.stride(1, 1) + column * it.stride(1, 0), it,
                   rest < kTransposeTile ? rest : kTransposeTile, tile_rows);
    }
  }
}

/// Copies between layouts that run in different orders, without conversion.
template <typename T>
void copy_transposed(const TensorIterator& it) {
  const int64_t all_rows = it.numel() / it.size(0);
  const int64_t grain = kGrain / it.size(0) > kTransposeTile ? kGrain / it.size(0) : kTransposeTile;
  parallel_for(0, all_rows, grain, [&](int64_t begin, int64_t end) {
    IteratorPosition position(it, begin * it.size(0));
    while (begin < end) {
      const int64_t rest = it.size(1) - position.index(1);
      const int64_t rows = rest < end - begin ? rest : end - begin;
      copy_matrix<T>(position.pointer(0), position.pointer(1), it, rows);
      position.advance(1, rows);
      begin += rows;
    }
  });
}

bool is_transposed(const TensorIterator& it) {
  const auto size = static_cast<int64_t>(element_size(it.dtype(0)));
  return it.ndim() > 1 && it.stride(0, 0) == size && it.stride(1, 1) == size && it.size(0) >= 8 &&
         it.size(1) >= 8;
}

void copy(const TensorIterator& it) {
  if (it.dtype(0) == it.dtype(1)) {
    if (it.is_contiguous(0) && it.is_contiguous(1)) return copy_bytes(it);
    if (is_transposed(it)) {
      switch (element_size(it.dtype(0))) {
        case 1: return copy_transposed<uint8_t>(it);
        case 2: return copy_transposed<uint16_t>(it);
        case 4: return copy_transposed<uint32_t>(it);
        default: return copy_transposed<uint64_t>(it);
      }
    }
  }
  elementwise<Identity>(it, nullptr);
}

}  // namespace

extern const CopyKernels copy_kernels = {&copy};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
