#pragma once

#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/ops/quantize.h>

// Codes of one byte: 256 numbers in [-1, 1], ascending; a number becomes the code of the nearest.
// Once for the host and for devices, which get the numbers as an argument of the kernel.

namespace ebb::functors {

struct CodeValues {
  float value[256];
};

/// (c - 128) / 127 for code c; the code 0 is -1, as 1 is.
constexpr CodeValues linear_code() {
  CodeValues code{};
  for (int c = 0; c < 256; ++c) {
    code.value[c] = static_cast<float>(c == 0 ? -1.0 : (c - 128) / 127.0);
  }
  return code;
}

/// The dynamic tree code of Dettmers et al. (2022): seven decades below 1, the i-th split into
/// first 2^i equal parts, `first` being 1 with signs and 2 without. A number is the middle of its
/// part; 0 and 1 are there too.
constexpr CodeValues dynamic_code(bool with_signs) {
  constexpr int kDecades = 7;
  CodeValues code{};
  int next = with_signs ? 127 : 0;
  code.value[next++] = 0;
  double scale = 1e-6;
  for (int decade = 0; decade < kDecades; ++decade, scale *= 10) {
    const int parts = (with_signs ? 1 : 2) << decade;
    for (int k = 0; k < parts; ++k) {
      const auto value = static_cast<float>(scale * (0.1 + 0.9 * (k + 0.5) / parts));
      if (with_signs) code.value[254 - next] = -value;
      code.value[next++] = value;
    }
  }
  code.value[next] = 1;
  return code;
}

inline constexpr CodeValues kLinearCode = linear_code();
inline constexpr CodeValues kDynamicSigned = dynamic_code(true);
inline constexpr CodeValues kDynamicUnsigned = dynamic_code(false);

/// The values of a code.
constexpr const CodeValues& values_of(ops::Code code) {
  return code == ops::Code::linear           ? kLinearCode
         : code == ops::Code::dynamic_signed ? kDynamicSigned
                                             : kDynamicUnsigned;
}

/// Half way from code c to the next one: larger numbers get a larger code.
EBB_INLINE float code_limit(const float* values, int c) {
  return c < 255 ? 0.5f * (values[c] + values[c + 1]) : 2.0f;
}

/// The code of the number nearest to x, of two the lower one: how many of the 255 limits are below
/// x. That of NaN is 0.
EBB_INLINE int nearest_code(const float* limits, float x) {
  int code = 0;
  for (int step = 128; step > 0; step /= 2) code += limits[code + step - 1] < x ? step : 0;
  return code;
}

/// The magnitude of x as an integer of the same order, with infinity and NaN at the top.
EBB_INLINE int32_t magnitude_bits(float x) {
  return static_cast<int32_t>(__builtin_bit_cast(uint32_t, x) & 0x7fffffffu);
}
/// The absmax of a block from the largest of these: NaN unless all elements are finite.
EBB_INLINE float absmax_of(int32_t bits) {
  return __builtin_bit_cast(float, bits < 0x7f800000 ? bits : 0x7fc00000);
}
/// What elements are divided by; a block of zeros stays zero.
EBB_INLINE float divisor_of(float absmax) { return absmax == 0.0f ? 1.0f : absmax; }

}  // namespace ebb::functors
