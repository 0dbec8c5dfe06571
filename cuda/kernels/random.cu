#include <cmath>
#include <type_traits>

#include <ebb/core/ops/functors/stochastic_round.h>
#include <ebb/core/ops/random_kernels.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/pack.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// A thread makes one counter's words, which serve a group of adjacent logical elements: four with
// 32-bit draws, two with 64-bit draws. Compiled without fused multiply-add, so that the numbers are
// those of the CPU.

namespace ebb::cuda {

namespace {

using random::Reservation;
using random::Words4;

/// What a draw does: how many elements a counter serves, the type it computes in, and whether it
/// reads an input. Its call makes element k of the group from the words and the input x.
template <typename T, int kElementsOfCounter, bool kReadsInput = false>
struct Draw {
  using Number = T;
  static constexpr int kElements = kElementsOfCounter;
  static constexpr bool reads_input = kReadsInput;
};

EBB_INLINE uint64_t bits_of(const Words4& words, int k) {
  return words.lane[2 * k] | static_cast<uint64_t>(words.lane[2 * k + 1]) << 32;
}

template <typename T>
struct Uniform : Draw<T, std::is_same_v<T, double> ? 2 : 4> {
  T low;
  T length;
  T high;
  T below_high;
  T granules;  ///< half types: the number of values in [0, 1), so that none rounds up to 1; else 0

  Uniform(double from, double to, ScalarType dtype)
      : low(static_cast<T>(from)),
        length(static_cast<T>(to) - static_cast<T>(from)),
        high(static_cast<T>(to)),
        below_high(std::nextafter(high, low)),
        granules(dtype == kHalf       ? T(0x1p11)
                 : dtype == kBFloat16 ? T(0x1p8)
                                      : T(0)) {}

  __device__ __forceinline__ T operator()(const Words4& words, int k, T) const {
    T u;
    if constexpr (std::is_same_v<T, double>) {
      u = random::to_uniform(bits_of(words, k));
    } else {
      u = random::to_uniform(words.lane[k]);
      if (granules != T(0)) u = std::floor(u * granules) / granules;
    }
    const T value = low + u * length;
    return value < high ? value : below_high;  // where rounding went up to high
  }
};

template <typename T>
struct Normal : Draw<T, std::is_same_v<T, double> ? 2 : 4> {
  T mean;
  T std;

  __device__ __forceinline__ T operator()(const Words4& words, int k, T) const {
    random::NormalPair<T> pair;
    if constexpr (std::is_same_v<T, double>) {
      pair = random::to_normals(bits_of(words, 0), bits_of(words, 1));
    } else {
      pair = random::to_normals(words.lane[k / 2 * 2], words.lane[k / 2 * 2 + 1]);
    }
    return mean + std * (k % 2 == 0 ? pair.first : pair.second);
  }
};

struct Integer : Draw<int64_t, 2> {
  int64_t low;
  int64_t high;

  __device__ __forceinline__ int64_t operator()(const Words4& words, int k, int64_t) const {
    return random::to_integer(bits_of(words, k), low, high);
  }
};

struct Bernoulli : Draw<int64_t, 4> {
  double p;

  __device__ __forceinline__ int64_t operator()(const Words4& words, int k, int64_t) const {
    return random::to_bernoulli(words.lane[k], p) ? 1 : 0;
  }
};

struct BernoulliEach : Draw<double, 4, true> {
  __device__ __forceinline__ double operator()(const Words4& words, int k, double p) const {
    return random::to_bernoulli(words.lane[k], p) ? 1.0 : 0.0;
  }
};

template <typename T>
struct Dropout : Draw<T, 4, true> {
  double keep;
  T scale;

