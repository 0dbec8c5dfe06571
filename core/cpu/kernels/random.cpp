#include <algorithm>
#include <cmath>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/stochastic_round.h>
#include <ebb/core/ops/random_kernels.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

using random::Reservation;

/// Elements that are drawn together; even, so that pairs of normals stay together.
constexpr int64_t kBlock = 512;

Tile run_tile(const TensorIterator& it, int operand, int64_t n) {
  return {n, 1, it.stride(operand, 0), 0};
}

/// Fills the output with numbers of type T: `draw(first, n, values)` writes elements first to
/// first + n - 1 of the call.
template <typename T, typename Draw>
void generate(const TensorIterator& it, Draw&& draw) {
  const Store store = stores(scalar_type_of<T>)[static_cast<int>(it.dtype(0))];
  parallel_for(0, it.numel(), kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) T values[kBlock];
    int64_t i = begin;
    for_each_run(it, begin, end, [&](char* const* pointers, int64_t n) {
      for (int64_t done = 0; done < n;) {
        const int64_t count = std::min(n - done, kBlock);
        draw(i, count, values);
        store(pointers[0] + done * it.stride(0, 0), values, run_tile(it, 0, count));
        done += count;
        i += count;
      }
    });
  });
}

/// Words 2i and 2i + 1 as one, for `count` elements.
void fill_bits(Reservation draw, int64_t first, int64_t count, uint64_t* bits) {
  uint32_t words[2 * kBlock];
  random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(2 * first), 2 * count, words);
  for (int64_t i = 0; i < count; ++i) {
    bits[i] = words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32;
  }
}

/// u in [0, 1), a multiple of 2^-digits, so that the dtype does not round it up to 1.
float shorten(float u, ScalarType dtype) {
  if (dtype == kHalf) return std::floor(u * 0x1p11f) * 0x1p-11f;
  if (dtype == kBFloat16) return std::floor(u * 0x1p8f) * 0x1p-8f;
  return u;
}

template <typename T>
T scale_uniform(T u, T low, T high, T below_high) {
  const T value = low + u * (high - low);
  return value < high ? value : below_high;  // where rounding went up to high
}

void uniform(const TensorIterator& it, Reservation draw, double low, double high) {
  if (it.dtype(0) == kDouble) {
    const double below = std::nextafter(high, low);
    generate<double>(it, [&](int64_t first, int64_t n, double* values) {
      uint64_t bits[kBlock];
      fill_bits(draw, first, n, bits);
      for (int64_t i = 0; i < n; ++i) {
        values[i] = scale_uniform(random::to_uniform(bits[i]), low, high, below);
      }
    });
    return;
  }
  const auto from = static_cast<float>(low);
  const auto to = static_cast<float>(high);
  const float below = std::nextafter(to, from);
  const ScalarType dtype = it.dtype(0);
  generate<float>(it, [&](int64_t first, int64_t n, float* values) {
    uint32_t words[kBlock];
    random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(first), n, words);
    for (int64_t i = 0; i < n; ++i) {
      values[i] = scale_uniform(shorten(random::to_uniform(words[i]), dtype), from, to, below);
    }
  });
}

/// The normals of whole pairs that cover elements first to first + n - 1; element `first` is at
/// first % 2.
void normal_pairs(Reservation draw, int64_t first, int64_t n, float* values) {
  uint32_t words[kBlock + 2];
  const int64_t start = first / 2 * 2;
  const int64_t count = (first + n + 1) / 2 * 2 - start;
  random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(start), count, words);
  for (int64_t i = 0; i < count; i += 2) {
    const auto pair = random::to_normals(words[i], words[i + 1]);
    values[i] = pair.first;
    values[i + 1] = pair.second;
  }
}
void normal_pairs(Reservation draw, int64_t first, int64_t n, double* values) {
  uint64_t bits[kBlock + 2];
  const int64_t start = first / 2 * 2;
  const int64_t count = (first + n + 1) / 2 * 2 - start;
  uint32_t words[4];
  for (int64_t i = 0; i < count; i += 2) {
    random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(2 * (start + i)), 4, words);
    bits[i] = words[0] | static_cast<uint64_t>(words[1]) << 32;
    bits[i + 1] = words[2] | static_cast<uint64_t>(words[3]) << 32;
    const auto pair = random::to_normals(bits[i], bits[i + 1]);
    values[i] = pair.first;
    values[i + 1] = pair.second;
  }
}

