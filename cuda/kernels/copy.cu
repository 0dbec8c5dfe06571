#include <algorithm>
#include <array>

#include <ebb/core/ops/copy_kernels.h>
#include <ebb/cuda/kernels/elementwise.h>
#include <ebb/cuda/kernels/tables.h>

// Copies within a device. Without conversion elements are moved as units, as wide as alignment and
// rows allow, whatever they mean.

namespace ebb::cuda {

namespace {

struct Identity : functors::Elementwise<1> {
  template <typename T>
  struct Op : functors::NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T x) const { return x; }
  };
};

/// Units that a thread has under way.
constexpr int kUnits = 4;

/// Moves `numel` units of type U, which `index` finds.
template <typename U>
__global__ void copy_strided(char* to, const char* from, StridedIndex<2> index, uint32_t numel) {
  const uint32_t block = blockDim.x * kUnits;
  for (uint32_t i = blockIdx.x * block + threadIdx.x; i < numel; i += gridDim.x * block) {
    U values[kUnits];
    int64_t targets[kUnits];
    for (int k = 0; k < kUnits; ++k) {
      const uint32_t unit = i + static_cast<uint32_t>(k) * blockDim.x;
      const Offsets<2> offsets = index(unit < numel ? unit : i);
      values[k] = *reinterpret_cast<const U*>(from + offsets[1]);
      targets[k] = offsets[0];
    }
    for (int k = 0; k < kUnits; ++k) {
      if (i + static_cast<uint32_t>(k) * blockDim.x < numel) {
        *reinterpret_cast<U*>(to + targets[k]) = values[k];
      }
    }
  }
}

using Unit16 = Pack<uint64_t, 2>;

/// Moves `units` of 16 bytes, then bytes up to `bytes`.
__global__ void copy_adjacent(char* to, const char* from, uint32_t units, uint64_t bytes) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < units; i += step) {
    reinterpret_cast<Unit16*>(to)[i] = reinterpret_cast<const Unit16*>(from)[i];
  }
  for (uint64_t i = uint64_t{units} * sizeof(Unit16) + thread; i < bytes; i += step)
    to[i] = from[i];
}

/// How many adjacent elements can be moved as one unit of `size` times as many bytes.
int unit_elements(const Piece& piece, int64_t size) {
  if (piece.stride(0, 0) != size || piece.stride(1, 0) != size) return 1;
  int64_t n = 16 / size;
  const auto suits = [&](int64_t elements) {
    if (piece.size(0) % elements != 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (!suits_packs(piece.data(i), static_cast<int>(elements), static_cast<size_t>(size))) {
        return false;
      }
      for (int dim = 1; dim < piece.ndim(); ++dim) {
        if (piece.stride(i, dim) % (elements * size) != 0) return false;
      }
    }
    return true;
  };
  while (n > 1 && !suits(n)) n /= 2;
  return static_cast<int>(n);
}

/// Side of the square that a block turns in shared memory, where the rows of one operand are the
/// columns of the other: both are read and written in runs.
constexpr int kTile = 32;
constexpr int kTileRows = kBlockThreads / kTile;

/// Matrices in which `to` has adjacent columns and `from` adjacent rows; strides in bytes.
struct Turn {
  char* to;
  const char* from;
  uint32_t columns;
  uint32_t rows;
  int64_t to_row;
  int64_t from_column;
  uint32_t tiles;  ///< of all matrices
  Divider<uint32_t> tiles_across;
  Divider<uint32_t> tiles_down;
};

