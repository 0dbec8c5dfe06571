#pragma once

#include <cstdint>
#include <type_traits>

#include <ebb/core/export.h>
#include <ebb/core/half.h>

namespace ebb::cpu {

/// How a dtype lies in memory: a bool is read as a byte, since foreign memory may hold more than 0
/// and 1.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// The element x of dtype From as a number of dtype To. Floating point to integer goes towards zero
/// through int64; what does not fit in int64 gives its least number.
template <typename To, typename From>
EBB_INLINE Stored<To> convert(Stored<From> x) {
  if constexpr (std::is_same_v<To, From>) {
    return std::is_same_v<To, bool> ? static_cast<Stored<To>>(x != Stored<From>(0)) : x;
  } else if constexpr (std::is_same_v<From, bool>) {
    const int32_t value = x;
    return convert<To, int32_t>(value < 1 ? value : 1);  // the form that is vectorised
  } else if constexpr (ReducedFloat<From>) {
    return convert<To, float>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{0} ? 1 : 0;
  } else if constexpr (ReducedFloat<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From limit = From(9223372036854775808.0);  // 2^63
    return static_cast<To>(x >= -limit && x < limit ? static_cast<int64_t>(x) : INT64_MIN);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace ebb::cpu
