#include <ebb/core/ops/index_kernels.h>

#include <optional>

#include <ebb/cuda/kernels/nonzero.h>
#include <ebb/cuda/kernels/pack.h>
#include <ebb/cuda/kernels/sort_lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/index_error.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Reading and writing at indices, one thread for each. What is written twice is deterministic: the
// last write of a line is found by a maximum over positions, and additions to one element are
// brought together by sorting the indices and done in their order. Indices out of range are
// reported and skipped.

namespace ebb::cuda {

namespace {

/// Lines with few indices are written by a thread each, one index after another.
constexpr int64_t kFewIndices = 16;
/// So are lines, if there are that many.
constexpr int64_t kManyLines = 16384;

/// The elements of an indexing loop: `n` on each of `lines` lines.
template <typename Index>
struct IndexedElements {
  char* data[3];
  StridedIndex<3> line_index;
  IndexedDim dim;
  uint32_t lines;
  bool lines_inner;  ///< neighbours are on different lines
  Divider<Index> inner;
  IndexCheck check;

  /// Of a piece of the lines, in packs of `pack`.
  IndexedElements(const Piece& piece, const IndexedDim& dim, int pack)
      : data{piece.data(0), piece.data(1), piece.data(2)},
        line_index(piece, pack),
        dim(dim),
        lines(static_cast<uint32_t>(piece.numel() / pack)),
        lines_inner(lines > 1 && std::abs(piece.stride(0, 0)) <= std::abs(dim.written_stride)),
        inner(lines_inner ? int64_t{lines} : dim.n),
        check(index_check()) {}

  [[nodiscard]] EBB_INLINE int64_t count() const { return static_cast<int64_t>(lines) * dim.n; }

  struct Place {
    uint32_t line;
    int64_t i;
  };
  EBB_INLINE Place place(Index element) const {
    const Index quotient = inner.divide(element);
    const Index rest = element - quotient * inner.divisor;
    if (lines_inner) return {static_cast<uint32_t>(rest), static_cast<int64_t>(quotient)};
    return {static_cast<uint32_t>(quotient), static_cast<int64_t>(rest)};
  }

