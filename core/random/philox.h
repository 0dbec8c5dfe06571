#pragma once

#include <cstdint>

#include <ebb/core/export.h>

namespace ebb::random {

/// Four random words of 32 bits: what one counter gives.
struct Words4 {
  uint32_t lane[4];
  EBB_INLINE constexpr uint32_t operator[](uint64_t i) const { return lane[i]; }
  constexpr bool operator==(const Words4&) const = default;
};

/// Philox4x32 with ten rounds: a bijection of the 128-bit counter for each 64-bit key,
/// statistically indistinguishable from random words (Salmon, Moraes, Dror, Shaw, "Parallel Random
/// Numbers: As Easy as 1, 2, 3", SC 2011). No state: any counter's words can be had at any time, on
/// any thread or device. `counter_low` counts; `counter_high` tells streams apart.
EBB_INLINE constexpr Words4 philox(uint64_t key, uint64_t counter_low, uint64_t counter_high = 0) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  uint32_t c0 = static_cast<uint32_t>(counter_low);
  uint32_t c1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_high);
  uint32_t c3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(kMultiplier0) * c0;
    const uint64_t product1 = static_cast<uint64_t>(kMultiplier1) * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace ebb::random
