#pragma once

#include <cstdint>

namespace ebb::cuda::emulator {

/// A small generator for orders (xorshift64* by Vigna, "An experimental exploration of Marsaglia's
/// xorshift generators, scrambled", 2016).
class Random {
 public:
  explicit Random(uint64_t seed) : state_((seed + 1) * 0x9e3779b97f4a7c15u | 1) { next(); }

  uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>(state_ * 0x2545f4914f6cdd1du >> 32);
  }
  /// A number below n, which is at least 1.
  uint32_t below(uint32_t n) {
    return static_cast<uint32_t>(static_cast<uint64_t>(next()) * n >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace ebb::cuda::emulator
