#include <algorithm>
#include <set>

#include "emulator/helpers.h"

namespace ebb::cuda {
namespace {

constexpr int kThreads = 96;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

/// Twelve bytes: three words are exchanged.
struct Triple {
  float a, b, c;
  friend bool operator==(const Triple& x, const Triple& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

__global__ void shuffles(const int* in, int* out) {
  const int value = in[threadIdx.x];
  int* mine = out + threadIdx.x * 6;
  mine[0] = shuffle(value, 7);
  mine[1] = shuffle_xor(value, 5);
  mine[2] = shuffle_up(value, 3);
  mine[3] = shuffle_down(value, 3);
  mine[4] = static_cast<int>(ballot(value % 3 == 0));
  mine[5] = static_cast<int>(shuffle(static_cast<double>(value), 2) + 0.5);
}

__global__ void halves(int* out) {
  const bool low = threadIdx.x < 16;
  const uint32_t mask = low ? 0xffffu : 0xffff0000u;
  const int lane = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = low ? shuffle(lane, 3, mask) : shuffle(lane, 19, mask);
}

__global__ void triples(Triple* out) {
  const float lane = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = shuffle_xor(Triple{lane, lane + 0.25f, lane + 0.5f}, 1);
}

__global__ void reductions(const float* in, float* warp, float* block, float* block_by_hand) {
  const float value = in[threadIdx.x];
  warp[threadIdx.x] = warp_reduce(value, Sum());
  block[threadIdx.x] = block_reduce(value, Sum(), 0.0f);
  // As the native primitive does it.
  EBB_SHARED(partials, float[kWarpSize]);
  float sum = value;
  for (int distance = 16; distance > 0; distance /= 2) sum += shuffle_xor(sum, distance);
  if (lane_id() == 0) partials[warp_id()] = sum;
  __syncthreads();
  float of_warps = lane_id() < blockDim.x / kWarpSize ? partials[lane_id()] : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2) of_warps += shuffle_xor(of_warps, distance);
  block_by_hand[threadIdx.x] = of_warps;
}

__global__ void scans(const int* in, int* warp, int* block, int* totals) {
  warp[threadIdx.x] = warp_inclusive_scan(in[threadIdx.x], Sum());
  block[threadIdx.x] = block_exclusive_scan(in[threadIdx.x], Sum(), 0, totals + threadIdx.x);
}

__global__ void places(int* order, int* counter, uint3* seen) {
  const int place = atomicAdd(counter, 1);
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const uint32_t thread = block * blockDim.x * blockDim.y * blockDim.z + linear_thread();
  order[place] = static_cast<int>(thread);
  seen[thread] = threadIdx;
}

std::vector<float> some_floats() {
  std::vector<float> values;
  for (int i = 0; i < kThreads; ++i) values.push_back(1.0f / static_cast<float>(i + 1));
  return values;
}

}  // namespace

TEST_CASE("Lanes exchange values as the shuffles of CUDA do") {
  const Emulated emulated;
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = 100 + i * i;
  const Buffer<int> input(in);
  const Buffer<int> output(64 * 6);
  launch(shuffles, 1, 64, 0, nullptr, input.data(), output.data());
  const std::vector<int> out = output.read();
  for (int i = 0; i < 64; ++i) {
    const int warp = i / 32 * 32;
    const int lane = i % 32;
    uint32_t votes = 0;
    for (int k = 0; k < 32; ++k) votes |= (in[warp + k] % 3 == 0 ? 1u : 0u) << k;
    CHECK(out[i * 6 + 0] == in[warp + 7]);
    CHECK(out[i * 6 + 1] == in[warp + (lane ^ 5)]);
    CHECK(out[i * 6 + 2] == in[lane < 3 ? i : i - 3]);
    CHECK(out[i * 6 + 3] == in[lane > 28 ? i : i + 3]);
    CHECK(out[i * 6 + 4] == static_cast<int>(votes));
    CHECK(out[i * 6 + 5] == in[warp + 2]);
  }
}

TEST_CASE("Two halves of a warp exchange values apart") {
  const Emulated emulated;
  const Buffer<int> output(32);
  launch(halves, 1, 32, 0, nullptr, output.data());
  const std::vector<int> out = output.read();
  for (int i = 0; i < 32; ++i) CHECK(out[i] == (i < 16 ? 3 : 19));
}

TEST_CASE("Lanes exchange structs of several words") {
  const Emulated emulated;
  const Buffer<Triple> output(32);
  launch(triples, 1, 32, 0, nullptr, output.data());
  const std::vector<Triple> out = output.read();
  for (int i = 0; i < 32; ++i) {
    const float other = static_cast<float>(i ^ 1);
    CHECK(out[i] == Triple{other, other + 0.25f, other + 0.5f});
  }
}

TEST_CASE("Reductions give all threads the same bits, those of a butterfly, under any seed") {
  const Emulated emulated;
  const Buffer<float> input(some_floats());
  std::set<float> results;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    emulator::set_seed(seed);
    const Buffer<float> warp(kThreads), block(kThreads), by_hand(kThreads);
    launch(reductions, 1, kThreads, 0, nullptr, input.data(), warp.data(), block.data(),
           by_hand.data());
    const std::vector<float> sums = block.read();
    CHECK(sums == by_hand.read());
    results.insert(sums.begin(), sums.end());
    const std::vector<float> of_warps = warp.read();
    CHECK(std::set<float>(of_warps.begin(), of_warps.end()).size() == 3);
  }
  REQUIRE(results.size() == 1);
  CHECK(*results.begin() == Approx(5.1468).epsilon(1e-4));  // the 96th harmonic number
}

TEST_CASE("Scans give each thread the sum of those before it, and the total") {
  const Emulated emulated;
  std::vector<int> in(kThreads);
  for (int i = 0; i < kThreads; ++i) in[i] = i % 7;
  const Buffer<int> input(in), warp(kThreads), block(kThreads), totals(kThreads);
  launch(scans, 1, kThreads, 0, nullptr, input.data(), warp.data(), block.data(), totals.data());
  const std::vector<int> warps = warp.read(), blocks = block.read(), sums = totals.read();
  int before = 0;
  int in_warp = 0;
  for (int i = 0; i < kThreads; ++i) {
    in_warp = (i % 32 == 0 ? 0 : in_warp) + in[i];
    CHECK(warps[i] == in_warp);
    CHECK(blocks[i] == before);
    before += in[i];
  }
  CHECK(std::count(sums.begin(), sums.end(), before) == kThreads);
}

TEST_CASE("Every thread of a grid runs once, in an order that the seed chooses") {
  const Emulated emulated;
  const dim3 grid(3, 2, 2), block(4, 5, 3);
  constexpr int kAll = 12 * 60;
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      emulator::set_seed(seed);
      const Buffer<int> order(kAll), counter(1);
      const Buffer<uint3> seen(kAll);
      launch(places, grid, block, 0, nullptr, order.data(), counter.data(), seen.data());
      std::vector<int> ran = order.read();
      orders.insert(ran);
      std::sort(ran.begin(), ran.end());
      for (int i = 0; i < kAll; ++i) REQUIRE(ran[i] == i);
      const std::vector<uint3> indices = seen.read();
      for (int i = 0; i < kAll; ++i) {
        const uint3 index = indices[i];
        REQUIRE(index.x + 4 * (index.y + 5 * index.z) == static_cast<unsigned>(i % 60));
      }
    }
  }
  CHECK(orders.size() == 5);  // each seed has its own, twice the same
}

}  // namespace ebb::cuda
