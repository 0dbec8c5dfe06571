#include <cmath>
#include <numeric>

#include "emulator/helpers.h"

// Faults that no check sees, but that change the result under some seeds, and do not change it
// under any where they are mended.

namespace ebb::cuda {
namespace {

constexpr int kSeeds = 100;
constexpr int kThreads = 128;

/// Reverses a block through shared memory.
__global__ void reverse(float* data, bool barrier) {
  EBB_SHARED(values, float[kThreads]);
  values[threadIdx.x] = data[threadIdx.x];
  if (barrier) __syncthreads();
  data[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

/// Two rounds through the same shared memory need a barrier between reading and writing again.
__global__ void turn_twice(float* data, bool barrier) {
  EBB_SHARED(values, float[kThreads]);
  for (int round = 0; round < 2; ++round) {
    values[threadIdx.x] = data[threadIdx.x] + static_cast<float>(round);
    __syncthreads();
    data[threadIdx.x] = values[(threadIdx.x + 1) % kThreads];
    if (barrier) __syncthreads();
  }
}

/// Each lane reads what its neighbour in the warp has written.
__global__ void swap_in_warp(float* data, bool barrier) {
  EBB_SHARED(values, float[kThreads]);
  values[threadIdx.x] = data[threadIdx.x];
  if (barrier) sync_warp();
  data[threadIdx.x] = values[threadIdx.x ^ 1];
}

/// Reads shared memory that nobody has written.
__global__ void sum_of_unwritten(float* data, bool written) {
  EBB_SHARED(total, float);
  if (written && threadIdx.x == 0) total = 0;
  __syncthreads();
  data[threadIdx.x] += total;
}

/// How many of the seeds change the result.
int wrong_results(void (*kernel)(float*, bool), bool right, const std::vector<float>& expected) {
  std::vector<float> values(kThreads);
  std::iota(values.begin(), values.end(), 0.0f);
  int wrong = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    emulator::set_seed(seed);
    const Buffer<float> data(values);
    launch(kernel, 1, kThreads, 0, nullptr, data.data(), right);
    if (data.read() != expected) ++wrong;
  }
  return wrong;
}

std::vector<float> expected(int (*source)(int), float added) {
  std::vector<float> values;
  for (int i = 0; i < kThreads; ++i) values.push_back(static_cast<float>(source(i)) + added);
  return values;
}

}  // namespace

TEST_CASE("A missing barrier between writing and reading shared memory changes every result") {
  const Emulated emulated;
  const auto reversed = expected([](int i) { return kThreads - 1 - i; }, 0);
  CHECK(wrong_results(reverse, false, reversed) == kSeeds);
  CHECK(wrong_results(reverse, true, reversed) == 0);
}

TEST_CASE("A missing barrier between reading and writing again changes nearly every result") {
  const Emulated emulated;
  const auto turned = expected([](int i) { return (i + 2) % kThreads; }, 1);
  CHECK(wrong_results(turn_twice, false, turned) > kSeeds * 9 / 10);
  CHECK(wrong_results(turn_twice, true, turned) == 0);
}

TEST_CASE("Lanes of a warp do not run in step") {
  const Emulated emulated;
  const auto swapped = expected([](int i) { return i ^ 1; }, 0);
  CHECK(wrong_results(swap_in_warp, false, swapped) == kSeeds);
  CHECK(wrong_results(swap_in_warp, true, swapped) == 0);
}

TEST_CASE("Shared memory that nobody wrote is NaN in every block") {
  const Emulated emulated;
  const auto unchanged = expected([](int i) { return i; }, 0);
  CHECK(wrong_results(sum_of_unwritten, false, unchanged) == kSeeds);
  CHECK(wrong_results(sum_of_unwritten, true, unchanged) == 0);
  const Buffer<float> data(kThreads, 1.0f);
  launch(sum_of_unwritten, 1, kThreads, 0, nullptr, data.data(), false);
  for (const float value : data.read()) CHECK(std::isnan(value));
}

}  // namespace ebb::cuda