template <typename T>
void normal_as(const TensorIterator& it, Reservation draw, T mean, T std) {
  generate<T>(it, [&](int64_t first, int64_t n, T* values) {
    T pairs[kBlock + 2];
    normal_pairs(draw, first, n, pairs);
    for (int64_t i = 0; i < n; ++i) values[i] = mean + std * pairs[first % 2 + i];
  });
}

void normal(const TensorIterator& it, Reservation draw, double mean, double std) {
  if (it.dtype(0) == kDouble) {
    normal_as<double>(it, draw, mean, std);
  } else {
    normal_as<float>(it, draw, static_cast<float>(mean), static_cast<float>(std));
  }
}

void integer(const TensorIterator& it, Reservation draw, int64_t low, int64_t high) {
  generate<int64_t>(it, [&](int64_t first, int64_t n, int64_t* values) {
    uint64_t bits[kBlock];
    fill_bits(draw, first, n, bits);
    for (int64_t i = 0; i < n; ++i) values[i] = random::to_integer(bits[i], low, high);
  });
}

void bernoulli(const TensorIterator& it, Reservation draw, double p) {
  generate<int64_t>(it, [&](int64_t first, int64_t n, int64_t* values) {
    uint32_t words[kBlock];
    random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(first), n, words);
    for (int64_t i = 0; i < n; ++i) values[i] = random::to_bernoulli(words[i], p) ? 1 : 0;
  });
}

/// Operand 0 becomes f(word, x) for the elements x of operand 1, computed in T.
template <typename T, typename F>
void transform(const TensorIterator& it, Reservation draw, F&& f) {
  const Load load = loads(scalar_type_of<T>)[static_cast<int>(it.dtype(1))];
  const Store store = stores(scalar_type_of<T>)[static_cast<int>(it.dtype(0))];
  parallel_for(0, it.numel(), kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) T values[kBlock];
    uint32_t words[kBlock];
    int64_t first = begin;
    for_each_run(it, begin, end, [&](char* const* pointers, int64_t n) {
      for (int64_t done = 0; done < n;) {
        const int64_t count = std::min(n - done, kBlock);
        load(values, pointers[1] + done * it.stride(1, 0), run_tile(it, 1, count));
        random::fill_words(draw.seed, draw.offset, static_cast<uint64_t>(first), count, words);
        const auto element = f;  // a copy that the writes to values cannot change
        for (int64_t i = 0; i < count; ++i) values[i] = element(words[i], values[i]);
        store(pointers[0] + done * it.stride(0, 0), values, run_tile(it, 0, count));
        done += count;
        first += count;
      }
    });
  });
}

void bernoulli_each(const TensorIterator& it, Reservation draw) {
  transform<double>(
      it, draw, [](uint32_t word, double p) { return random::to_bernoulli(word, p) ? 1.0 : 0.0; });
}

template <typename T>
void dropout_as(const TensorIterator& it, Reservation draw, double keep, T scale) {
  // Computed before the choice, which then is no branch: half of them would be mispredicted.
  transform<T>(it, draw, [keep, scale](uint32_t word, T x) {
    const T kept = x * scale;
    return random::to_bernoulli(word, keep) ? kept : T{0};
  });
}

void dropout(const TensorIterator& it, Reservation draw, double keep, double scale) {
  if (it.compute_type() == kDouble) {
    dropout_as<double>(it, draw, keep, scale);
  } else {
    dropout_as<float>(it, draw, keep, static_cast<float>(scale));
  }
}

void stochastic_round(const TensorIterator& it, Reservation draw) {
  transform<float>(it, draw, functors::StochasticRound());
}

}  // namespace

extern const RandomKernels random_kernels = {
    &uniform, &normal, &integer, &bernoulli, &bernoulli_each, &dropout, &stochastic_round};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
