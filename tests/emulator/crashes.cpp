#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>

#include "emulator/helpers.h"

// Faults that end the process. Each is a hidden test, which a child process runs, and whose output
// is looked at here.

namespace ebb::cuda {
namespace {

using Catch::Matchers::ContainsSubstring;

__global__ void write_behind(char* data, int64_t offset) { data[offset + threadIdx.x] = 1; }

/// Fills the stack; `depth` is not known to the compiler.
int recurse(volatile char* above, int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(above == nullptr ? 0 : above[0] + 1);
  const int below = depth == 0 ? 0 : recurse(frame, depth - 1);
  return below + frame[0];
}
__global__ void deep_recursion(int* out, int depth) { out[threadIdx.x] = recurse(nullptr, depth); }

struct Outcome {
  std::string output;
  bool failed;
};

Outcome run_hidden(const std::string& test) {
  const std::string command = "EBB_CUDA_EMULATOR_SEED=3 /proc/self/exe '" + test + "' 2>&1";
  // The shell would be /proc/self: the path is resolved here.
  char path[4096] = {};
  REQUIRE(realpath("/proc/self/exe", path) != nullptr);
  std::string resolved = command;
  resolved.replace(resolved.find("/proc/self/exe"), 14, path);
  std::FILE* pipe = popen(resolved.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) outcome.output += buffer;
  const int status = pclose(pipe);
  outcome.failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return outcome;
}

}  // namespace

TEST_CASE("hidden: far out of bounds", "[.]") {
  emulator::enable({});
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 1 << 20) == cudaSuccess);
  launch(write_behind, 1, 32, 0, nullptr, data, 1 << 20);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: use after free", "[.]") {
  emulator::enable({});
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 1 << 20) == cudaSuccess);
  REQUIRE(cudaFree(data) == cudaSuccess);
  launch(write_behind, 1, 32, 0, nullptr, data, 100);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: stack overflow", "[.]") {
  emulator::enable({});
  const Buffer<int> out(32);
  launch(deep_recursion, 1, 32, 0, nullptr, out.data(), 1000);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: the host touches freed device memory", "[.]") {
  emulator::enable({});
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 4096) == cudaSuccess);
  launch(write_behind, 1, 32, 0, nullptr, data, 0);
  REQUIRE(cudaFree(data) == cudaSuccess);
  *static_cast<volatile char*>(data) = 1;
}
TEST_CASE("hidden: the host touches device memory", "[.]") {
  emulator::enable({.protect = true});
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 4096) == cudaSuccess);
  launch(write_behind, 1, 32, 0, nullptr, data, 0);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  *static_cast<volatile char*>(data + 7) = 1;
}
TEST_CASE("hidden: no fault", "[.]") {
  emulator::enable({.protect = true});
  const Buffer<int> out(32);
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 1 << 20) == cudaSuccess);
  launch(write_behind, 1, 32, 0, nullptr, data, (1 << 20) - 32);
  launch(deep_recursion, 1, 32, 0, nullptr, out.data(), 3);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaFree(data) == cudaSuccess);
}

TEST_CASE("An access outside device memory ends the process with kernel, thread and allocation") {
  const Outcome outcome = run_hidden("hidden: far out of bounds");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output, ContainsSubstring("illegal address") &&
                                 ContainsSubstring("bytes past the end of 1048576 bytes") &&
                                 ContainsSubstring("running thread (") &&
                                 ContainsSubstring("write_behind(char*, long)<<<") &&
                                 ContainsSubstring("reproduce: EBB_CUDA_EMULATOR_SEED=3 "));
}

TEST_CASE("A use after cudaFree ends the process with kernel, thread and allocation") {
  const Outcome outcome = run_hidden("hidden: use after free");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output, ContainsSubstring("of freed memory of device 0") &&
                                 ContainsSubstring("bytes into 1048576 bytes") &&
                                 ContainsSubstring("write_behind") &&
                                 ContainsSubstring("running thread ("));
}

TEST_CASE("A kernel that fills its stack ends the process with its name") {
  const Outcome outcome = run_hidden("hidden: stack overflow");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output, ContainsSubstring("KiB for the local variables of a kernel") &&
                                 ContainsSubstring("deep_recursion"));
}

TEST_CASE("A host that touches freed device memory is told so") {
  const Outcome outcome = run_hidden("hidden: the host touches freed device memory");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output,
             ContainsSubstring("the host touched device memory: 0 bytes into 4096"));
}

TEST_CASE("A host that touches device memory is told so, if it wants to know") {
  const Outcome outcome = run_hidden("hidden: the host touches device memory");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output, ContainsSubstring("the host touched device memory: 7 bytes into 4096 "
                                               "bytes of live memory of device 0"));
}

