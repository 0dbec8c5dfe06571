#include <ebb/core/ops/sort_kernels.h>

#include <ebb/cuda/kernels/sort_lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Elements become unsigned keys in the same order; what is sorted are keys with their positions
// (sort_lines.h), and the elements are fetched by the positions in the end.

namespace ebb::cuda {

namespace {

/// The key of a float or double: NaN is the largest, and zeros are equal.
template <typename Bits, typename T>
__device__ __forceinline__ Bits floating_key(T x) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  if (x != x) return ~Bits{0};
  const auto bits = __builtin_bit_cast(Bits, x == T{0} ? T{0} : x);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// A key of as many bits as a Pair has room for.
template <typename Pair>
__device__ __forceinline__ uint64_t sort_key(float x) {
  return floating_key<uint32_t>(x);
}
template <typename Pair>
__device__ __forceinline__ uint64_t sort_key(double x) {
  return floating_key<uint64_t>(x);
}
template <typename Pair>
__device__ __forceinline__ uint64_t sort_key(int64_t x) {
  if constexpr (std::is_same_v<Pair, NarrowPair>) {
    return static_cast<uint32_t>(static_cast<int32_t>(x)) ^ (uint32_t{1} << 31);
  } else {
    return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63);
  }
}

/// The pairs of a contiguous tensor's lines.
template <typename T, typename Pair>
struct LinePairs {
  Elements<T, AnyType> in;
  int64_t n;
  int64_t inner;
  bool descending;

  __device__ __forceinline__ Pair operator()(int64_t line, int64_t i) const {
    const int64_t outer = inner == 1 ? line : line / inner;
    const uint64_t key = sort_key<Pair>(in.load((outer * n + i) * inner + (line - outer * inner)));
    constexpr uint64_t kMask = std::is_same_v<Pair, NarrowPair> ? UINT32_MAX : UINT64_MAX;
    return make_pair<Pair>(descending ? ~key & kMask : key, i);
  }
};

/// The k first elements of each line and where they were; Word is as wide as an element.
template <typename Pair, typename Word>
__global__ void fetch_sorted(LineShape shape, int64_t k, const Pair* pairs, const Word* in,
                             Word* values, int64_t* indices) {
  const int64_t count = shape.outer * k * shape.inner;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const int64_t row = shape.inner == 1 ? i : i / shape.inner;
    const int64_t inner = i - row * shape.inner;
    const int64_t outer = row / k;
    const int64_t line = outer * shape.inner + inner;
    const int64_t position = position_of(pairs[line * shape.n + (row - outer * k)]);
    indices[i] = position;
    if (values != nullptr) values[i] = in[(outer * shape.n + position) * shape.inner + inner];
  }
}

template <typename Pair>
void fetch(const SortArguments& a, const Pair* pairs, cudaStream_t stream) {
  const auto run = [&]<typename Word>(Word) {
    launch(&fetch_sorted<Pair, Word>, blocks_for(a.shape.lines() * a.k), kBlockThreads, 0, stream,
           a.shape, a.k, pairs, static_cast<const Word*>(a.input), static_cast<Word*>(a.values),
           a.indices);
  };
  switch (element_size(a.dtype)) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      return run(uint64_t{});
  }
}

template <typename T, typename Pair>
void sort_as(const SortArguments& a) {
  const KernelDevice device;
  const SortPlan plan(a.shape.lines(), a.shape.n, a.k, a.shape.inner > 1);
  const Workspace scratch(static_cast<size_t>(plan.scratch()) * sizeof(Pair));
  const LinePairs<T, Pair> source{Elements<T, AnyType>(a.input, a.dtype), a.shape.n, a.shape.inner,
                                  a.descending};
  fetch(a, sort_lines(plan, source, scratch.as<Pair>(), device.stream()), device.stream());
}

void sort(const SortArguments& a) {
  const bool narrow = a.shape.n < INT32_MAX;
  switch (a.dtype) {
    case ScalarType::Double:
      return sort_as<double, WidePair>(a);
    case ScalarType::Long:
      return sort_as<int64_t, WidePair>(a);
    case ScalarType::Float:
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return narrow ? sort_as<float, NarrowPair>(a) : sort_as<float, WidePair>(a);
    default:
      return narrow ? sort_as<int64_t, NarrowPair>(a) : sort_as<int64_t, WidePair>(a);
  }
}

}  // namespace

extern const SortKernels sort_kernels = {&sort};

}  // namespace ebb::cuda
