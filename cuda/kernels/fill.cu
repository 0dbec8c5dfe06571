#include <cstring>

#include <ebb/core/ops/fill_kernels.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/pack.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Elements of one size are filled alike, whatever they mean.

namespace ebb::cuda {

namespace {

template <typename U>
__global__ void fill_strided(char* to, StridedIndex<1> index, U value, uint32_t numel) {
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < numel; i += step) {
    *reinterpret_cast<U*>(to + index(i)[0]) = value;
  }
}

/// `packs` packs at `to`, which is aligned to them, then elements up to `numel`.
template <typename U>
__global__ void fill_packed(U* to, U value, uint32_t packs, uint32_t numel) {
  constexpr int kPack = kPackSize<U>;
  Pack<U, kPack> pack;
  for (int k = 0; k < kPack; ++k) pack[k] = value;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < packs; i += step) {
    reinterpret_cast<Pack<U, kPack>*>(to)[i] = pack;
  }
  for (uint32_t i = packs * kPack + thread; i < numel; i += step) to[i] = value;
}

template <typename U>
void fill_as(const TensorIterator& it, const void* bits) {
  constexpr int kPack = kPackSize<U>;
  U value;
  std::memcpy(&value, bits, sizeof(value));
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    const auto numel = static_cast<uint32_t>(piece.numel());
    if (piece.is_contiguous(0)) {
      const uint32_t packs = suits_packs(piece.data(0), kPack, sizeof(U)) ? numel / kPack : 0;
      launch(&fill_packed<U>, blocks_for(packs > 0 ? packs : numel), kBlockThreads, 0,
             device.stream(), reinterpret_cast<U*>(piece.data(0)), value, packs, numel);
    } else {
      launch(&fill_strided<U>, blocks_for(numel), kBlockThreads, 0, device.stream(), piece.data(0),
             StridedIndex<1>(piece), value, numel);
    }
  });
}

void fill(const TensorIterator& it, const Scalar& value) {
  dispatch(it.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    const auto element = static_cast<Stored<T>>(value.to<T>());
    using Bits = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t,
                           std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    fill_as<Bits>(it, &element);
  });
}

}  // namespace

extern const FillKernels fill_kernels = {&fill};

}  // namespace ebb::cuda
