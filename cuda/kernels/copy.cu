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

template <typename U>
void copy_units(const Piece& piece, int unit, cudaStream_t stream) {
  const int64_t units = piece.numel() / unit;
  launch(&copy_strided<U>, blocks_for(units, kBlockThreads * kUnits), kBlockThreads, 0, stream,
         piece.data(0), piece.data(1), StridedIndex<2>(piece, unit), static_cast<uint32_t>(units));
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
  const int unit = unit_elements(piece, size);
  switch (unit * size) {
    case 1:
      return copy_units<uint8_t>(piece, unit, stream);
    case 2:
      return copy_units<uint16_t>(piece, unit, stream);
    case 4:
      return copy_units<uint32_t>(piece, unit, stream);
    case 8:
      return copy_units<uint64_t>(piece, unit, stream);
    default:
      return copy_units<Unit16>(piece, unit, stream);
  }
}

void copy(const TensorIterator& it) {
  if (it.numel() == 0) return;
  if (it.dtype(0) != it.dtype(1)) return elementwise<Identity>(it, nullptr);
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) { copy_piece(piece, device.stream()); });
}

}  // namespace

extern const CopyKernels copy_kernels = {&copy};

}  // namespace ebb::cuda