  [[nodiscard]] __device__ __forceinline__ int64_t index_at(int64_t offset, int64_t i) const {
    return *reinterpret_cast<const int64_t*>(data[1] + offset + i * dim.index_stride);
  }
  /// Whether an index is in range; if not, it is reported.
  [[nodiscard]] __device__ __forceinline__ bool is_valid(int64_t index) const {
    if (index >= 0 && index < dim.size) return true;
    report_index_error(check, index, dim.size);
    return false;
  }
  template <typename Word>
  [[nodiscard]] __device__ __forceinline__ Word* written(int64_t offset, int64_t i) const {
    return reinterpret_cast<Word*>(data[0] + offset + i * dim.written_stride);
  }
  template <typename Word>
  [[nodiscard]] __device__ __forceinline__ const Word* read(int64_t offset, int64_t i) const {
    return reinterpret_cast<const Word*>(data[2] + offset + i * dim.read_stride);
  }
};

/// Calls f(IndexedElements) with 32-bit numbers if they do.
template <typename F>
void dispatch_indexed(const Piece& piece, const IndexedDim& dim, int pack, F&& f) {
  if (piece.numel() / pack <= kMaxPieceNumel / dim.n) {
    return f(IndexedElements<uint32_t>(piece, dim, pack));
  }
  f(IndexedElements<uint64_t>(piece, dim, pack));
}

/// Calls f(element) for the elements that are the calling thread's.
template <typename Index, typename F>
__device__ __forceinline__ void for_each_indexed(int64_t count, F&& f) {
  const auto step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
       static_cast<int64_t>(i) < count; i += step) {
    f(i);
  }
}

template <typename Word, typename Index>
__global__ void gather_elements(IndexedElements<Index> elements) {
  for_each_indexed<Index>(elements.count(), [&](Index element) {
    const auto place = elements.place(element);
    const Offsets<3> offsets = elements.line_index(place.line);
    const int64_t index = elements.index_at(offsets[1], place.i);
    if (!elements.is_valid(index)) return;
    *elements.template written<Word>(offsets[0], place.i) =
        *elements.template read<Word>(offsets[2], index);
  });
}

/// Calls f(word) with an unsigned integer as wide as an element.
template <typename F>
void dispatch_width(ScalarType dtype, F&& f) {
  switch (element_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

/// Whether all lines of a piece share their indices.
bool shares_indices(const Piece& piece) { return piece.is_repeated(1); }

/// How many elements make the packs of 16 bytes in which the lines may be moved; 1: none.
int pack_of(const Piece& piece, const IndexedDim& dim) {
  const auto bytes = static_cast<int64_t>(element_size(piece.dtype(0)));
  const int pack = static_cast<int>(static_cast<int64_t>(kPackBytes) / bytes);
  const bool rows = piece.ndim() == 1 && shares_indices(piece) && piece.stride(0, 0) == bytes &&
                    piece.stride(2, 0) == bytes && piece.numel() % pack == 0;
  const auto suits = [&](auto address) {
    return suits_packs(address, pack, static_cast<size_t>(bytes));
  };
  return rows && suits(piece.data(0)) && suits(piece.data(2)) && suits(dim.written_stride) &&
                 suits(dim.read_stride)
             ? pack
             : 1;
}

void gather(const TensorIterator& it, const IndexedDim& dim) {
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    const int pack = pack_of(piece, dim);
    dispatch_indexed(piece, dim, pack, [&]<typename Index>(const IndexedElements<Index>& elements) {
      const auto run = [&](auto word) {
        launch(&gather_elements<decltype(word), Index>, blocks_for(elements.count()), kBlockThreads,
               0, device.stream(), elements);
      };
      if (pack > 1) return run(Pack<uint64_t, 2>{});
      dispatch_width(it.dtype(0), run);
    });
  });
}

/// A thread for each line.
template <typename Word, typename Index>
__global__ void scatter_lines(IndexedElements<Index> elements) {
  for_each_indexed<uint32_t>(elements.lines, [&](uint32_t line) {
    const Offsets<3> offsets = elements.line_index(line);
    for (int64_t i = 0; i < elements.dim.n; ++i) {
      const int64_t index = elements.index_at(offsets[1], i);
      if (!elements.is_valid(index)) continue;
      *elements.template written<Word>(offsets[0], index) =
          *elements.template read<Word>(offsets[2], i);
    }
  });
}

/// last[line, index] becomes 1 + the last position at which the index stands, of the first `lines`.
template <typename Position, typename Index>
__global__ void find_last(IndexedElements<Index> elements, uint32_t lines, Position* last) {
  for_each_indexed<uint64_t>(static_cast<int64_t>(lines) * elements.dim.n, [&](uint64_t element) {
    const auto line = static_cast<uint32_t>(element / static_cast<uint64_t>(elements.dim.n));
    const int64_t i = static_cast<int64_t>(element) - line * elements.dim.n;
    const int64_t index = elements.index_at(elements.line_index(line)[1], i);
    if (!elements.is_valid(index)) return;
    atomicMax(&last[line * elements.dim.size + index], static_cast<Position>(i + 1));
  });
}

/// `shared`: all lines have the indices of the first.
template <typename Word, typename Position, typename Index>
__global__ void scatter_last(IndexedElements<Index> elements, bool shared, const Position* last) {
  for_each_indexed<Index>(elements.count(), [&](Index element) {
    const auto place = elements.place(element);
    const Offsets<3> offsets = elements.line_index(place.line);
    const int64_t index = elements.index_at(offsets[1], place.i);
    if (index < 0 || index >= elements.dim.size) return;
    const int64_t line = shared ? 0 : place.line;
    if (last[line * elements.dim.size + index] != static_cast<Position>(place.i + 1)) return;
    *elements.template written<Word>(offsets[0], index) =
        *elements.template read<Word>(offsets[2], place.i);
  });
}

bool takes_lines(const Piece& piece, const IndexedDim& dim) {
  return dim.n <= kFewIndices || piece.numel() >= kManyLines;
}

template <typename Position, typename Index>
void run_scatter_last(const Piece& piece, const IndexedElements<Index>& elements,
                      cudaStream_t stream) {
  const bool shared = shares_indices(piece);
  const uint32_t lines = shared ? 1 : elements.lines;
  const size_t bytes =
      static_cast<size_t>(lines) * static_cast<size_t>(elements.dim.size) * sizeof(Position);
  const Workspace scratch(bytes);
  auto* const last = scratch.as<Position>();
  EBB_CUDA_CHECK(cudaMemsetAsync(last, 0, bytes, stream));
  launch(&find_last<Position, Index>, blocks_for(int64_t{lines} * elements.dim.n), kBlockThreads, 0,
         stream, elements, lines, last);
  dispatch_width(piece.dtype(0), [&](auto word) {
    launch(&scatter_last<decltype(word), Position, Index>, blocks_for(elements.count()),
           kBlockThreads, 0, stream, elements, shared, last);
  });
}

void scatter(const TensorIterator& it, const IndexedDim& dim) {
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    dispatch_indexed(piece, dim, 1, [&]<typename Index>(const IndexedElements<Index>& elements) {
      if (takes_lines(piece, dim)) {
        return dispatch_width(it.dtype(0), [&](auto word) {
          launch(&scatter_lines<decltype(word), Index>, blocks_for(piece.numel()), kBlockThreads, 0,
                 device.stream(), elements);
        });
      }
      if (dim.n < INT32_MAX) return run_scatter_last<uint32_t>(piece, elements, device.stream());
      run_scatter_last<uint64_t>(piece, elements, device.stream());
    });
  });
}

/// The number that what is added is multiplied by, for elements of type T.
template <typename T>
using Alpha = std::conditional_t<
    std::is_same_v<T, bool>, bool,
    std::conditional_t<std::is_integral_v<T>, int64_t,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>>;

