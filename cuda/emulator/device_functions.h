#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Functions that nvcc gives to device code, for the types that it gives them for. Threads of the
// emulator run one at a time, so that atomic operations are plain ones.

namespace ebb::cuda::emulator {
template <typename T, typename F>
T update(T* address, F change) {
  const T old = *address;
  *address = change(old);
  return old;
}
}  // namespace ebb::cuda::emulator

#define EBB_EMULATED_ATOMIC(T, name, result)                                         \
  inline T name(T* address, T value) {                                               \
    return ebb::cuda::emulator::update(address, [=](T old) -> T { return result; }); \
  }
#define EBB_EMULATED_ATOMICS(T)                                                               \
  EBB_EMULATED_ATOMIC(T, atomicAdd, old + value)                                              \
  EBB_EMULATED_ATOMIC(T, atomicAnd, old& value)                                               \
  EBB_EMULATED_ATOMIC(T, atomicOr, old | value)                                               \
  EBB_EMULATED_ATOMIC(T, atomicMax, old < value ? value : old)                                \
  EBB_EMULATED_ATOMIC(T, atomicMin, value < old ? value : old)                                \
  inline T atomicExch(T* address, T value) {                                                  \
    return ebb::cuda::emulator::update(address, [=](T) { return value; });                    \
  }                                                                                           \
  inline T atomicCAS(T* address, T expected, T value) {                                       \
    return ebb::cuda::emulator::update(address,                                               \
                                       [=](T old) { return old == expected ? value : old; }); \
  }
EBB_EMULATED_ATOMICS(int)
EBB_EMULATED_ATOMICS(unsigned)
EBB_EMULATED_ATOMICS(unsigned long)
EBB_EMULATED_ATOMICS(unsigned long long)
#undef EBB_EMULATED_ATOMICS
#undef EBB_EMULATED_ATOMIC

inline int atomicSub(int* address, int value) { return atomicAdd(address, -value); }
inline unsigned atomicSub(unsigned* address, unsigned value) {
  return atomicAdd(address, 0u - value);
}
inline float atomicAdd(float* address, float value) {
  return ebb::cuda::emulator::update(address, [=](float old) { return old + value; });
}
inline double atomicAdd(double* address, double value) {
  return ebb::cuda::emulator::update(address, [=](double old) { return old + value; });
}

inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline unsigned __brev(unsigned value) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (value >> i & 1u) << (31 - i);
  return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}

inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }

inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
inline double rsqrt(double value) { return 1.0 / std::sqrt(value); }

inline void __threadfence() {}
inline void __threadfence_block() {}
