#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/line_shape.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/runtime/device_code.h>

// How threads share lines: elements that make one result (a reduction, a softmax, a norm). A block
// takes several lines at a time, each by a team of 1 to 256 threads. Where the elements of a line
// are neighbours in memory, so are the threads of a team; where those of neighbouring lines are,
// neighbouring threads belong to different teams.

namespace ebb::cuda {

/// Threads of a block that takes lines.
inline constexpr uint32_t kTeamThreads = 256;

struct TeamShape {
  uint32_t members;  ///< threads of a team: 1 to 32, or kTeamThreads unless `columns`; 2^k
  bool columns;      ///< neighbouring threads take neighbouring lines

  [[nodiscard]] EBB_INLINE uint32_t teams() const { return kTeamThreads / members; }
};

/// Lines of `count` adjacent elements.
inline TeamShape row_teams(int64_t count) {
  constexpr int64_t kItems = 4;  // elements that a thread loads at once
  constexpr int64_t kWarpRow = 512;
  if (count > kWarpRow) return {kTeamThreads, false};
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, (count + kItems - 1) / kItems));
  return {std::min<uint32_t>(32, static_cast<uint32_t>(std::bit_ceil(wanted))), false};
}

/// Lines of `count` elements, of which `neighbours` lie side by side.
inline TeamShape column_teams(int64_t count, int64_t neighbours) {
  constexpr int64_t kItems = 8;
  const auto side = static_cast<uint32_t>(
      std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(neighbours, 1, 32))));
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, (count + kItems - 1) / kItems));
  const auto most = static_cast<uint64_t>(kTeamThreads / side);
  return {static_cast<uint32_t>(std::min(most, std::bit_ceil(wanted))), true};
}

/// The teams for lines of a contiguous tensor.
inline TeamShape team_shape(const LineShape& shape) {
  return shape.inner == 1 ? row_teams(shape.n) : column_teams(shape.n, shape.inner);
}

/// The blocks for that many lines.
inline uint32_t team_blocks(const TeamShape& shape, int64_t lines) {
  return blocks_for(lines, shape.teams());
}

/// The team of the calling thread.
class Team {
 public:
  __device__ __forceinline__ explicit Team(const TeamShape& shape)
      : members_(shape.members),
        columns_(shape.columns),
        line_(columns_ ? threadIdx.x % shape.teams() : threadIdx.x / members_),
        member_(columns_ ? threadIdx.x / shape.teams() : threadIdx.x % members_) {}

  /// The number of the line among those that the block takes together.
  [[nodiscard]] __device__ __forceinline__ uint32_t line() const { return line_; }
  [[nodiscard]] __device__ __forceinline__ uint32_t member() const { return member_; }
  [[nodiscard]] __device__ __forceinline__ uint32_t members() const { return members_; }
  [[nodiscard]] __device__ __forceinline__ uint32_t teams() const {
    return kTeamThreads / members_;
  }

  /// What all members of the team have, put together in an order that is always the same; `op` is
  /// commutative. All threads of the block call it, and all get the result.
  template <typename V, typename Op>
  __device__ __forceinline__ V reduce(V value, Op op, const V& identity) const {
    if (members_ == 1) return value;
    if (columns_) return reduce_columns(value, op);
    if (members_ == kTeamThreads) return block_reduce(value, op, identity);
    for (uint32_t half = members_ / 2; half > 0; half /= 2) {
      value = op(value, shuffle_xor(value, static_cast<int>(half)));
    }
    return value;
  }

 private:
  template <typename V, typename Op>
  __device__ __forceinline__ V reduce_columns(const V& value, Op op) const {
    EBB_SHARED(slots, V[kTeamThreads]);
    slots[threadIdx.x] = value;
    for (uint32_t half = members_ / 2; half > 0; half /= 2) {
      __syncthreads();
      if (member_ < half) {
        slots[threadIdx.x] = op(slots[threadIdx.x], slots[threadIdx.x + half * teams()]);
      }
    }
    __syncthreads();
    const V result = slots[line_];
    __syncthreads();
    return result;
  }

  uint32_t members_;
  bool columns_;
  uint32_t line_;
  uint32_t member_;
};

/// A dtype that is known at run time only.
struct AnyType {};

/// Adjacent elements of dtype S, which are read and written as numbers of type T.
template <typename T, typename S>
struct Elements {
  Stored<S>* data;

  Elements(const void* data, ScalarType) : data(static_cast<Stored<S>*>(const_cast<void*>(data))) {}
  __device__ __forceinline__ T load(int64_t i) const { return convert<T, S>(data[i]); }
  template <int N>
  __device__ __forceinline__ void load(const int64_t (&at)[N], T (&to)[N]) const {
    for (int k = 0; k < N; ++k) to[k] = load(at[k]);
  }
  __device__ __forceinline__ void store(int64_t i, T value) const {
    data[i] = convert<S, T>(value);
  }
};

