#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/runtime/launch.h>

// Sorting many lines at once. What is sorted are pairs of a key and a position, all different, so
// that any sort is stable: tiles by a bitonic network in shared memory (Batcher, "Sorting Networks
// and their Applications", 1968), then merges of two runs in which each pair finds its place by
// binary search. Where only the first k of a line are wanted, runs are cut to k.

namespace ebb::cuda {

/// A 32-bit key above a 32-bit position, which is below 2^32 - 1.
using NarrowPair = uint64_t;

struct WidePair {
  uint64_t key;
  uint64_t position;
};

EBB_INLINE bool operator<(const WidePair& a, const WidePair& b) {
  return a.key < b.key || (a.key == b.key && a.position < b.position);
}

template <typename Pair>
EBB_INLINE Pair make_pair(uint64_t key, int64_t position) {
  if constexpr (std::is_same_v<Pair, NarrowPair>) {
    return key << 32 | static_cast<uint64_t>(position);
  } else {
    return {key, static_cast<uint64_t>(position)};
  }
}
EBB_INLINE uint64_t key_of(NarrowPair pair) { return pair >> 32; }
EBB_INLINE uint64_t key_of(const WidePair& pair) { return pair.key; }
EBB_INLINE int64_t position_of(NarrowPair pair) { return static_cast<int64_t>(pair & UINT32_MAX); }
EBB_INLINE int64_t position_of(const WidePair& pair) { return static_cast<int64_t>(pair.position); }

/// After all others.
template <typename Pair>
EBB_INLINE Pair last_pair() {
  if constexpr (std::is_same_v<Pair, NarrowPair>) {
    return UINT64_MAX;
  } else {
    return {UINT64_MAX, UINT64_MAX};
  }
}

/// Pairs that a block sorts.
inline constexpr uint32_t kSortSlots = 1024;

/// Lines of n pairs, cut into tiles that are as long as a short line, or kSortSlots.
struct SortPlan {
  int64_t lines;
  int64_t n;
  int64_t k;        ///< the first of each line that are wanted
  uint32_t tile;    ///< its length, 2^j
  int64_t tiles;    ///< of a line
  bool neighbours;  ///< those of neighbouring lines lie side by side

  SortPlan(int64_t lines, int64_t n, int64_t k, bool neighbours)
      : lines(lines), n(n), k(k), neighbours(neighbours) {
    const auto whole = std::bit_ceil(static_cast<uint64_t>(n));
    tile = static_cast<uint32_t>(std::min<uint64_t>(whole, kSortSlots));
    tiles = (n + tile - 1) / tile;
  }
  /// How many pairs of scratch sort_lines takes.
  [[nodiscard]] int64_t scratch() const { return lines * n * (tiles > 1 ? 2 : 1); }
};

/// Sorts the tiles, each in place in its line of `to`. source(line, i) gives a pair.
template <typename Pair, typename Source>
__global__ void sort_tiles(SortPlan plan, Source source, Pair* to) {
  EBB_SHARED(slots, Pair[kSortSlots]);
  const uint32_t tile = plan.tile;
  const uint32_t side = kSortSlots / tile;
  for (int64_t first = int64_t{blockIdx.x} * side; first < plan.lines * plan.tiles;
       first += int64_t{gridDim.x} * side) {
    // Slot of the element i of the tile `first + t`.
    const auto for_each_slot = [&](auto&& f) {
      for (uint32_t s = threadIdx.x; s < kSortSlots; s += blockDim.x) {
        const uint32_t t = plan.neighbours ? s % side : s / tile;
        const uint32_t i = plan.neighbours ? s / side : s % tile;
        const int64_t number = first + t;
        const int64_t line = number / plan.tiles;
        const int64_t at = (number - line * plan.tiles) * tile + i;
        f(slots[t * tile + i], line, at, line < plan.lines && at < plan.n, i);
      }
    };
    for_each_slot([&](Pair& slot, int64_t line, int64_t at, bool exists, uint32_t) {
      slot = exists ? source(line, at) : last_pair<Pair>();
    });
    __syncthreads();
    for (uint32_t run = 2; run <= tile; run *= 2) {
      for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
        for (uint32_t s = threadIdx.x; s < kSortSlots / 2; s += blockDim.x) {
          const uint32_t low = 2 * s - (s & (distance - 1));
          const bool ascending = (low & (tile - 1) & run) == 0;
          Pair& a = slots[low];
          Pair& b = slots[low + distance];
          if ((b < a) == ascending) {
            const Pair swapped = a;
            a = b;
            b = swapped;
          }
        }
        __syncthreads();
      }
    }
    for_each_slot([&](const Pair& slot, int64_t line, int64_t at, bool exists, uint32_t i) {
      if (exists && i < plan.k) to[line * plan.n + at] = slot;
    });
    __syncthreads();
  }
}

/// Merges runs of `run` pairs, two and two; the first k of each count.
template <typename Pair>
__global__ void merge_runs(SortPlan plan, int64_t run, const Pair* from, Pair* to) {
  const int64_t live = run < plan.k ? run : plan.k;  // pairs of a run that count
  const int64_t runs = (plan.n + run - 1) / run;
  const int64_t kept = 2 * run < plan.k ? 2 * run : plan.k;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < plan.lines * runs * live;
       i += step) {
    const int64_t number = i / live;
    const int64_t j = i - number * live;
    const int64_t line = number / runs;
    const int64_t own = number - line * runs;
    if (own * run + j >= plan.n) continue;
    const Pair* const start = from + line * plan.n;
    const Pair pair = start[own * run + j];
    // How many pairs of the other run come before.
    const int64_t other = (own ^ 1) * run;
    const int64_t rest = plan.n - other;
    int64_t low = 0;
    int64_t high = rest <= 0 ? 0 : rest < live ? rest : live;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (start[other + middle] < pair)
        low = middle + 1;
      else
        high = middle;
    }
    if (j + low < kept) to[line * plan.n + (own & ~int64_t{1}) * run + j + low] = pair;
  }
}

/// The first plan.k pairs of each line in ascending order: those of line l begin at l * plan.n.
/// `scratch` has plan.scratch() pairs, and the result lies in it.
template <typename Pair, typename Source>
const Pair* sort_lines(const SortPlan& plan, const Source& source, Pair* scratch,
                       cudaStream_t stream) {
  Pair* from = scratch;
  Pair* to = scratch + plan.lines * plan.n;
  launch(&sort_tiles<Pair, Source>, blocks_for(plan.lines * plan.tiles, kSortSlots / plan.tile),
         kBlockThreads, 0, stream, plan, source, from);
  for (int64_t run = plan.tile; run < plan.n; run *= 2) {
    const int64_t runs = (plan.n + run - 1) / run;
    launch(&merge_runs<Pair>, blocks_for(plan.lines * runs * std::min(run, plan.k)), kBlockThreads,
           0, stream, plan, run, from, to);
    std::swap(from, to);
  }
  return from;
}

}  // namespace ebb::cuda