template <typename U>
__global__ void copy_turned(Turn turn, StridedIndex<2> matrices) {
  EBB_SHARED(tile, U[kTile][kTile + 1]);  // a column more, so that banks do not conflict
  const uint32_t x = threadIdx.x % kTile;
  const uint32_t y = threadIdx.x / kTile;
  for (uint32_t i = blockIdx.x; i < turn.tiles; i += gridDim.x) {
    const uint32_t across = turn.tiles_across.divide(i);
    const uint32_t matrix = turn.tiles_down.divide(across);
    const uint32_t column = (i - across * turn.tiles_across.divisor) * kTile;
    const uint32_t row = (across - matrix * turn.tiles_down.divisor) * kTile;
    const Offsets<2> offsets = matrices(matrix);
    const char* from = turn.from + offsets[1];
    for (uint32_t k = y; k < kTile; k += kTileRows) {
      if (column + k < turn.columns && row + x < turn.rows) {
        const auto* line =
            reinterpret_cast<const U*>(from + int64_t{column + k} * turn.from_column);
        tile[k][x] = line[row + x];
      }
    }
    __syncthreads();
    char* to = turn.to + offsets[0];
    for (uint32_t k = y; k < kTile; k += kTileRows) {
      if (column + x < turn.columns && row + k < turn.rows) {
        auto* line = reinterpret_cast<U*>(to + int64_t{row + k} * turn.to_row);
        line[column + x] = tile[x][k];
      }
    }
    __syncthreads();
  }
}

/// The dimension whose elements are adjacent in the source, where those of dimension 0 are only in
/// the target and a block gets enough of both; else 0.
int turned_dimension(const Piece& piece, int64_t size) {
  if (piece.stride(0, 0) != size || piece.stride(1, 0) == size || piece.size(0) < kTile / 2) {
    return 0;
  }
  for (int dim = 1; dim < piece.ndim(); ++dim) {
    if (piece.stride(1, dim) == size && piece.size(dim) >= kTile / 2) return dim;
  }
  return 0;
}

template <typename U>
void copy_turned_piece(const Piece& piece, int rows, cudaStream_t stream) {
  const auto tiles_of = [&](int dim) { return (piece.size(dim) + kTile - 1) / kTile; };
  std::array<int, kMaxPieceDims> others = {};
  int count = 0;
  int64_t matrices = 1;
  for (int dim = 1; dim < piece.ndim(); ++dim) {
    if (dim == rows) continue;
    others[static_cast<size_t>(count++)] = dim;
    matrices *= piece.size(dim);
  }
  const Turn turn = {piece.data(0),
                     piece.data(1),
                     static_cast<uint32_t>(piece.size(0)),
                     static_cast<uint32_t>(piece.size(rows)),
                     piece.stride(0, rows),
                     piece.stride(1, 0),
                     static_cast<uint32_t>(matrices * tiles_of(0) * tiles_of(rows)),
                     Divider<uint32_t>(tiles_of(0)),
                     Divider<uint32_t>(tiles_of(rows))};
  launch(&copy_turned<U>, blocks_for(turn.tiles, 1), kBlockThreads, 0, stream, turn,
         StridedIndex<2>(piece, others.data(), count));
}

template <typename U>
void copy_units(const Piece& piece, int unit, cudaStream_t stream) {
  const int64_t units = piece.numel() / unit;
  launch(&copy_strided<U>, blocks_for(units, kBlockThreads * kUnits), kBlockThreads, 0, stream,
         piece.data(0), piece.data(1), StridedIndex<2>(piece, unit), static_cast<uint32_t>(units));
}

/// Calls f with a unit of `size` bytes.
template <typename F>
void with_unit(int64_t size, F&& f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Unit16{});
  }
}

void copy_piece(const Piece& piece, cudaStream_t stream) {
  const auto size = static_cast<int64_t>(element_size(piece.dtype(0)));
  if (piece.is_contiguous(0) && piece.is_contiguous(1) && suits_packs(piece.data(0), 16, 1) &&
      suits_packs(piece.data(1), 16, 1)) {
    const auto bytes = static_cast<uint64_t>(piece.numel() * size);
    const auto units = static_cast<uint32_t>(bytes / sizeof(Unit16));
    launch(&copy_adjacent, blocks_for(units), kBlockThreads, 0, stream, piece.data(0),
           piece.data(1), units, bytes);
    return;
  }
  if (const int rows = turned_dimension(piece, size); rows != 0) {
    return with_unit(size, [&](auto unit) {
      if constexpr (sizeof(unit) <= 8) copy_turned_piece<decltype(unit)>(piece, rows, stream);
    });
  }
  const int unit = unit_elements(piece, size);
  with_unit(unit * size, [&](auto zero) { copy_units<decltype(zero)>(piece, unit, stream); });
}

