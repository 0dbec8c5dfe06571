#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#if defined(__F16C__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include <ebb/core/export.h>

namespace ebb {
namespace detail {

// Both values are computed and masked, without a branch, so that loops vectorise; a comparison of
// signed numbers is one instruction on every CPU.
EBB_INLINE constexpr uint32_t select_bits(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// The value of an IEEE 754 binary16 bit pattern, exactly. A NaN keeps its sign and payload and
/// becomes quiet, as in the instructions of x86.
EBB_INLINE constexpr float half_bits_to_float_portable(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const int32_t magnitude = bits & 0x7fff;
  const uint32_t shifted = static_cast<uint32_t>(magnitude) << 13;
  // Subnormal: an integer times 2^-24. Converted as such, so that no subnormal float occurs, which
  // a CPU may flush to zero.
  const uint32_t small = __builtin_bit_cast(uint32_t, static_cast<float>(magnitude) * 0x1p-24f);
  const uint32_t normal = shifted + ((127u - 15u) << 23);
  const uint32_t special = shifted | 0x7f800000u | select_bits(magnitude > 0x7c00, 1u << 22, 0);
  const uint32_t finite = select_bits(magnitude < 0x0400, small, normal);
  return __builtin_bit_cast(float, sign | select_bits(magnitude >= 0x7c00, special, finite));
}

/// The IEEE 754 binary16 bit pattern nearest to `value`, ties to even, subnormals included. From
/// 65520 on the result is infinite. A NaN keeps its sign and the top of its payload and is quiet.
EBB_INLINE constexpr uint16_t float_to_half_bits_portable(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t unsigned_magnitude = bits & 0x7fffffffu;
  const int32_t magnitude = static_cast<int32_t>(unsigned_magnitude);
  // Subnormal half: the spacing of floats in [0.5, 1) is 2^-24, so the addition rounds for us.
  const uint32_t small =
      __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, unsigned_magnitude) + 0.5f) -
      0x3f000000u;
  const uint32_t normal =
      (unsigned_magnitude - ((127u - 15u) << 23) + 0x0fffu + ((unsigned_magnitude >> 13) & 1u)) >>
      13;
  const uint32_t nan = 0x7e00u | ((unsigned_magnitude >> 13) & 0x03ffu);
  const uint32_t finite = select_bits(magnitude < 0x38800000, small, normal);
  const uint32_t not_nan = select_bits(magnitude < 0x477ff000, finite, 0x7c00u);
  return static_cast<uint16_t>(sign | select_bits(magnitude > 0x7f800000, nan, not_nan));
}

// On a GPU a NaN becomes the canonical one, as its other instructions do.

/// half_bits_to_float_portable, by the processor's instruction where there is one.
EBB_INLINE constexpr float half_bits_to_float(uint16_t bits) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    float value = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
#elif defined(__F16C__) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  }
#endif
  return half_bits_to_float_portable(bits);
}

/// float_to_half_bits_portable, by the processor's instruction where there is one.
EBB_INLINE constexpr uint16_t float_to_half_bits(float value) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
    uint16_t bits = 0;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
#elif defined(__F16C__) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) {
    return static_cast<uint16_t>(
        _mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT)));
  }
#endif
  return float_to_half_bits_portable(value);
}

/// The value of a bfloat16 bit pattern: the upper half of a float.
EBB_INLINE constexpr float bfloat16_bits_to_float(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

/// The bfloat16 bit pattern nearest to `value`, ties to even, subnormals included; a magnitude that
/// rounds beyond the largest finite one is infinite. A NaN keeps its sign and the top of its
/// payload and is quiet.
EBB_INLINE constexpr uint16_t float_to_bfloat16_bits(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (!std::is_constant_evaluated()) {
    uint16_t result = 0;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
  }
#endif
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x0040u;
  const bool is_nan = static_cast<int32_t>(bits & 0x7fffffffu) > 0x7f800000;
  return static_cast<uint16_t>(select_bits(is_nan, nan, rounded));
}

/// Chooses the constructor that takes a bit pattern.
struct FromBits {};

}  // namespace detail

