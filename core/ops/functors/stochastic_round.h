#pragma once

#include <cstdint>

#include <ebb/core/export.h>

namespace ebb::functors {

/// One of the two bfloat16 numbers around x, as a float: the one further from zero with the
/// probability that makes the mean x, by adding 16 random bits below the last one that stays
/// (Gupta et al., "Deep learning with limited numerical precision", 2015). What is finite stays
/// finite; infinity and NaN are as they were.
struct StochasticRound {
  EBB_INLINE constexpr float operator()(uint32_t word, float x) const {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const uint32_t rounded = bits + (word >> 16);
    const bool overflows = (rounded & 0x7f800000u) == 0x7f800000u;
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    const float result = __builtin_bit_cast(float, (overflows ? bits : rounded) & 0xffff0000u);
    return finite ? result : x;
  }
};

}  // namespace ebb::functors
