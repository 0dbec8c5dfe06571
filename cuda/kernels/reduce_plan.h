#pragma once

#include <algorithm>

#include <ebb/core/ops/reduce_kernels.h>
#include <ebb/cuda/kernels/lines.h>

// How the elements of a reduction are shared among blocks and found in memory.

namespace ebb::cuda {

/// Dimensions that a reduction kernel can walk over; others are merged by a copy before it.
inline constexpr int kMaxReduceDims = 8;

/// The offset in elements of number i among the reduced elements, counted in row-major order.
struct ReducedIndex {
  int ndim;
  bool wide;  ///< numbers of 64 bits
  Divider<uint32_t> dividers[kMaxReduceDims];
  int64_t sizes[kMaxReduceDims];
  int64_t strides[kMaxReduceDims];

  /// The dims with the innermost last; 1 to kMaxReduceDims of them, or none for one element.
  explicit ReducedIndex(const ReduceDims& dims)
      : ndim(std::max(1, static_cast<int>(dims.sizes.size()))), wide(dims.numel() > INT32_MAX) {
    for (int d = 0; d < kMaxReduceDims; ++d) {
      const auto from = static_cast<size_t>(ndim - 1 - d);
      const bool exists = from < dims.sizes.size();
      sizes[d] = exists ? dims.sizes[from] : 1;
      strides[d] = exists ? dims.strides[from] : 0;
      if (!wide) dividers[d] = Divider<uint32_t>(std::max<int64_t>(1, sizes[d]));
    }
  }
  EBB_INLINE int64_t operator()(int64_t i) const {
    int64_t offset = 0;
    for (int d = 0; d + 1 < ndim; ++d) {
      const int64_t quotient = wide ? i / sizes[d] : dividers[d].divide(static_cast<uint32_t>(i));
      offset += (i - quotient * sizes[d]) * strides[d];
      i = quotient;
    }
    return offset + i * strides[ndim - 1];
  }
};

/// Where an output is, and the first of its elements.
struct KeptOffsets {
  int64_t in;
  int64_t out;
};

/// The outputs of a plan, counted with its columns innermost.
struct KeptIndex {
  int ndim;
  int64_t columns;
  int64_t column_stride;
  int64_t column_out_stride;
  int64_t sizes[kMaxReduceDims];
  int64_t strides[kMaxReduceDims];
  int64_t out_strides[kMaxReduceDims];

  explicit KeptIndex(const ReducePlan& plan)
      : ndim(static_cast<int>(plan.kept.sizes.size())),
        columns(plan.columns),
        column_stride(plan.column_stride),
        column_out_stride(plan.column_out_stride) {
    for (int d = 0; d < kMaxReduceDims; ++d) {
      const bool exists = d < ndim;
      const auto from = static_cast<size_t>(ndim - 1 - d);
      sizes[d] = exists ? plan.kept.sizes[from] : 1;
      strides[d] = exists ? plan.kept.strides[from] : 0;
      out_strides[d] = exists ? plan.kept_out_strides[from] : 0;
    }
  }
  EBB_INLINE KeptOffsets operator()(int64_t output) const {
    int64_t other = columns == 1 ? output : output / columns;
    const int64_t column = output - other * columns;
    KeptOffsets offsets{column * column_stride, column * column_out_stride};
    for (int d = 0; d < ndim; ++d) {
      const int64_t quotient = d + 1 == ndim ? 0 : other / sizes[d];
      const int64_t index = other - quotient * sizes[d];
      offsets.in += index * strides[d];
      offsets.out += index * out_strides[d];
      other = quotient;
    }
    return offsets;
  }
};

/// A plan as a kernel argument: outputs by teams, the elements of each cut into pieces where there
/// are few outputs. All depends on shapes alone, and so do the results, bit for bit.
struct DevicePlan {
  TeamShape teams;
  int64_t outputs;
  int64_t count;
  int64_t pieces;
  int64_t length;  ///< of a piece
  int64_t groups;  ///< of outputs that a block takes together
  KeptIndex kept;
  ReducedIndex reduced;

  explicit DevicePlan(const ReducePlan& plan)
      : teams(plan.columns == 1 ? row_teams(plan.count) : column_teams(plan.count, plan.columns)),
        outputs(plan.outputs),
        count(plan.count),
        groups((plan.outputs + teams.teams() - 1) / teams.teams()),
        kept(plan),
        reduced(plan.reduced) {
    constexpr int64_t kBlocks = 1024;  // enough for any device
    constexpr int64_t kItems = 32;     // elements that a thread should have at least
    const int64_t by_size = count / (kItems * teams.members);
    pieces = std::clamp<int64_t>(std::min(by_size, kBlocks / groups), 1, kBlocks);
    length = (count + pieces - 1) / pieces;
  }
  [[nodiscard]] uint32_t blocks() const { return blocks_for(groups * pieces, 1); }
};

/// A team's piece of the elements of one output: what a reducer walks over.
template <typename T, typename E>
struct ReduceSource {
  const E& elements;
  const ReducedIndex& index;
  const Team& team;
  int64_t base;
  int64_t begin;
  int64_t end;

  [[nodiscard]] __device__ __forceinline__ int64_t count() const { return end - begin; }
  /// Calls f(x, number, at) for the elements of the calling thread, the element `at` from the
  /// first.
  template <typename F>
  __device__ __forceinline__ void for_each(F&& f) const {
    const int64_t members = team.members();
    for (int64_t i = begin + team.member(); i < end; i += kLineItems * members) {
      int64_t at[kLineItems];
      T x[kLineItems] = {};
      for (int k = 0; k < kLineItems; ++k) {
        const int64_t element = i + k * members;
        at[k] = base + index(element < end ? element : i);
      }
      elements.load(at, x);
      for (int k = 0; k < kLineItems; ++k) {
        if (i + k * members < end) f(x[k], i + k * members, at[k]);
      }
    }
  }
};

/// Calls f(source, output, offsets, piece) for what the calling thread's team reduces, all threads
/// of a block equally often; `output` is beyond the last one where there is nothing.
template <typename T, typename E, typename F>
__device__ __forceinline__ void for_each_source(const DevicePlan& plan, const E& elements,
                                                const Team& team, F&& f) {
  for (int64_t block = blockIdx.x; block < plan.groups * plan.pieces; block += gridDim.x) {
    const int64_t piece = plan.pieces == 1 ? 0 : block / plan.groups;
    const int64_t output = (block - piece * plan.groups) * team.teams() + team.line();
    const bool exists = output < plan.outputs;
    const KeptOffsets offsets = plan.kept(exists ? output : 0);
    const int64_t begin = exists ? piece * plan.length : 0;
    const int64_t end = exists ? begin + plan.length : 0;
    f(ReduceSource<T, E>{elements, plan.reduced, team, offsets.in, begin,
                         end < plan.count ? end : plan.count},
      output, offsets, piece);
  }
}

}  // namespace ebb::cuda