TEST_CASE("The same programs without a fault end well") {
  const Outcome outcome = run_hidden("hidden: no fault");
  INFO(outcome.output);
  CHECK_FALSE(outcome.failed);
}

#if defined(EBB_ASAN)
namespace {

struct alignas(16) Pack {
  float values[4];
};
__global__ void read_pack(const float* data, Pack* out, int64_t offset) {
  out[0] = *reinterpret_cast<const Pack*>(data + offset);
}
__global__ void read_one_more(const char* data, char* out, int64_t offset) {
  out[0] = data[offset];
}
__global__ void write_static_shared(int index) {
  EBB_SHARED(values, int[32]);
  volatile int* data = values;  // out of sight of the check of array bounds
  data[index] = 1;
}
__global__ void write_dynamic_shared(int index) { dynamic_shared<int>()[index] = 1; }
/// Not inlined, so that no other sanitizer sees the size.
[[gnu::noinline]] void store(volatile int* data, int index) { data[index] = 1; }
__global__ void write_local(int index, int* out) {
  volatile int values[8] = {};
  store(values, index);
  __syncthreads();
  out[threadIdx.x] = values[0];
}

}  // namespace

TEST_CASE("hidden: one byte behind an allocation", "[.]") {
  emulator::enable({});
  const Buffer<char> data(1001), out(1);
  launch(read_one_more, 1, 1, 0, nullptr, data.data(), out.data(), 1001);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: static shared memory", "[.]") {
  emulator::enable({});
  launch(write_static_shared, 1, 1, 0, nullptr, 32);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: dynamic shared memory", "[.]") {
  emulator::enable({});
  launch(write_dynamic_shared, 1, 1, 128, nullptr, 32);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: local memory", "[.]") {
  emulator::enable({});
  const Buffer<int> out(64);
  launch(write_local, 1, 64, 0, nullptr, 8, out.data());
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: a pack of 16 bytes that is not aligned", "[.]") {
  emulator::enable({});
  const Buffer<float> data(8);
  const Buffer<Pack> out(1);
  launch(read_pack, 1, 1, 0, nullptr, data.data(), out.data(), 1);
  static_cast<void>(cudaDeviceSynchronize());
}
TEST_CASE("hidden: all within bounds", "[.]") {
  emulator::enable({});
  const Buffer<float> floats(8);
  const Buffer<Pack> pack(1);
  launch(read_pack, 1, 1, 0, nullptr, floats.data(), pack.data(), 4);
  const Buffer<char> data(1001), out(1);
  const Buffer<int> ints(64);
  launch(read_one_more, 1, 1, 0, nullptr, data.data(), out.data(), 1000);
  launch(write_static_shared, 1, 1, 0, nullptr, 31);
  launch(write_dynamic_shared, 1, 1, 128, nullptr, 31);
  launch(write_local, 1, 64, 0, nullptr, 7, ints.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("A misaligned access is reported with its line, the kernel and the thread") {
  const Outcome outcome = run_hidden("hidden: a pack of 16 bytes that is not aligned");
  INFO(outcome.output);
  CHECK(outcome.failed);
  CHECK_THAT(outcome.output,
             ContainsSubstring("crashes.cpp:") && ContainsSubstring("misaligned address") &&
                 ContainsSubstring("which requires 16 byte alignment") &&
                 ContainsSubstring("in kernel ebb::cuda::(anonymous namespace)::read_pack") &&
                 ContainsSubstring("running thread (") &&
                 ContainsSubstring("reproduce: EBB_CUDA_EMULATOR_SEED=3 "));
}

TEST_CASE("AddressSanitizer's reports name the line, the kernel and the thread") {
  const char* const tests[][2] = {{"hidden: one byte behind an allocation", "read_one_more"},
                                  {"hidden: static shared memory", "write_static_shared"},
                                  {"hidden: dynamic shared memory", "write_dynamic_shared"},
                                  {"hidden: local memory", "write_local"}};
  for (const auto& [test, kernel] : tests) {
    const Outcome outcome = run_hidden(test);
    INFO(outcome.output);
    CHECK(outcome.failed);
    CHECK_THAT(outcome.output,
               ContainsSubstring("ERROR: AddressSanitizer") && ContainsSubstring("crashes.cpp:") &&
                   ContainsSubstring("in kernel ebb::cuda::(anonymous namespace)::" +
                                     std::string(kernel)) &&
                   ContainsSubstring("running thread (") &&
                   ContainsSubstring("reproduce: EBB_CUDA_EMULATOR_SEED=3 "));
  }
  const Outcome outcome = run_hidden("hidden: all within bounds");
  INFO(outcome.output);
  CHECK_FALSE(outcome.failed);
}
#endif

}  // namespace ebb::cuda
