#include "emulator/helpers.h"

// Each kernel has a fault if it is told so, and none otherwise.

namespace ebb::cuda {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int kSeeds = 100;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

__global__ void divergent_barriers(bool faulty) {
  if (faulty && threadIdx.x % 2 == 1) {
    __syncthreads();  // the second barrier
  } else {
    __syncthreads();  // the first barrier
  }
}
__global__ void same_barrier(bool faulty) {
  if (faulty) return divergent_barriers(true);
  __syncthreads();
}

__global__ void early_exit(bool faulty) {
  if (faulty && threadIdx.x == 5) return;
  __syncthreads();
}

__global__ void shuffle_against_barrier(bool faulty) {
  if (faulty && threadIdx.x == 3) {
    __syncthreads();
    shuffle(1, 0);
  } else {
    shuffle(1, 0);
    __syncthreads();
  }
}
__global__ void shuffle_then_barrier(bool faulty) {
  if (faulty) return shuffle_against_barrier(true);
  shuffle(1, 0);
  __syncthreads();
}

__global__ void absent_lane(bool faulty) {
  shuffle_xor(1, 1, faulty ? kFullMask : 0xffffu);  // launched with 16 threads
}

__global__ void exited_lane(bool faulty) {
  if (threadIdx.x == 7) return;
  shuffle(1, 0, faulty ? kFullMask : kFullMask & ~(1u << 7));
}

__global__ void caller_outside_mask(bool faulty) {
  if (threadIdx.x < 16 || faulty) shuffle(1, 0, 0xffffu);
}

__global__ void source_outside_mask(bool faulty) {
  if (threadIdx.x < 16) shuffle(1, faulty ? 20 : 2, 0xffffu);
}

__global__ void different_exchanges(bool faulty) {
  if (faulty && threadIdx.x < 16) {
    shuffle(1, 0);
  } else if (faulty) {
    shuffle(2, 0);
  } else {
    shuffle(3, 0);
  }
}

__global__ void wrong_shape(bool faulty) {
  block_reduce(1, Sum(), 0);
  static_cast<void>(faulty);  // launched with 48 threads if it is
}

#if !defined(EBB_ASAN)  // which would end the process: see crashes.cpp
__global__ void shared_out_of_bounds(bool faulty) {
  EBB_SHARED(values, int[32]);
  volatile int* p = values;
  p[threadIdx.x + (faulty ? 1 : 0)] = 1;
}
#endif

__global__ void too_much_shared(bool faulty) {
  EBB_SHARED(values, char[30000]);
  values[threadIdx.x] = 1;
  if (!faulty) return;
  EBB_SHARED(more, char[30000]);
  more[threadIdx.x] = 1;
}

struct Planted {
  const char* name;
  void (*kernel)(bool);
  int threads;
  int threads_if_right;
  const char* report;
  bool names_thread = true;
};

const Planted kPlanted[] = {
    {"same_barrier", same_barrier, 64, 64, "divergent barriers: thread ("},
    {"early_exit", early_exit, 64, 64, "exit while others wait: thread (5, 0, 0) of block"},
    {"shuffle_then_barrier", shuffle_then_barrier, 32, 32, "deadlock: no thread of block"},
    {"absent_lane", absent_lane, 16, 16, "the mask names lanes that the block does not have"},
    {"exited_lane", exited_lane, 32, 32, ""},
    {"caller_outside_mask", caller_outside_mask, 32, 32, "the calling lane is not in the mask"},
    {"source_outside_mask", source_outside_mask, 32, 32, "reads lane 20, the mask is 0x0000ffff"},
    {"different_exchanges", different_exchanges, 32, 32, "lanes of a warp meet in different"},
    {"wrong_shape", wrong_shape, 48, 64, "not one-dimensional and of whole warps"},
    {"too_much_shared", too_much_shared, 32, 32, "too much shared memory: 60000 bytes"},
};

}  // namespace