  __device__ __forceinline__ T operator()(const Words4& words, int k, T x) const {
    return random::to_bernoulli(words.lane[k], keep) ? x * scale : T(0);
  }
};

struct StochasticRound : Draw<float, 4, true> {
  __device__ __forceinline__ float operator()(const Words4& words, int k, float x) const {
    return functors::StochasticRound()(words.lane[k], x);
  }
};

/// The elements that a launch makes: those from logical element `first` on.
struct Target {
  Reservation draw;
  uint64_t first;
  uint32_t numel;
  uint32_t groups;  ///< counters that serve them; the first and the last may serve others too
  bool packed;      ///< groups are aligned packs in all operands
  char* data[2];
  ScalarType dtype[2];
};

template <typename D>
__global__ void draw_elements(D draw, Target target, StridedIndex<2> index) {
  using T = typename D::Number;
  constexpr int N = D::kElements;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < target.groups; i += step) {
    const uint64_t group = target.first / N + i;
    const Words4 words = random::philox(target.draw.seed, target.draw.offset + group);
    // Where in this launch the group starts; of the first it may be before its beginning.
    const uint64_t start = group * N - target.first;
    T values[N] = {};
    if (target.packed && start + N <= target.numel) {
      const auto at = static_cast<int64_t>(start);
      if constexpr (D::reads_input) load_run(target.dtype[1], target.data[1], at, values);
      for (int k = 0; k < N; ++k) values[k] = draw(words, k, values[k]);
      store_run(target.dtype[0], target.data[0], at, values);
      continue;
    }
    char* to[N];
    char* from[N];
    bool exists[N];
    for (int k = 0; k < N; ++k) {
      const uint64_t element = start + static_cast<uint64_t>(k);
      exists[k] = element < target.numel;
      const Offsets<2> offsets = index(exists[k] ? static_cast<uint32_t>(element) : 0);
      to[k] = target.data[0] + offsets[0];
      from[k] = target.data[1] + offsets[1];
    }
    if constexpr (D::reads_input) load_elements(target.dtype[1], from, values);
    for (int k = 0; k < N; ++k) values[k] = draw(words, k, values[k]);
    store_elements<T>(target.dtype[0], to, values, exists);
  }
}

bool is_packed(const Piece& piece, int operand, int n) {
  return piece.is_contiguous(operand) &&
         suits_packs(piece.data(operand), n, element_size(piece.dtype(operand)));
}

template <typename D>
void run(const TensorIterator& it, Reservation reservation, const D& draw) {
  constexpr int N = D::kElements;
  constexpr int kInput = D::reads_input ? 1 : 0;
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    const auto first = static_cast<uint64_t>(piece.first());
    const auto numel = static_cast<uint32_t>(piece.numel());
    const auto groups = static_cast<uint32_t>((first % N + numel + N - 1) / N);
    const bool packed = first % N == 0 && is_packed(piece, 0, N) && is_packed(piece, kInput, N);
    const Target target = {reservation,
                           first,
                           numel,
                           groups,
                           packed,
                           {piece.data(0), piece.data(kInput)},
                           {piece.dtype(0), piece.dtype(kInput)}};
    launch(&draw_elements<D>, blocks_for(groups), kBlockThreads, 0, device.stream(), draw, target,
           StridedIndex<2>(piece, {0, kInput}));
  });
}

void uniform(const TensorIterator& it, Reservation draw, double low, double high) {
  if (it.dtype(0) == kDouble) {
    run(it, draw, Uniform<double>(low, high, kDouble));
  } else {
    run(it, draw, Uniform<float>(low, high, it.dtype(0)));
  }
}

void normal(const TensorIterator& it, Reservation draw, double mean, double std) {
  if (it.dtype(0) == kDouble) {
    run(it, draw, Normal<double>{{}, mean, std});
  } else {
    run(it, draw, Normal<float>{{}, static_cast<float>(mean), static_cast<float>(std)});
  }
}

void integer(const TensorIterator& it, Reservation draw, int64_t low, int64_t high) {
  run(it, draw, Integer{{}, low, high});
}

void bernoulli(const TensorIterator& it, Reservation draw, double p) {
  run(it, draw, Bernoulli{{}, p});
}

void bernoulli_each(const TensorIterator& it, Reservation draw) { run(it, draw, BernoulliEach{}); }

void dropout(const TensorIterator& it, Reservation draw, double keep, double scale) {
  if (it.compute_type() == kDouble) {
    run(it, draw, Dropout<double>{{}, keep, scale});
  } else {
    run(it, draw, Dropout<float>{{}, keep, static_cast<float>(scale)});
  }
}

void stochastic_round(const TensorIterator& it, Reservation draw) {
  run(it, draw, StochasticRound{});
}

}  // namespace

extern const RandomKernels random_kernels = {
    &uniform, &normal, &integer, &bernoulli, &bernoulli_each, &dropout, &stochastic_round};

}  // namespace ebb::cuda
