#pragma once

// device_code.h for the C++ compiler. Its twin for nvcc is cuda/runtime/native_device_code.h.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include <ebb/cuda/emulator/block.h>
#include <ebb/cuda/emulator/device_functions.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

/// Declares `name`, an object or array of the type that follows, in the block's shared memory. Its
/// content is undefined until the block writes it: the emulator fills it with NaN.
#define EBB_SHARED(name, ...)                                           \
  static ::ebb::cuda::emulator::SharedVariable name##_in_shared_memory{ \
      #name, ::ebb::cuda::Place::here()};                               \
  std::type_identity_t<__VA_ARGS__>& name =                             \
      ::ebb::cuda::emulator::shared<std::type_identity_t<__VA_ARGS__>>(name##_in_shared_memory)

/// Waits for all threads of the block; their writes before it are seen by all of them after it.
inline void __syncthreads(ebb::cuda::Place place = ebb::cuda::Place::here()) {
  ebb::cuda::emulator::block_barrier(place);
}

namespace ebb::cuda {

inline constexpr int kWarpSize = 32;
inline constexpr uint32_t kFullMask = 0xffffffffu;

namespace emulator {

template <typename T>
T& shared(SharedVariable& variable) {
  static_assert(std::is_trivially_destructible_v<std::remove_all_extents_t<T>>,
                "nvcc refuses shared variables with constructors or destructors");
  return *reinterpret_cast<T*>(shared_memory(variable, sizeof(T), alignof(T)));
}

/// What one lane or thread brings to an exchange: it stays on that thread's stack until all have
/// come.
template <typename T>
struct Offer {
  T value;
  int source = 0;
  bool flag = false;
};

/// What a warp_exchange or block_exchange does when all have come: `offers` holds a pointer for
/// each lane of the mask or thread of the block.
template <typename T, typename Combine>
void call_combine(void* const* offers, uint32_t mask_or_threads, const void* combine) {
  (*static_cast<const Combine*>(combine))(reinterpret_cast<Offer<T>* const*>(offers),
                                          mask_or_threads);
}

template <typename T, typename Combine>
void exchange_in_warp(const char* what, Offer<T>& mine, uint32_t mask, const Combine& combine,
                      Place place) {
  warp_exchange(what, &mine, mask, call_combine<T, Combine>, &combine, place);
}
template <typename T, typename Combine>
void exchange_in_block(const char* what, Offer<T>& mine, const Combine& combine, Place place) {
  block_exchange(what, &mine, call_combine<T, Combine>, &combine, place);
}

/// A shuffle whose lanes read from `source`, which is the lane itself where it reads nothing.
template <typename T>
T shuffle_from(const char* what, T value, int source, uint32_t mask, Place place) {
  static_assert(std::is_trivially_copyable_v<T>, "lanes exchange trivially copyable values only");
  Offer<T> mine{value, source};
  exchange_in_warp(
      what, mine, mask,
      [what, place](Offer<T>* const* offers, uint32_t lanes) {
        T values[kWarpSize];
        for (int i = 0; i < kWarpSize; ++i) {
          if (lanes >> i & 1) values[i] = offers[i]->value;
        }
        for (int i = 0; i < kWarpSize; ++i) {
          if (!(lanes >> i & 1)) continue;
          const int from = offers[i]->source;
          if (!(lanes >> from & 1)) report_source_outside_mask(what, i, from, lanes, place);
          offers[i]->value = values[from];
        }
      },
      place);
  return mine.value;
}

/// The butterfly of warp_reduce, which leaves the same bits in all lanes.
template <typename T, typename Op>
T butterfly(T* values, const Op& op) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) values[i] = op(values[i], values[i + distance]);
  }
  return values[0];
}

/// The doubling scan of warp_inclusive_scan, in place.
template <typename T, typename Op>
void scan_lanes(T* values, const Op& op) {
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    for (int i = kWarpSize - 1; i >= distance; --i) values[i] = op(values[i - distance], values[i]);
  }
}

}  // namespace emulator