TEST_CASE("A fault of a block is reported with kernel, place, thread, seed and test") {
  const Emulated emulated;
  emulator::begin_test("my test");
  for (const Planted& planted : kPlanted) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      emulator::set_seed(seed);
      launch(planted.kernel, 3, planted.threads, 0, nullptr, true);
      const std::string report = run_and_report();
      INFO(planted.name << ": " << report);
      CHECK_THAT(report, ContainsSubstring(planted.report));
      CHECK_THAT(report, ContainsSubstring("in kernel ebb::cuda::(anonymous namespace)::" +
                                           std::string(planted.name) + "(bool)<<<(3, 1, 1), ("));
      CHECK_THAT(report, ContainsSubstring("block_faults.cpp:"));
      CHECK_THAT(report, ContainsSubstring("thread ("));
      CHECK_THAT(report,
                 ContainsSubstring("reproduce: EBB_CUDA_EMULATOR_SEED=" + std::to_string(seed)) &&
                     ContainsSubstring("\"my test\"\n"));
    }
  }
}

TEST_CASE("The same kernels without the fault are clean under 100 seeds") {
  const Emulated emulated;
  int clean = 0;
  for (const Planted& planted : kPlanted) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      emulator::set_seed(seed);
      launch(planted.kernel, 3, planted.threads_if_right, 0, nullptr, false);
      clean += run_and_report().empty() ? 1 : 0;
    }
  }
  CHECK(clean == static_cast<int>(std::size(kPlanted)) * kSeeds);
}

TEST_CASE("A report names the lines of both divergent barriers") {
  const Emulated emulated;
  launch(divergent_barriers, 1, 32, 0, nullptr, true);
  const int line = __LINE__ - 1;
  const std::string report = run_and_report();
  CHECK_THAT(report,
             ContainsSubstring("block_faults.cpp:21") && ContainsSubstring("block_faults.cpp:23"));
  CHECK_THAT(report, ContainsSubstring("launched at") &&
                         ContainsSubstring("block_faults.cpp:" + std::to_string(line)));
}

TEST_CASE("A thread may return early where that is allowed, as on GPUs since Volta") {
  const Emulated emulated;
  emulator::set_early_exit(true);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    emulator::set_seed(seed);
    launch(early_exit, 2, 64, 0, nullptr, true);
    CHECK(run_and_report() == "");
  }
}

#if !defined(EBB_ASAN)
TEST_CASE("A write behind a shared variable is reported with its name") {
  const Emulated emulated;
  launch(shared_out_of_bounds, 1, 32, 0, nullptr, true);
  CHECK_THAT(run_and_report(), ContainsSubstring("wrote 0 bytes past the end of values at") &&
                                   ContainsSubstring("of 128 bytes") &&
                                   ContainsSubstring("shared_out_of_bounds"));
  launch(shared_out_of_bounds, 1, 32, 0, nullptr, false);
  CHECK(run_and_report() == "");
}
#endif

TEST_CASE("A fault stays: every later call fails with it until the emulator recovers") {
  const Emulated emulated;
  launch(early_exit, 1, 64, 0, nullptr, true);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  void* data = nullptr;
  CHECK(cudaMalloc(&data, 16) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(emulator::take_reports().size() == 1);
  CHECK(emulator::recover().empty());
  CHECK(cudaMalloc(&data, 16) == cudaSuccess);
  CHECK(cudaFree(data) == cudaSuccess);
}

TEST_CASE("After a fault the next launches run as if nothing had been") {
  const Emulated emulated;
  for (int i = 0; i < 20; ++i) {
    for (const Planted& planted : kPlanted) {
      launch(planted.kernel, 2, planted.threads, 0, nullptr, true);
      CHECK(run_and_report() != "");
      launch(planted.kernel, 2, planted.threads_if_right, 0, nullptr, false);
      CHECK(run_and_report() == "");
    }
  }
}

}  // namespace ebb::cuda
