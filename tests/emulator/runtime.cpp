#include <algorithm>
#include <thread>

#include <ebb/core/error.h>

#include "emulator/helpers.h"

namespace ebb::cuda {
namespace {

using namespace emulator::literals;
using Catch::Matchers::ContainsSubstring;

__global__ void count(int* counter) { atomicAdd(counter, 1); }
__global__ void use_dynamic(float* out) {
  float* shared = dynamic_shared<float>();
  shared[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

}  // namespace

TEST_CASE("A device has the memory that it was given, and no more") {
  const Emulated emulated;
  size_t free = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  const size_t used = total - free;
  emulator::set_memory(0, used + 1_MiB);
  void* first = nullptr;
  void* second = nullptr;
  CHECK(cudaMalloc(&first, 1_MiB - 512) == cudaSuccess);
  CHECK(cudaMalloc(&second, 513) == cudaErrorMemoryAllocation);
  CHECK(second == nullptr);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&second, 512) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == 0);
  CHECK(cudaFree(first) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess);
  CHECK(cudaFree(second) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  emulator::set_memory(0, total - 1_MiB - used + 16_GiB);
}

TEST_CASE("Memory that is not touched costs the host nothing: 70 GiB can be allocated") {
  const Emulated emulated;
  emulator::set_memory(1, 100_GiB);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  char* data = nullptr;
  REQUIRE(cudaMalloc(&data, 70_GiB) == cudaSuccess);
  CHECK(cudaMemset(data + 70_GiB - 4096, 1, 4096) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaFree(data) == cudaSuccess);
  emulator::set_memory(1, 16_GiB);
}

TEST_CASE("The runtime knows device, pinned, registered and other memory apart") {
  const Emulated emulated;
  cudaPointerAttributes attributes{};
  const auto type_of = [&](const void* data) {
    REQUIRE(cudaPointerGetAttributes(&attributes, data) == cudaSuccess);
    return attributes.type;
  };
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  char* device = nullptr;
  char* pinned = nullptr;
  REQUIRE(cudaMalloc(&device, 1000) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 1000) == cudaSuccess);
  std::vector<char> other(1000);
  CHECK(type_of(device + 999) == cudaMemoryTypeDevice);
  CHECK(attributes.device == 1);
  CHECK(type_of(pinned) == cudaMemoryTypeHost);
  CHECK(type_of(other.data()) == cudaMemoryTypeUnregistered);
  REQUIRE(cudaHostRegister(other.data(), 1000, cudaHostRegisterDefault) == cudaSuccess);
  CHECK(type_of(other.data() + 10) == cudaMemoryTypeHost);
  CHECK(cudaHostRegister(other.data(), 1000, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostUnregister(other.data()) == cudaSuccess);
  CHECK(cudaHostUnregister(other.data()) == cudaErrorHostMemoryNotRegistered);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("Copies beyond an allocation or against their direction are refused") {
  const Emulated emulated;
  char host[64] = {};
  char* device = nullptr;
  REQUIRE(cudaMalloc(&device, 32) == cudaSuccess);
  CHECK(cudaMemcpy(device, host, 33, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host, 32, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device + 16, 0, 17) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host, 32, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);  // of the last that failed, then forgotten
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("Rows are copied by their pitch") {
  const Emulated emulated;
  std::vector<int> host(12);
  for (int i = 0; i < 12; ++i) host[i] = i;
  const Buffer<int> device(6);
  REQUIRE(cudaMemcpy2D(device.data(), 8, host.data() + 1, 16, 8, 3, cudaMemcpyHostToDevice) ==
          cudaSuccess);
  CHECK(device.read() == std::vector<int>{1, 2, 5, 6, 9, 10});
}

TEST_CASE("A launch that CUDA would refuse is refused with the kernel and the place") {
  const Emulated emulated;
  const auto refusal = [](dim3 grid, dim3 block, size_t shared) {
    try {
      launch(use_dynamic, grid, block, shared, nullptr, static_cast<float*>(nullptr));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal(1, 1025, 0), ContainsSubstring("use_dynamic") &&
                                      ContainsSubstring("runtime.cpp:") &&
                                      ContainsSubstring("cudaErrorInvalidConfiguration"));
  CHECK_THAT(refusal(dim3(1, 65536), 1, 0), ContainsSubstring("cudaErrorInvalidConfiguration"));
  CHECK_THAT(refusal(0, 1, 0), ContainsSubstring("cudaErrorInvalidConfiguration"));
  CHECK_THAT(refusal(1, 32, 49153), ContainsSubstring("cudaErrorInvalidValue"));
  CHECK(cudaGetLastError() == cudaSuccess);  // the exception has told it
}

TEST_CASE("A kernel gets more shared memory if it asks for it") {
  const Emulated emulated;
  const Buffer<float> out(256);
  REQUIRE(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536) ==
          cudaSuccess);
  launch(use_dynamic, 1, 256, 65536, nullptr, out.data());
  CHECK(out.read() == std::vector<float>(256, 2.0f));
  CHECK(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
        cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  REQUIRE(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152) ==
          cudaSuccess);
}

TEST_CASE("Any call can be made to fail, without doing anything") {
  const Emulated emulated;
  char* data = nullptr;
  emulator::fail_call(2, cudaErrorMemoryAllocation);
  REQUIRE(cudaMalloc(&data, 16) == cudaSuccess);
  CHECK(cudaFree(data) == cudaErrorMemoryAllocation);
  CHECK(cudaFree(data) == cudaSuccess);
  CHECK(emulator::stop_failing());
  CHECK_FALSE(emulator::stop_failing());
  static_cast<void>(cudaGetLastError());

  const Buffer<int> counter(1);
  emulator::fail_call(1, cudaErrorLaunchOutOfResources);
  CHECK_THROWS_AS(launch(count, 1, 32, 0, nullptr, counter.data()), Error);
  CHECK(counter.read()[0] == 0);

  emulator::fail_call(1, cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);  // it stays
  static_cast<void>(emulator::recover());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("A trace counts calls by name, and the waits of the host") {
  const Emulated emulated;
  const Buffer<int> counter(1);
  const emulator::CallTrace trace;
  CHECK(trace.count() == 0);
  for (int i = 0; i < 3; ++i) launch(count, 2, 32, 0, nullptr, counter.data());
  CHECK(trace.count("launch") == 3);
  CHECK(trace.count("cudaMemcpy") == 0);
  CHECK(trace.synchronizations() == 0);
  CHECK(counter.read()[0] == 192);
  CHECK(trace.synchronizations() == 1);
  CHECK(trace.count() == 4);
  CHECK(trace.str() == "cudaMemcpy 1\nlaunch 3\n");
}

TEST_CASE("Several host threads may use the devices at once", "[threads]") {
  const Emulated emulated;
  constexpr int kThreads = 4, kLaunches = 50;
  int sums[kThreads] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      static_cast<void>(cudaSetDevice(i % 2));
      int* counter = nullptr;
      static_cast<void>(cudaMalloc(&counter, sizeof(int)));
      static_cast<void>(cudaMemset(counter, 0, sizeof(int)));
      for (int k = 0; k < kLaunches; ++k) launch(count, 2, 32, 0, nullptr, counter);
      static_cast<void>(cudaMemcpy(&sums[i], counter, sizeof(int), cudaMemcpyDeviceToHost));
      static_cast<void>(cudaFree(counter));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int sum : sums) CHECK(sum == kLaunches * 64);
}

TEST_CASE("Settings that make no sense are refused") {
  const Emulated emulated;
  CHECK_THROWS_AS(emulator::enable({.devices = 17}), Error);
  CHECK_THROWS_AS(emulator::enable({.memory = 0}), Error);
  CHECK_THROWS_AS(emulator::set_memory(5, 1_GiB), Error);
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 2);
}

}  // namespace ebb::cuda