/// The block's dynamic shared memory, whose size the launch says; aligned to 16 bytes.
template <typename T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::dynamic_shared_memory());
}

/// The calling thread's place in its warp, and its warp's place in the block.
inline uint32_t linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline uint32_t lane_id() { return linear_thread() % kWarpSize; }
inline uint32_t warp_id() { return linear_thread() / kWarpSize; }

/// Waits for the lanes of `mask`; their writes before it are seen by all of them after it.
inline void sync_warp(uint32_t mask = kFullMask, Place place = Place::here()) {
  emulator::Offer<int> mine{0};
  emulator::exchange_in_warp(
      "sync_warp", mine, mask, [](emulator::Offer<int>* const*, uint32_t) {}, place);
}

/// The value of lane `lane`. All lanes of `mask` must call, with the same mask, and `lane` must be
/// one of them.
template <typename T>
T shuffle(T value, int lane, uint32_t mask = kFullMask, Place place = Place::here()) {
  return emulator::shuffle_from("shuffle", value, lane & (kWarpSize - 1), mask, place);
}
/// The value of the lane whose number differs from the caller's in the bits of `lane_mask`.
template <typename T>
T shuffle_xor(T value, int lane_mask, uint32_t mask = kFullMask, Place place = Place::here()) {
  const int source = static_cast<int>(lane_id()) ^ lane_mask;
  return emulator::shuffle_from("shuffle_xor", value, source & (kWarpSize - 1), mask, place);
}
/// The value of the lane `delta` below; the caller's own where there is none.
template <typename T>
T shuffle_up(T value, uint32_t delta, uint32_t mask = kFullMask, Place place = Place::here()) {
  const uint32_t lane = lane_id();
  return emulator::shuffle_from("shuffle_up", value,
                                static_cast<int>(lane >= delta ? lane - delta : lane), mask, place);
}
/// The value of the lane `delta` above; the caller's own where there is none.
template <typename T>
T shuffle_down(T value, uint32_t delta, uint32_t mask = kFullMask, Place place = Place::here()) {
  const uint32_t lane = lane_id();
  const bool inside = delta < kWarpSize - lane;
  return emulator::shuffle_from("shuffle_down", value,
                                static_cast<int>(inside ? lane + delta : lane), mask, place);
}
/// Bit i is set where lane i of `mask` passed true.
inline uint32_t ballot(bool value, uint32_t mask = kFullMask, Place place = Place::here()) {
  emulator::Offer<uint32_t> mine{0, 0, value};
  emulator::exchange_in_warp(
      "ballot", mine, mask,
      [](emulator::Offer<uint32_t>* const* offers, uint32_t lanes) {
        uint32_t votes = 0;
        for (int i = 0; i < kWarpSize; ++i) {
          if ((lanes >> i & 1) && offers[i]->flag) votes |= 1u << i;
        }
        for (int i = 0; i < kWarpSize; ++i) {
          if (lanes >> i & 1) offers[i]->value = votes;
        }
      },
      place);
  return mine.value;
}

/// The values of a whole warp combined by `op`, which is associative and commutative; for all lanes
/// the same bits, in the order of a butterfly: distances 16, 8, 4, 2, 1.
template <typename T, typename Op>
T warp_reduce(T value, Op op, Place place = Place::here()) {
  emulator::Offer<T> mine{value};
  emulator::exchange_in_warp(
      "warp_reduce", mine, kFullMask,
      [&op](emulator::Offer<T>* const* offers, uint32_t) {
        T values[kWarpSize];
        for (int i = 0; i < kWarpSize; ++i) values[i] = offers[i]->value;
        const T result = emulator::butterfly(values, op);
        for (int i = 0; i < kWarpSize; ++i) offers[i]->value = result;
      },
      place);
  return mine.value;
}

