#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <ebb/core/ops/functors/functor.h>

// Elementary functions in float without branches or calls, so that loops over them are vectorised:
// reduction of the argument by Cody and Waite's two-part constants ("Software Manual for the
// Elementary Functions", 1980), then a minimax polynomial. exp, log and tanh have the polynomials
// of S. L. Moshier's Cephes library (single precision); those of erf are Chebyshev fits made for
// ebb. Errors are at most 2.2 ulp over all floats (tests/ops/unary_accuracy.cpp). Infinities, NaN
// and denormal numbers are right. In double these are the standard library's.

namespace ebb::functors::math {

namespace detail {

EBB_INLINE constexpr uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
EBB_INLINE constexpr float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// c[0] + c[1] x + ... in Horner's order. Not a loop: -O2 would not unroll it, and the loop over
/// the elements around it would not be vectorised.
template <int I = 0, int N>
EBB_INLINE constexpr float polynomial(float x, const float (&c)[N]) {
  if constexpr (I == N - 1) {
    return c[I];
  } else {
    return polynomial<I + 1>(x, c) * x + c[I];
  }
}

// ln 2 as the sum of a short number, whose products with small integers are exact, and the rest.
inline constexpr float kLn2High = 0.693359375f;
inline constexpr float kLn2Low = -2.12194440e-4f;

}  // namespace detail

EBB_INLINE float exp(float x) {
  constexpr float kHighest = 89.0f;    // beyond exp is infinite
  constexpr float kLowest = -104.0f;   // below it is 0
  constexpr float kShift = 0x1.8p23f;  // adding it rounds to an integer, in the low bits
  constexpr float kCoefficients[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                                     8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};
  x = x > kHighest ? kHighest : x;
  x = x < kLowest ? kLowest : x;
  const float shifted = x * 1.44269504088896341f + kShift;
  const float n = shifted - kShift;
  const auto exponent = static_cast<int32_t>(detail::bits_of(shifted) - detail::bits_of(kShift));
  const float r = (x - n * detail::kLn2High) - n * detail::kLn2Low;
  const float y = detail::polynomial(r, kCoefficients) * (r * r) + r + 1.0f;
  // In two steps, since 2^n may be out of range where the product is not. A NaN, whose exponent is
  // any number, stays one.
  const int32_t half = exponent >> 1;
  return y * detail::from_bits(static_cast<uint32_t>(half + 127) << 23) *
         detail::from_bits((static_cast<uint32_t>(exponent) - static_cast<uint32_t>(half) + 127u)
                           << 23);
}

EBB_INLINE float log(float x) {
  constexpr float kCoefficients[] = {3.3333331174e-1f,  -2.4999993993e-1f, 2.0000714765e-1f,
                                     -1.6668057665e-1f, 1.4249322787e-1f,  -1.2420140846e-1f,
                                     1.1676998740e-1f,  -1.1514610310e-1f, 7.0376836292e-2f};
  constexpr float kSmallestNormal = std::numeric_limits<float>::min();
  constexpr uint32_t kSqrtHalf = 0x3f3504f3;  // the bits of sqrt(1/2)
  const bool is_denormal = x < kSmallestNormal;
  const uint32_t bits = detail::bits_of(is_denormal ? x * 0x1p23f : x);
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)).
  const uint32_t above = bits - kSqrtHalf;
  const auto exponent = static_cast<int32_t>(above) >> 23;
  const float m = detail::from_bits((above & 0x007fffffu) + kSqrtHalf) - 1.0f;
  const float e = static_cast<float>(exponent) - (is_denormal ? 23.0f : 0.0f);
  const float squared = m * m;
  float y = detail::polynomial(m, kCoefficients) * m * squared;
  y += e * detail::kLn2Low;
  y -= 0.5f * squared;
  const float result = m + y + e * detail::kLn2High;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special = x == 0.0f ? -kInfinity : x == kInfinity ? x : x - x;  // -inf, inf, or NaN
  const float of_positive = x < kInfinity ? result : special;
  const float of_others = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : special;
  return x > 0.0f ? of_positive : of_others;
}

/// With the sign of x: |x| + |x|^3 P(x^2) near 0, else 1 - 2 / (e^2|x| + 1).
EBB_INLINE float tanh(float x) {
  constexpr float kCoefficients[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f,
                                     2.06390887954e-2f, -5.70498872745e-3f};
  const float magnitude = std::fabs(x);
  const float squared = x * x;
  const float near = magnitude + magnitude * (squared * detail::polynomial(squared, kCoefficients));
  const float far = 1.0f - 2.0f / (exp(2.0f * magnitude) + 1.0f);
  return std::copysign(magnitude < 0.625f ? near : far, x);
}

/// x (1 + P(x^2)) near 0, else 1 - e^-Q(|x|) with the sign of x.
EBB_INLINE float erf(float x) {
  constexpr float kNear[] = {0.128379166f,   -0.376126349f,   0.112836994f,   -0.0268595926f,
                             0.00520146685f, -0.00081472023f, 8.38759079e-05f};
  constexpr float kFar[] = {-0.000320581632f, 1.13023806f,     0.631813884f,
                            0.110094942f,     -0.0264312122f,  0.00476362323f,
                            -0.000597749837f, 4.61782765e-05f, -1.64357095e-06f};
  const float magnitude = std::fabs(x);
  const float near = x + x * detail::polynomial(x * x, kNear);
  const float bounded = magnitude > 4.0f ? 4.0f : magnitude;  // erf(4) rounds to 1
  const float far = 1.0f - exp(-detail::polynomial(bounded, kFar));
  return magnitude < 0.921875f ? near : magnitude == magnitude ? std::copysign(far, x) : x;
}

/// 1 / (1 + e^-x), by e^x where x is negative, which does not overflow.
EBB_INLINE float sigmoid(float x) {
  const float e = exp(-std::fabs(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

EBB_INLINE double exp(double x) { return std::exp(x); }
EBB_INLINE double log(double x) { return std::log(x); }
EBB_INLINE double tanh(double x) { return std::tanh(x); }
EBB_INLINE double erf(double x) { return std::erf(x); }
EBB_INLINE double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

}  // namespace ebb::functors::math
