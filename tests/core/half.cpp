#include <ebb/core/half.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <type_traits>
#include <vector>

#include "catch.h"

using ebb::BFloat16;
using ebb::Half;

namespace {

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float float_from(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The value of a binary pattern of 16 bits with `fraction` bits of fraction, from the definition.
double value_of(uint16_t bits, int fraction, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction;
  const int mantissa = bits & ((1 << fraction) - 1);
  const double magnitude = exponent == 0
                               ? std::ldexp(mantissa, 1 - bias - fraction)
                               : std::ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_nan(uint16_t bits, int fraction) {
  return (bits & 0x7fff) > (0x7fff >> fraction << fraction);
}
bool is_infinite(uint16_t bits, int fraction) {
  return (bits & 0x7fff) == (0x7fff >> fraction << fraction);
}

/// Checks `convert` (float to bits) at every finite value, at the middle between each two
/// neighbours, and one float to either side of the middle.
template <typename Convert>
void check_rounding(int fraction, int bias, const Convert& convert) {
  int wrong = 0;
  const int largest = (0x7fff >> fraction << fraction) - 1;
  for (int pattern = 0; pattern <= largest; ++pattern) {
    const double low = value_of(static_cast<uint16_t>(pattern), fraction, bias);
    // Above the largest finite value stands, for rounding, what would follow it.
    const double high = value_of(static_cast<uint16_t>(pattern + 1), fraction, bias);
    const float middle = static_cast<float>((low + high) / 2);
    const int even = pattern + (pattern & 1);
    for (const int sign : {0, 0x8000}) {
      const float s = sign != 0 ? -1.0f : 1.0f;
      wrong += convert(s * static_cast<float>(low)) != (pattern | sign);
      wrong += convert(s * std::nextafter(middle, 0.0f)) != (pattern | sign);
      wrong += convert(s * middle) != (even | sign);
      wrong += convert(s * std::nextafter(middle, INFINITY)) != ((pattern + 1) | sign);
    }
  }
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("every Half has the value of its bit pattern, and comes back from it") {
  int wrong = 0;
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    const float value = Half::from_bits(bits);
    if (is_nan(bits, 10)) {
      wrong += !std::isnan(value) || Half(value).x != (bits | 0x0200);
    } else if (is_infinite(bits, 10)) {
      wrong += value != (bits & 0x8000 ? -INFINITY : INFINITY) || Half(value).x != bits;
    } else {
      wrong += value != value_of(bits, 10, 15) || Half(value).x != bits;
    }
    wrong += std::signbit(value) != ((bits & 0x8000) != 0);
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("every BFloat16 has the value of its bit pattern, and comes back from it") {
  int wrong = 0;
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    const float value = BFloat16::from_bits(bits);
    if (is_nan(bits, 7)) {
      wrong += !std::isnan(value) || BFloat16(value).x != (bits | 0x0040);
    } else if (is_infinite(bits, 7)) {
      wrong += value != (bits & 0x8000 ? -INFINITY : INFINITY) || BFloat16(value).x != bits;
    } else {
      wrong += value != static_cast<float>(value_of(bits, 7, 127)) || BFloat16(value).x != bits;
    }
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("a float rounds to the nearest Half, a tie to the even one") {
  check_rounding(10, 15, [](float value) { return Half(value).x; });
  check_rounding(10, 15,
                 [](float value) { return ebb::detail::float_to_half_bits_portable(value); });
}

TEST_CASE("a float rounds to the nearest BFloat16, a tie to the even one") {
  check_rounding(7, 127, [](float value) { return BFloat16(value).x; });
}

TEST_CASE("what lies beyond a 16-bit type's range becomes infinite, NaN stays NaN") {
  REQUIRE(Half(65519.996f).x == 0x7bff);
  REQUIRE(Half(65520.0f).x == 0x7c00);
  REQUIRE(Half(-1e30f).x == 0xfc00);
  REQUIRE(Half(0x1p-25f).x == 0);  // a tie between zero and the smallest subnormal
  REQUIRE(Half(std::nextafter(0x1p-25f, 1.0f)).x == 1);
  REQUIRE(Half(-0.0f).x == 0x8000);
  REQUIRE(BFloat16(std::numeric_limits<float>::max()).x == 0x7f80);
  REQUIRE(Half(float_from(0x7f800001)).x == 0x7e00);
  REQUIRE(Half(float_from(0xffc00000)).x == 0xfe00);
  REQUIRE(BFloat16(float_from(0x7f800001)).x == 0x7fc0);
  REQUIRE(BFloat16(float_from(0xffffffff)).x == 0xffff);
}

TEST_CASE("the instructions of the CPU and the portable conversion agree bit by bit") {
  int wrong = 0;
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    wrong += bits_of(ebb::detail::half_bits_to_float(bits)) !=
             bits_of(ebb::detail::half_bits_to_float_portable(bits));
  }
  REQUIRE(wrong == 0);
  // Every exponent and sign, with fractions spread over all 23 bits.
  for (uint64_t pattern = 0; pattern < (uint64_t{1} << 32); pattern += 4093) {
    const float value = float_from(static_cast<uint32_t>(pattern));
    wrong +=
        ebb::detail::float_to_half_bits(value) != ebb::detail::float_to_half_bits_portable(value);
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("bulk conversions give what single ones give, at any length") {
  std::mt19937 random(5);
  for (const int n : {0, 1, 7, 8, 9, 31, 1000}) {
    std::vector<float> floats(n);
    for (float& value : floats) value = float_from(random());
    std::vector<Half> halves(n);
    std::vector<BFloat16> bfloats(n);
    ebb::convert_float_to_half(floats.data(), halves.data(), n);
    ebb::convert_float_to_bfloat16(floats.data(), bfloats.data(), n);
    std::vector<float> from_half(n), from_bfloat(n);
    ebb::convert_half_to_float(halves.data(), from_half.data(), n);
    ebb::convert_bfloat16_to_float(bfloats.data(), from_bfloat.data(), n);
    for (int i = 0; i < n; ++i) {
      CAPTURE(n, i);
      REQUIRE(halves[i].x == Half(floats[i]).x);
      REQUIRE(bfloats[i].x == BFloat16(floats[i]).x);
      REQUIRE(bits_of(from_half[i]) == bits_of(halves[i]));
      REQUIRE(bits_of(from_bfloat[i]) == bits_of(bfloats[i]));
    }
  }
}

TEMPLATE_TEST_CASE("arithmetic of 16-bit types computes in float and rounds once", "", Half,
                   BFloat16) {
  using T = TestType;
  const T a = 1.5f, b = 2.25f;
  static_assert(std::is_same_v<decltype(a + b), T>);
  static_assert(std::is_same_v<decltype(a * 2), T>);
  static_assert(std::is_same_v<decltype(int64_t{2} * a), T>);
  static_assert(std::is_same_v<decltype(a * 2.0f), float>);
  static_assert(std::is_same_v<decltype(2.0 / a), double>);
  REQUIRE(a + b == 3.75f);
  REQUIRE(a - b == -0.75f);
  REQUIRE(a * b == 3.375f);
  REQUIRE(b / a == 1.5f);
  REQUIRE(-a == -1.5f);
  REQUIRE(3 - a == 1.5f);
  REQUIRE(a / 2 == 0.75f);
  T c = a;
  c += b;
  c *= 2;
  c -= 0.5f;
  c /= T(2.0f);
  REQUIRE(c == 3.5f);
  REQUIRE(T(1.0f) + std::numeric_limits<T>::epsilon() > 1.0f);
  REQUIRE(T(1.0f) + std::numeric_limits<T>::epsilon() / 2 == 1.0f);
}

TEMPLATE_TEST_CASE("16-bit types compare as their values do", "", Half, BFloat16) {
  using T = TestType;
  const T a = 1.0f, b = 2.0f, nan = std::numeric_limits<T>::quiet_NaN();
  REQUIRE((a < b && b > a && a <= a && a >= a && a == a && a != b));
  REQUIRE_FALSE((nan == nan || nan < a || nan > a));
  REQUIRE(nan != nan);
  REQUIRE(T(0.0f) == T(-0.0f));
  REQUIRE((a == 1 && a < 1.5 && 0.5f < a));
}

TEMPLATE_TEST_CASE("numeric_limits of 16-bit types agree with their arithmetic", "", Half,
                   BFloat16) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const float max = Limits::max();
  REQUIRE(std::isfinite(max));
  REQUIRE(std::isinf(static_cast<float>(T::from_bits(Limits::max().x + 1))));
  REQUIRE(Limits::lowest() == -Limits::max());
  REQUIRE(Limits::min() == std::ldexp(1.0f, Limits::min_exponent - 1));
  REQUIRE(Limits::max() == std::ldexp(2.0f - Limits::epsilon(), Limits::max_exponent - 1));
  REQUIRE(Limits::epsilon() == std::ldexp(1.0f, 1 - Limits::digits));
  REQUIRE(Limits::denorm_min() == std::ldexp(1.0f, Limits::min_exponent - Limits::digits));
  REQUIRE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  REQUIRE(std::isnan(static_cast<float>(Limits::signaling_NaN())));
  REQUIRE(std::isinf(static_cast<float>(Limits::infinity())));
  REQUIRE(Limits::max_exponent10 == static_cast<int>(std::floor(std::log10(max))));
  REQUIRE(Limits::min_exponent10 ==
          static_cast<int>(std::ceil(std::log10(static_cast<float>(Limits::min())))));
}

TEST_CASE("16-bit constants are made while compiling, and print as numbers") {
  constexpr Half half = 0.1f;
  static_assert(half.x == 0x2e66);
  constexpr BFloat16 product = BFloat16(3.0f) * BFloat16(0.5f);
  static_assert(product == 1.5f);
  static_assert(std::numeric_limits<Half>::max() == 65504.0f);
  std::ostringstream stream;
  stream << Half(1.5f) << ' ' << BFloat16(-2.0f);
  REQUIRE(stream.str() == "1.5 -2");
}