/// Lane i gets the values of lanes 0 to i combined by `op`, which is associative.
template <typename T, typename Op>
T warp_inclusive_scan(T value, Op op, Place place = Place::here()) {
  emulator::Offer<T> mine{value};
  emulator::exchange_in_warp(
      "warp_inclusive_scan", mine, kFullMask,
      [&op](emulator::Offer<T>* const* offers, uint32_t) {
        T values[kWarpSize];
        for (int i = 0; i < kWarpSize; ++i) values[i] = offers[i]->value;
        emulator::scan_lanes(values, op);
        for (int i = 0; i < kWarpSize; ++i) offers[i]->value = values[i];
      },
      place);
  return mine.value;
}

/// The values of a block combined by `op` (associative, commutative, with that identity); for all
/// threads the same bits, warps first, then their results in the order of a butterfly. All threads
/// of a one-dimensional block of whole warps must call. Contains barriers.
template <typename T, typename Op>
T block_reduce(T value, Op op, std::type_identity_t<T> identity, Place place = Place::here()) {
  emulator::Offer<T> mine{value};
  emulator::exchange_in_block(
      "block_reduce", mine,
      [&](emulator::Offer<T>* const* offers, uint32_t threads) {
        T partials[kWarpSize];
        for (int warp = 0; warp < kWarpSize; ++warp) {
          partials[warp] = identity;
          if (warp * kWarpSize >= static_cast<int>(threads)) continue;
          T values[kWarpSize];
          for (int i = 0; i < kWarpSize; ++i) values[i] = offers[warp * kWarpSize + i]->value;
          partials[warp] = emulator::butterfly(values, op);
        }
        const T result = emulator::butterfly(partials, op);
        for (uint32_t i = 0; i < threads; ++i) offers[i]->value = result;
      },
      place);
  return mine.value;
}

/// Thread i gets the values of threads 0 to i - 1 combined by `op` (associative, with that
/// identity), thread 0 the identity; `total`, if given, gets those of all. All threads of a
/// one-dimensional block of whole warps must call. Contains barriers.
template <typename T, typename Op>
T block_exclusive_scan(T value, Op op, std::type_identity_t<T> identity, T* total = nullptr,
                       Place place = Place::here()) {
  struct Scanned {
    T value;
    T total;
  };
  emulator::Offer<Scanned> mine{{value, identity}};
  emulator::exchange_in_block(
      "block_exclusive_scan", mine,
      [&](emulator::Offer<Scanned>* const* offers, uint32_t threads) {
        const int warps = static_cast<int>(threads) / kWarpSize;
        T of_warps[kWarpSize];
        for (int warp = 0; warp < kWarpSize; ++warp) {
          of_warps[warp] = identity;
          if (warp >= warps) continue;
          T values[kWarpSize];
          emulator::Offer<Scanned>* const* lanes = offers + warp * kWarpSize;
          for (int i = 0; i < kWarpSize; ++i) values[i] = lanes[i]->value.value;
          emulator::scan_lanes(values, op);
          for (int i = 0; i < kWarpSize; ++i) lanes[i]->value.value = values[i];
          of_warps[warp] = values[kWarpSize - 1];
        }
        emulator::scan_lanes(of_warps, op);
        for (int warp = warps - 1; warp >= 0; --warp) {
          emulator::Offer<Scanned>* const* lanes = offers + warp * kWarpSize;
          const T prefix = warp == 0 ? identity : of_warps[warp - 1];
          for (int i = kWarpSize - 1; i > 0; --i) {
            lanes[i]->value.value = op(prefix, lanes[i - 1]->value.value);
          }
          lanes[0]->value.value = prefix;
          for (int i = 0; i < kWarpSize; ++i) lanes[i]->value.total = of_warps[kWarpSize - 1];
        }
      },
      place);
  if (total != nullptr) *total = mine.value.total;
  return mine.value.value;
}

}  // namespace ebb::cuda