template <typename T>
struct Elements<T, AnyType> {
  char* data;
  ScalarType dtype;
  int size;

  Elements(const void* data, ScalarType dtype)
      : data(static_cast<char*>(const_cast<void*>(data))),
        dtype(dtype),
        size(static_cast<int>(element_size(dtype))) {}
  __device__ __forceinline__ T load(int64_t i) const {
    T value{};
    dispatch_element(dtype,
                     [&](auto zero) { value = load_element<T, decltype(zero)>(data + i * size); });
    return value;
  }
  template <int N>
  __device__ __forceinline__ void load(const int64_t (&at)[N], T (&to)[N]) const {
    dispatch_element(dtype, [&](auto zero) {
      for (int k = 0; k < N; ++k) to[k] = load_element<T, decltype(zero)>(data + at[k] * size);
    });
  }
  __device__ __forceinline__ void store(int64_t i, T value) const {
    dispatch_element(dtype,
                     [&](auto zero) { store_element<decltype(zero), T>(data + i * size, value); });
  }
};

/// Calls f(S{}) with the dtype of elements that a kernel computing in T reads and writes: T itself,
/// a half type, or AnyType.
template <typename T, typename F>
void dispatch_elements(ScalarType dtype, F&& f) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == kHalf) return f(Half{});
    if (dtype == kBFloat16) return f(BFloat16{});
  }
  if (dtype == scalar_type_of<T>) return f(T{});
  f(AnyType{});
}

/// Calls f(T{}) with float or double.
template <typename F>
void dispatch_float_or_double(ScalarType compute, F&& f) {
  if (compute == kDouble) return f(double{});
  if (compute == kFloat) return f(float{});
  ebb::detail::raise_unsupported(compute);
}

/// One line: `n` elements from `start` on, `step` apart; none where there is no such line.
struct Line {
  bool exists;
  int64_t number;
  int64_t start;
  int64_t step;
  int64_t n;
};

/// The lines of a contiguous tensor as a kernel argument.
struct Lines {
  LineShape shape;
  TeamShape teams;

  explicit Lines(const LineShape& shape) : shape(shape), teams(team_shape(shape)) {}
  [[nodiscard]] uint32_t blocks() const { return team_blocks(teams, shape.lines()); }

  /// Calls f(line) for the lines of the calling thread's team; all threads of a block equally
  /// often.
  template <typename F>
  __device__ __forceinline__ void for_each(const Team& team, F&& f) const {
    const int64_t lines = shape.outer * shape.inner;
    const int64_t step = int64_t{gridDim.x} * team.teams();
    for (int64_t first = int64_t{blockIdx.x} * team.teams(); first < lines; first += step) {
      const int64_t number = first + team.line();
      const int64_t outer = shape.inner == 1 ? number : number / shape.inner;
      const int64_t start = outer * shape.n * shape.inner + (number - outer * shape.inner);
      const bool exists = number < lines;
      f(Line{exists, number, start, shape.inner, exists ? shape.n : 0});
    }
  }
};

/// Elements that a thread has on their way at once.
inline constexpr int kLineItems = 4;

/// Calls f(x, i, position) for the elements of a line that are the calling thread's: element i, at
/// `position` in memory.
template <typename T, typename E, typename F>
__device__ __forceinline__ void for_each_element(const E& elements, const Team& team,
                                                 const Line& line, F&& f) {
  const int64_t members = team.members();
  for (int64_t i = team.member(); i < line.n; i += kLineItems * members) {
    int64_t at[kLineItems];
    T x[kLineItems] = {};
    for (int k = 0; k < kLineItems; ++k) {
      const int64_t element = i + k * members;
      at[k] = line.start + (element < line.n ? element : i) * line.step;
    }
    elements.load(at, x);
    for (int k = 0; k < kLineItems; ++k) {
      if (i + k * members < line.n) f(x[k], i + k * members, at[k]);
    }
  }
}

/// A sum whose error does not grow with its length: in T over short blocks, in double over those.
template <typename T>
class BlockedSum {
 public:
  __device__ __forceinline__ void add(T x) {
    block_ += x;
    if (++count_ == kBlock) flush();
  }
  [[nodiscard]] __device__ __forceinline__ double total() const {
    return total_ + static_cast<double>(block_);
  }

 private:
  static constexpr int kBlock = 32;
  __device__ __forceinline__ void flush() {
    total_ += static_cast<double>(block_);
    block_ = T{0};
    count_ = 0;
  }
  double total_ = 0;
  T block_ = T{0};
  int count_ = 0;
};

/// The operations of teams.
struct Plus {
  template <typename V>
  __device__ __forceinline__ V operator()(V a, V b) const {
    return a + b;
  }
};

}  // namespace ebb::cuda
