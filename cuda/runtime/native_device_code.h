#pragma once

// device_code.h for nvcc. The emulator's twin, cuda/emulator/device_code.h, gives the same results
// bit for bit: reductions and scans there combine values in the order of the shuffles here.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

/// Declares `name`, an object or array of the type that follows, in the block's shared memory. Its
/// content is undefined until the block writes it.
#define EBB_SHARED(name, ...) __shared__ std::type_identity_t<__VA_ARGS__> name

// CUDA's own take unsigned long long, which uint64_t is not on Linux.
__device__ inline unsigned long atomicAdd(unsigned long* address, unsigned long value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(address),
                   static_cast<unsigned long long>(value));
}
__device__ inline unsigned long atomicExch(unsigned long* address, unsigned long value) {
  return atomicExch(reinterpret_cast<unsigned long long*>(address),
                    static_cast<unsigned long long>(value));
}
__device__ inline unsigned long atomicCAS(unsigned long* address, unsigned long expected,
                                          unsigned long value) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(address),
                   static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(value));
}
__device__ inline unsigned long atomicMax(unsigned long* address, unsigned long value) {
  return atomicMax(reinterpret_cast<unsigned long long*>(address),
                   static_cast<unsigned long long>(value));
}
__device__ inline unsigned long atomicMin(unsigned long* address, unsigned long value) {
  return atomicMin(reinterpret_cast<unsigned long long*>(address),
                   static_cast<unsigned long long>(value));
}
__device__ inline unsigned long atomicOr(unsigned long* address, unsigned long value) {
  return atomicOr(reinterpret_cast<unsigned long long*>(address),
                  static_cast<unsigned long long>(value));
}

namespace ebb::cuda {

/// Lanes of a warp.
inline constexpr int kWarpSize = 32;
/// The mask of all lanes.
inline constexpr uint32_t kFullMask = 0xffffffffu;

/// The block's dynamic shared memory, whose size the launch says; aligned to 16 bytes.
template <typename T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char ebb_dynamic_shared[];
  return reinterpret_cast<T*>(ebb_dynamic_shared);
}

/// The calling thread's place in its warp, and its warp's place in the block.
__device__ __forceinline__ uint32_t linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint32_t lane_id() { return linear_thread() % kWarpSize; }
__device__ __forceinline__ uint32_t warp_id() { return linear_thread() / kWarpSize; }

/// Waits for the lanes of `mask`; their writes before it are seen by all of them after it.
__device__ __forceinline__ void sync_warp(uint32_t mask = kFullMask) { __syncwarp(mask); }

namespace internal {

/// Passes each 32-bit word of a value through `exchange`; smaller values as one word.
template <typename T, typename Exchange>
__device__ __forceinline__ T exchange_words(T value, Exchange exchange) {
  static_assert(std::is_trivially_copyable_v<T>, "lanes exchange trivially copyable values only");
  constexpr int kWords = (sizeof(T) + 3) / 4;
  uint32_t words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = exchange(words[i]);
  memcpy(&value, words, sizeof(T));
  return value;
}

}  // namespace internal

/// The value of lane `lane`. All lanes of `mask` must call, with the same mask, and `lane` must be
/// one of them.
template <typename T>
__device__ __forceinline__ T shuffle(T value, int lane, uint32_t mask = kFullMask) {
  return internal::exchange_words(value,
                                  [=](uint32_t word) { return __shfl_sync(mask, word, lane); });
}
/// The value of the lane whose number differs from the caller's in the bits of `lane_mask`.
template <typename T>
__device__ __forceinline__ T shuffle_xor(T value, int lane_mask, uint32_t mask = kFullMask) {
  return internal::exchange_words(
      value, [=](uint32_t word) { return __shfl_xor_sync(mask, word, lane_mask); });
}
/// The value of the lane `delta` below; the caller's own where there is none.
template <typename T>
__device__ __forceinline__ T shuffle_up(T value, uint32_t delta, uint32_t mask = kFullMask) {
  return internal::exchange_words(value,
                                  [=](uint32_t word) { return __shfl_up_sync(mask, word, delta); });
}
/// The value of the lane `delta` above; the caller's own where there is none.
template <typename T>
__device__ __forceinline__ T shuffle_down(T value, uint32_t delta, uint32_t mask = kFullMask) {
  return internal::exchange_words(
      value, [=](uint32_t word) { return __shfl_down_sync(mask, word, delta); });
}
/// Bit i is set where lane i of `mask` passed true.
__device__ __forceinline__ uint32_t ballot(bool value, uint32_t mask = kFullMask) {
  return __ballot_sync(mask, value);
}

/// The values of a whole warp combined by `op`, which is associative and commutative; for all lanes
/// the same bits, in the order of a butterfly: distances 16, 8, 4, 2, 1.
template <typename T, typename Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = op(value, shuffle_xor(value, distance));
  }
  return value;
}

/// Lane i gets the values of lanes 0 to i combined by `op`, which is associative.
template <typename T, typename Op>
__device__ __forceinline__ T warp_inclusive_scan(T value, Op op) {
#pragma unroll
  for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
    const T below = shuffle_up(value, distance);
    if (lane_id() >= distance) value = op(below, value);
  }
  return value;
}

namespace internal {

/// What each warp of a block hands to the others.
template <typename T>
struct alignas(alignof(T) < 4 ? 4 : alignof(T)) WarpPartials {
  unsigned char bytes[kWarpSize * sizeof(T)];
  __device__ __forceinline__ T& operator[](uint32_t warp) {
    return reinterpret_cast<T*>(bytes)[warp];
  }
};

}  // namespace internal

/// The values of a block combined by `op` (associative, commutative, with that identity); for all
/// threads the same bits, warps first, then their results in the order of a butterfly. All threads
/// of a one-dimensional block of whole warps must call. Contains barriers.
template <typename T, typename Op>
__device__ __forceinline__ T block_reduce(T value, Op op, std::type_identity_t<T> identity) {
  __shared__ internal::WarpPartials<T> partials;
  const uint32_t lane = threadIdx.x % kWarpSize;
  value = warp_reduce(value, op);
  __syncthreads();  // an earlier call may still be reading
  if (lane == 0) partials[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  return warp_reduce(lane < blockDim.x / kWarpSize ? partials[lane] : identity, op);
}

/// Thread i gets the values of threads 0 to i - 1 combined by `op` (associative, with that
/// identity), thread 0 the identity; `total`, if given, gets those of all. All threads of a
/// one-dimensional block of whole warps must call. Contains barriers.
template <typename T, typename Op>
__device__ __forceinline__ T block_exclusive_scan(T value, Op op, std::type_identity_t<T> identity,
                                                  T* total = nullptr) {
  __shared__ internal::WarpPartials<T> partials;
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const T inclusive = warp_inclusive_scan(value, op);
  __syncthreads();  // an earlier call may still be reading
  if (lane == kWarpSize - 1) partials[warp] = inclusive;
  __syncthreads();
  const T of_warps =
      warp_inclusive_scan(lane < blockDim.x / kWarpSize ? partials[lane] : identity, op);
  const T below = shuffle(of_warps, warp == 0 ? 0 : static_cast<int>(warp) - 1);
  if (total != nullptr) *total = shuffle(of_warps, kWarpSize - 1);
  const T in_warp = shuffle_up(inclusive, 1);
  const T prefix = warp == 0 ? identity : below;
  return lane == 0 ? prefix : op(prefix, in_warp);
}

}  // namespace ebb::cuda