/// IEEE 754 binary16: 11 significant bits, largest value 65504, smallest normal 2^-14. Stored in
/// 16 bits, computed in float: each operation converts, computes in float and rounds once. A double
/// or a wide integer is rounded to float first, as in LibTorch.
struct Half {
  uint16_t x;

  Half() = default;
  EBB_INLINE constexpr Half(float value)  // NOLINT: implicit, as in LibTorch
      : x(detail::float_to_half_bits(value)) {}
  EBB_INLINE constexpr Half(uint16_t bits, detail::FromBits) : x(bits) {}
  EBB_INLINE constexpr operator float() const {  // NOLINT
    return detail::half_bits_to_float(x);
  }
  /// The Half with this bit pattern.
  EBB_INLINE static constexpr Half from_bits(uint16_t bits) { return {bits, detail::FromBits()}; }
};

/// bfloat16: the upper 16 bits of a float, so its range with 8 significant bits. Computed as Half
/// is.
struct BFloat16 {
  uint16_t x;

  BFloat16() = default;
  EBB_INLINE constexpr BFloat16(float value)  // NOLINT: implicit, as in LibTorch
      : x(detail::float_to_bfloat16_bits(value)) {}
  EBB_INLINE constexpr BFloat16(uint16_t bits, detail::FromBits) : x(bits) {}
  EBB_INLINE constexpr operator float() const {  // NOLINT
    return detail::bfloat16_bits_to_float(x);
  }
  /// The BFloat16 with this bit pattern.
  EBB_INLINE static constexpr BFloat16 from_bits(uint16_t bits) {
    return {bits, detail::FromBits()};
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);
static_assert(std::is_trivially_copyable_v<Half> && std::is_trivially_copyable_v<BFloat16>);

/// Half or BFloat16: stored in 16 bits, computed in float.
template <typename T>
concept ReducedFloat = std::same_as<T, Half> || std::same_as<T, BFloat16>;

// Two of a type give that type. With a float or double the result is float or double, with an
// integer it is the reduced type. Comparisons go through float by the implicit conversion.

template <ReducedFloat T>
EBB_INLINE constexpr T operator-(T a) {
  return T::from_bits(a.x ^ 0x8000u);
}

template <ReducedFloat T>
EBB_INLINE constexpr T operator+(T a, T b) {
  return T(static_cast<float>(a) + static_cast<float>(b));
}
template <ReducedFloat T>
EBB_INLINE constexpr T operator-(T a, T b) {
  return T(static_cast<float>(a) - static_cast<float>(b));
}
template <ReducedFloat T>
EBB_INLINE constexpr T operator*(T a, T b) {
  return T(static_cast<float>(a) * static_cast<float>(b));
}
template <ReducedFloat T>
EBB_INLINE constexpr T operator/(T a, T b) {
  return T(static_cast<float>(a) / static_cast<float>(b));
}

template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator+(T a, I b) {
  return a + T(static_cast<float>(b));
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator-(T a, I b) {
  return a - T(static_cast<float>(b));
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator*(T a, I b) {
  return a * T(static_cast<float>(b));
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator/(T a, I b) {
  return a / T(static_cast<float>(b));
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator+(I a, T b) {
  return T(static_cast<float>(a)) + b;
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator-(I a, T b) {
  return T(static_cast<float>(a)) - b;
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator*(I a, T b) {
  return T(static_cast<float>(a)) * b;
}
template <ReducedFloat T, std::integral I>
EBB_INLINE constexpr T operator/(I a, T b) {
  return T(static_cast<float>(a)) / b;
}

template <ReducedFloat T>
EBB_INLINE constexpr T& operator+=(T& a, std::type_identity_t<T> b) {
  return a = a + b;
}
template <ReducedFloat T>
EBB_INLINE constexpr T& operator-=(T& a, std::type_identity_t<T> b) {
  return a = a - b;
}
template <ReducedFloat T>
EBB_INLINE constexpr T& operator*=(T& a, std::type_identity_t<T> b) {
  return a = a * b;
}
template <ReducedFloat T>
EBB_INLINE constexpr T& operator/=(T& a, std::type_identity_t<T> b) {
  return a = a / b;
}

/// Prints the value as a float.
template <ReducedFloat T>
std::ostream& operator<<(std::ostream& stream, T value) {
  return stream << static_cast<float>(value);
}

/// Converts n values. The arrays may not overlap.
EBB_INLINE void convert_half_to_float(const Half* __restrict from, float* __restrict to,
                                      int64_t n) {
  int64_t i = 0;
#if defined(__F16C__) && !defined(__CUDACC__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) to[i] = from[i];
}

/// Converts n values to the nearest Half, ties to even. The arrays may not overlap.
EBB_INLINE void convert_float_to_half(const float* __restrict from, Half* __restrict to,
                                      int64_t n) {
  int64_t i = 0;
#if defined(__F16C__) && !defined(__CUDACC__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = from[i];
}

/// Converts n values. The arrays may not overlap.
EBB_INLINE void convert_bfloat16_to_float(const BFloat16* __restrict from, float* __restrict to,
                                          int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

/// Converts n values to the nearest BFloat16, ties to even. The arrays may not overlap.
EBB_INLINE void convert_float_to_bfloat16(const float* __restrict from, BFloat16* __restrict to,
                                          int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

}  // namespace ebb

namespace ebb::detail {

/// What std::numeric_limits says of both 16-bit types. DIGITS counts the hidden bit; EXPONENT is
/// max_exponent; DIGITS10, DIGITS_MAX are digits10 and max_digits10.
template <typename T, int DIGITS, int EXPONENT, int DIGITS10, int DIGITS_MAX>
struct ReducedFloatLimits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = std::numeric_limits<float>::tinyness_before;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
  static constexpr int digits = DIGITS;
  static constexpr int digits10 = DIGITS10;
  static constexpr int max_digits10 = DIGITS_MAX;
  static constexpr int max_exponent = EXPONENT;
  static constexpr int min_exponent = 3 - EXPONENT;
  // floor and ceil of the exponents times log10(2) = 0.30103.
  static constexpr int max_exponent10 = EXPONENT * 30103 / 100000;
  static constexpr int min_exponent10 = (2 - EXPONENT) * 30103 / 100000;

  // The fields of the bit pattern, exponent above DIGITS - 1 bits of fraction.
  static constexpr uint16_t kFraction = (1u << (DIGITS - 1)) - 1;
  static constexpr uint16_t kInfinity = 0x7fffu & ~kFraction;

  EBB_INLINE static constexpr T min() { return T::from_bits(kFraction + 1); }
  EBB_INLINE static constexpr T max() { return T::from_bits(kInfinity - 1); }
  EBB_INLINE static constexpr T lowest() { return T::from_bits(0x8000u | (kInfinity - 1)); }
  EBB_INLINE static constexpr T denorm_min() { return T::from_bits(1); }
  EBB_INLINE static constexpr T infinity() { return T::from_bits(kInfinity); }
  EBB_INLINE static constexpr T round_error() { return T(0.5f); }
  EBB_INLINE static constexpr T epsilon() { return T(2.0f / static_cast<float>(1u << DIGITS)); }
  EBB_INLINE static constexpr T quiet_NaN() {
    return T::from_bits(kInfinity | (kFraction + 1) >> 1);
  }
  EBB_INLINE static constexpr T signaling_NaN() {
    return T::from_bits(kInfinity | (kFraction + 1) >> 2);
  }
};

}  // namespace ebb::detail

template <>
class std::numeric_limits<ebb::Half>
    : public ebb::detail::ReducedFloatLimits<ebb::Half, 11, 16, 3, 5> {};

template <>
class std::numeric_limits<ebb::BFloat16>
    : public ebb::detail::ReducedFloatLimits<ebb::BFloat16, 8, 128, 2, 4> {};