/// The type that kernels compute in for elements of type T.
template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, double>, double,
                                       std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

/// Elements that a thread converts at once: a pack of the smaller type.
template <typename To, typename From>
constexpr int kConverted = static_cast<int>(kPackBytes /
                                            std::min(sizeof(Stored<To>), sizeof(Stored<From>)));

/// Adjacent elements. The packs are aligned; after them come single elements up to `numel`.
template <typename To, typename From>
__global__ void convert_packed(char* to, const char* from, uint32_t packs, uint32_t numel) {
  constexpr int N = kConverted<To, From>;
  using Number = ComputeType<From>;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < packs; i += step) {
    const auto in = reinterpret_cast<const Pack<Stored<From>, N>*>(from)[i];
    Pack<Stored<To>, N> out;
    for (int k = 0; k < N; ++k) out[k] = convert<To, Number>(convert<Number, From>(in[k]));
    reinterpret_cast<Pack<Stored<To>, N>*>(to)[i] = out;
  }
  for (uint32_t i = packs * N + thread; i < numel; i += step) {
    const auto in = reinterpret_cast<const Stored<From>*>(from)[i];
    reinterpret_cast<Stored<To>*>(to)[i] = convert<To, Number>(convert<Number, From>(in));
  }
}

template <typename To, typename From>
void convert_adjacent(const Piece& piece, cudaStream_t stream) {
  constexpr int N = kConverted<To, From>;
  const bool aligned = suits_packs(piece.data(0), N, sizeof(Stored<To>)) &&
                       suits_packs(piece.data(1), N, sizeof(Stored<From>));
  const auto numel = static_cast<uint32_t>(piece.numel());
  const uint32_t packs = aligned ? numel / N : 0;
  launch(&convert_packed<To, From>, blocks_for(packs > 0 ? packs : numel), kBlockThreads, 0, stream,
         piece.data(0), piece.data(1), packs, numel);
}

using Conversion = void (*)(const Piece& piece, cudaStream_t stream);

/// The packed conversion between two dtypes, for those that programs convert much; else null.
Conversion find_conversion(ScalarType to, ScalarType from) {
  struct Entry {
    ScalarType to;
    ScalarType from;
    Conversion run;
  };
  static constexpr Entry kEntries[] = {
      {kHalf, kFloat, &convert_adjacent<Half, float>},
      {kFloat, kHalf, &convert_adjacent<float, Half>},
      {kBFloat16, kFloat, &convert_adjacent<BFloat16, float>},
      {kFloat, kBFloat16, &convert_adjacent<float, BFloat16>},
      {kHalf, kBFloat16, &convert_adjacent<Half, BFloat16>},
      {kBFloat16, kHalf, &convert_adjacent<BFloat16, Half>},
      {kDouble, kFloat, &convert_adjacent<double, float>},
      {kFloat, kDouble, &convert_adjacent<float, double>},
      {kFloat, kLong, &convert_adjacent<float, int64_t>},
      {kFloat, kByte, &convert_adjacent<float, uint8_t>},
      {kFloat, kBool, &convert_adjacent<float, bool>},
      {kHalf, kBool, &convert_adjacent<Half, bool>},
  };
  for (const Entry& entry : kEntries) {
    if (entry.to == to && entry.from == from) return entry.run;
  }
  return nullptr;
}

void convert_all(const TensorIterator& it) {
  const Conversion conversion = find_conversion(it.dtype(0), it.dtype(1));
  if (conversion == nullptr || !it.is_contiguous(0) || !it.is_contiguous(1)) {
    return elementwise<Identity>(it, nullptr);
  }
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) { conversion(piece, device.stream()); });
}

void copy(const TensorIterator& it) {
  if (it.numel() == 0) return;
  if (it.dtype(0) != it.dtype(1)) return convert_all(it);
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) { copy_piece(piece, device.stream()); });
}

}  // namespace

extern const CopyKernels copy_kernels = {&copy};

}  // namespace ebb::cuda
