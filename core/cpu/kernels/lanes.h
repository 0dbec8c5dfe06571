#pragma once

#include <cstdint>
#include <limits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/ops/functors/reduce.h>

// Sums and maxima of adjacent elements, over several lanes so that the compiler may vectorise them;
// the order of the additions depends on n alone.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr int64_t kSumLanes = 32;

/// The sum of n elements; for blocks of a few thousand.
template <typename T>
double lanes_sum(const T* x, int64_t n) {
  T lanes[kSumLanes] = {};
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (int64_t k = 0; k < kSumLanes; ++k) lanes[k] += x[i + k];
  }
  for (int64_t k = 0; i + k < n; ++k) lanes[k] += x[i + k];
  double sum = 0;
  for (int64_t k = 0; k < kSumLanes; ++k) sum += static_cast<double>(lanes[k]);
  return sum;
}

/// The largest of n elements and `largest`; NaN wins.
template <typename T>
T lanes_max(T largest, const T* x, int64_t n) {
  T lanes[kSumLanes];
  for (int64_t k = 0; k < kSumLanes; ++k) lanes[k] = largest;
  int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (int64_t k = 0; k < kSumLanes; ++k) lanes[k] = functors::larger(lanes[k], x[i + k]);
  }
  for (int64_t k = 0; i + k < n; ++k) lanes[k] = functors::larger(lanes[k], x[i + k]);
  for (int64_t k = 0; k < kSumLanes; ++k) largest = functors::larger(largest, lanes[k]);
  return largest;
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