/// bool: whether one of both is set.
template <typename T>
__device__ __forceinline__ Stored<T> accumulate(Stored<T> sum, Stored<T> x, Alpha<T> alpha) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum != 0 || (x != 0 && alpha) ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) +
                          static_cast<uint64_t>(x) * static_cast<uint64_t>(alpha));
  } else if constexpr (std::is_same_v<T, double>) {
    return sum + x * alpha;
  } else {
    return T(static_cast<float>(sum) + static_cast<float>(x) * alpha);
  }
}

/// A thread for each line.
template <typename T, typename Index>
__global__ void add_lines(IndexedElements<Index> elements, Alpha<T> alpha) {
  for_each_indexed<uint32_t>(elements.lines, [&](uint32_t line) {
    const Offsets<3> offsets = elements.line_index(line);
    for (int64_t i = 0; i < elements.dim.n; ++i) {
      const int64_t index = elements.index_at(offsets[1], i);
      if (!elements.is_valid(index)) continue;
      Stored<T>& sum = *elements.template written<Stored<T>>(offsets[0], index);
      sum = accumulate<T>(sum, *elements.template read<Stored<T>>(offsets[2], i), alpha);
    }
  });
}

/// The indices of lines with their positions, for sort_lines; those out of range come last.
template <typename Pair, typename Index>
struct IndexPairs {
  IndexedElements<Index> elements;

  static constexpr uint64_t kInvalid =
      std::is_same_v<Pair, NarrowPair> ? uint64_t{UINT32_MAX} : UINT64_MAX;

  __device__ __forceinline__ Pair operator()(int64_t line, int64_t i) const {
    const int64_t offset = elements.line_index(static_cast<uint32_t>(line))[1];
    const int64_t index = elements.index_at(offset, i);
    return make_pair<Pair>(elements.is_valid(index) ? static_cast<uint64_t>(index) : kInvalid, i);
  }
};

/// A thread for each pair: at the first one of an index it adds up all that have it.
template <typename T, typename Pair, typename Index>
__global__ void add_sorted(IndexedElements<Index> elements, bool shared, const Pair* pairs,
                           Alpha<T> alpha) {
  for_each_indexed<Index>(elements.count(), [&](Index element) {
    const auto place = elements.place(element);
    const Pair* const line = pairs + (shared ? 0 : place.line * elements.dim.n);
    const uint64_t key = key_of(line[place.i]);
    if (key == IndexPairs<Pair, Index>::kInvalid) return;
    if (place.i > 0 && key_of(line[place.i - 1]) == key) return;
    const Offsets<3> offsets = elements.line_index(place.line);
    auto* const written =
        elements.template written<Stored<T>>(offsets[0], static_cast<int64_t>(key));
    Stored<T> sum = *written;
    for (int64_t i = place.i; i < elements.dim.n && key_of(line[i]) == key; ++i) {
      sum = accumulate<T>(sum, *elements.template read<Stored<T>>(offsets[2], position_of(line[i])),
                          alpha);
    }
    *written = sum;
  });
}

template <typename T, typename Pair, typename Index>
void run_add_sorted(const Piece& piece, const IndexedElements<Index>& elements, Alpha<T> alpha,
                    cudaStream_t stream) {
  const bool shared = shares_indices(piece);
  const int64_t n = elements.dim.n;
  const SortPlan plan(shared ? 1 : elements.lines, n, n, elements.lines_inner);
  const Workspace scratch(static_cast<size_t>(plan.scratch()) * sizeof(Pair));
  const Pair* const pairs =
      sort_lines(plan, IndexPairs<Pair, Index>{elements}, scratch.as<Pair>(), stream);
  launch(&add_sorted<T, Pair, Index>, blocks_for(elements.count()), kBlockThreads, 0, stream,
         elements, shared, pairs, alpha);
}

template <typename T>
void scatter_add_as(const TensorIterator& it, const IndexedDim& dim, Alpha<T> alpha) {
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    if (takes_lines(piece, dim)) {
      launch(&add_lines<T, uint64_t>, blocks_for(piece.numel()), kBlockThreads, 0, device.stream(),
             IndexedElements<uint64_t>(piece, dim, 1), alpha);
      return;
    }
    const IndexedElements<uint64_t> elements(piece, dim, 1);
    if (dim.n < INT32_MAX && dim.size < INT32_MAX) {
      run_add_sorted<T, NarrowPair>(piece, elements, alpha, device.stream());
    } else {
      run_add_sorted<T, WidePair>(piece, elements, alpha, device.stream());
    }
  });
}

void scatter_add(const TensorIterator& it, const IndexedDim& dim, const Scalar& alpha) {
  dispatch(it.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    scatter_add_as<T>(it, dim, alpha.to<Alpha<T>>());
  });
}

}  // namespace

// Indices are checked where they are used.
extern const IndexKernels index_kernels = {&gather,        &scatter,       &scatter_add, nullptr,
                                           &start_nonzero, &masked_select, &nonzero};

}  // namespace ebb::cuda
