#pragma once

#include <cmath>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/random/philox.h>

// The random numbers of a call, as functions of (seed, offset, i): element i of the call that
// reserved the counters from `offset` on. They depend on i alone, so layout, threads and device do
// not matter. i is the logical (row-major) index of the element.
//
// Words of the call are numbered w = 0, 1, 2, ...: word w is lane w % 4 of counter offset + w / 4.
// - 32-bit draws (uniform float, normal float, bernoulli) take word i, and a normal its pair's.
// - 64-bit draws (uniform double, normal double, integers) take words 2i (low) and 2i + 1 (high).
// A call of n elements uses counters_for_32bit(n) or counters_for_64bit(n) counters. Words,
// uniforms, integers and Bernoulli draws are bit-equal on every device; normals are within a few
// ulp across devices, since devices differ in log and cos.

namespace ebb::random {

/// What a call gets from a generator: its key and its first counter.
struct Reservation {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// How many counters a call of n elements with 32-bit draws uses: ceil(n / 4).
EBB_INLINE constexpr uint64_t counters_for_32bit(int64_t n) {
  return (static_cast<uint64_t>(n) + 3) / 4;
}
/// How many counters a call of n elements with 64-bit draws uses: ceil(n / 2).
EBB_INLINE constexpr uint64_t counters_for_64bit(int64_t n) {
  return (static_cast<uint64_t>(n) + 1) / 2;
}

/// The float in [0, 1) that a word's upper 24 bits stand for: a multiple of 2^-24.
EBB_INLINE constexpr float to_uniform(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
/// The double in [0, 1) that the upper 53 bits stand for: a multiple of 2^-53.
EBB_INLINE constexpr double to_uniform(uint64_t bits) {
  return static_cast<double>(static_cast<int64_t>(bits >> 11)) * 0x1p-53;
}

/// Two independent standard normals.
template <typename T>
struct NormalPair {
  T first;
  T second;
};

/// Box and Muller's transform ("A note on the generation of random normal deviates", 1958) of two
/// words: r cos(t) and r sin(t) with r = sqrt(-2 ln u) and t = 2 pi v. u takes all 32 bits, and
/// 1 in place of the word 0, so that the tails reach to 6.6; v takes 24.
EBB_INLINE NormalPair<float> to_normals(uint32_t for_radius, uint32_t for_angle) {
  const float u = static_cast<float>(for_radius == 0 ? 1u : for_radius) * 0x1p-32f;
  const float radius = std::sqrt(-2.0f * std::log(u));
  const float angle = 6.28318530717958648f * to_uniform(for_angle);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
/// The same in double: u takes 53 bits and 2^-53 in place of 0 (tails to 8.5), v takes 53.
EBB_INLINE NormalPair<double> to_normals(uint64_t for_radius, uint64_t for_angle) {
  const double u = to_uniform(for_radius < 0x800u ? uint64_t{0x800} : for_radius);
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 6.28318530717958648 * to_uniform(for_angle);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Word number w of the call.
EBB_INLINE constexpr uint32_t word(uint64_t seed, uint64_t offset, uint64_t w) {
  return philox(seed, offset + w / 4)[w % 4];
}
/// The 64 bits of element i in a call with 64-bit draws.
EBB_INLINE constexpr uint64_t bits64(uint64_t seed, uint64_t offset, uint64_t i) {
  const Words4 words = philox(seed, offset + i / 2);
  const uint64_t lane = 2 * (i % 2);
  return words[lane] | static_cast<uint64_t>(words[lane + 1]) << 32;
}

/// Element i of a call of 32-bit draws, uniform in [0, 1): 24 bits of word i.
EBB_INLINE constexpr float uniform_float(uint64_t seed, uint64_t offset, uint64_t i) {
  return to_uniform(word(seed, offset, i));
}
/// Element i of a call of 64-bit draws, uniform in [0, 1): 53 bits of words 2i and 2i + 1.
EBB_INLINE constexpr double uniform_double(uint64_t seed, uint64_t offset, uint64_t i) {
  return to_uniform(bits64(seed, offset, i));
}

/// Element i of a call of 32-bit draws, standard normal. Elements 2k and 2k + 1 share the words
/// 2k (radius) and 2k + 1 (angle), which one counter gives: the even one takes the cosine, the odd
/// one the sine.
EBB_INLINE float normal_float(uint64_t seed, uint64_t offset, uint64_t i) {
  const Words4 words = philox(seed, offset + i / 4);
  const uint64_t lane = i % 4 / 2 * 2;
  const NormalPair<float> pair = to_normals(words[lane], words[lane + 1]);
  return i % 2 == 0 ? pair.first : pair.second;
}
/// Element i of a call of 64-bit draws, standard normal. Elements 2k and 2k + 1 share the four
/// words of counter offset + k: radius from the lower two, angle from the upper two.
EBB_INLINE double normal_double(uint64_t seed, uint64_t offset, uint64_t i) {
  const Words4 words = philox(seed, offset + i / 2);
  const NormalPair<double> pair = to_normals(words[0] | static_cast<uint64_t>(words[1]) << 32,
                                             words[2] | static_cast<uint64_t>(words[3]) << 32);
  return i % 2 == 0 ? pair.first : pair.second;
}

/// True with probability p: whether word < p * 2^32, so that p is met to within 2^-32, p = 0 never
/// and p = 1 always. p must be in [0, 1]. Exact in double, hence the same on every device.
EBB_INLINE constexpr bool to_bernoulli(uint32_t word, double p) {
  return static_cast<double>(word) < p * 0x1p32;
}
/// Element i of a call of 32-bit draws, true with probability p in [0, 1]; dropout keeps element i
/// where bernoulli(seed, offset, i, 1 - p) holds.
EBB_INLINE constexpr bool bernoulli(uint64_t seed, uint64_t offset, uint64_t i, double p) {
  return to_bernoulli(word(seed, offset, i), p);
}

/// The upper 64 bits of the 128-bit product.
EBB_INLINE constexpr uint64_t multiply_high(uint64_t a, uint64_t b) {
  const uint64_t a_low = a & 0xffffffffu, a_high = a >> 32;
  const uint64_t b_low = b & 0xffffffffu, b_high = b >> 32;
  const uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
  const uint64_t carry = a_low * b_high + (middle & 0xffffffffu);
  return a_high * b_high + (middle >> 32) + (carry >> 32);
}

/// An integer in [low, high) from 64 random bits, by taking the upper half of their product with
/// the length of the range: no value's probability is off by more than 2^-64. high <= low stands
/// for all 2^64 values.
EBB_INLINE constexpr int64_t to_integer(uint64_t bits, int64_t low, int64_t high) {
  if (high <= low) return static_cast<int64_t>(bits);
  const uint64_t length = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + multiply_high(bits, length));
}
/// Element i of a call of 64-bit draws, an integer uniform in [low, high).
EBB_INLINE constexpr int64_t integer(uint64_t seed, uint64_t offset, uint64_t i, int64_t low,
                                     int64_t high) {
  return to_integer(bits64(seed, offset, i), low, high);
}

/// Writes the words from number `first` to `first + count - 1` of the call to `out`: one counter's
/// work for four words, where word() spends it for each. For kernels on the host, which then
/// transform a block of words that is still in cache.
EBB_INLINE void fill_words(uint64_t seed, uint64_t offset, uint64_t first, int64_t count,
                           uint32_t* out) {
  const uint64_t end = first + static_cast<uint64_t>(count);
  uint64_t w = first;
  for (; w % 4 != 0 && w < end; ++w) *out++ = word(seed, offset, w);
  for (; end - w >= 4; w += 4, out += 4) {
    const Words4 words = philox(seed, offset + w / 4);
    for (int lane = 0; lane < 4; ++lane) out[lane] = words.lane[lane];
  }
  const uint64_t rest = (end - w) % 4;
  if (rest == 0) return;
  const Words4 words = philox(seed, offset + w / 4);
  for (uint64_t lane = 0; lane < rest; ++lane) out[lane] = words.lane[lane];
}

}  // namespace ebb::random
