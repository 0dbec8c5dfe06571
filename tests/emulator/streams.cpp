#include <algorithm>
#include <set>

#include "emulator/helpers.h"

namespace ebb::cuda {
namespace {

constexpr int kSeeds = 100;
constexpr int kItems = 64;

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }
__global__ void add(int* data, const int* from) { data[threadIdx.x] += from[threadIdx.x]; }

/// A stream, an event and pinned memory that are freed at the end.
struct Stream {
  cudaStream_t handle = nullptr;
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~Stream() { static_cast<void>(cudaStreamDestroy(handle)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};
struct Event {
  cudaEvent_t handle = nullptr;
  Event() { REQUIRE(cudaEventCreate(&handle) == cudaSuccess); }
  ~Event() { static_cast<void>(cudaEventDestroy(handle)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};
struct Pinned {
  int* data = nullptr;
  explicit Pinned(int value) {
    REQUIRE(cudaMallocHost(&data, kItems * sizeof(int)) == cudaSuccess);
    std::fill(data, data + kItems, value);
  }
  ~Pinned() { static_cast<void>(cudaFreeHost(data)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

/// How many seeds see something else than `right`.
template <typename Program>
int wrong_results(int right, Program program) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    emulator::set_seed(seed);
    if (program() != right) ++wrong;
  }
  return wrong;
}

/// Writes on one stream and adds on another, which waits for the first only if it is told so.
int producer_and_consumer(bool waits) {
  const Buffer<int> data(kItems, 0), sum(kItems, 1);
  const Stream first, second;
  const Event written;
  launch(fill, 1, kItems, 0, first.handle, data.data(), 41);
  REQUIRE(cudaEventRecord(written.handle, first.handle) == cudaSuccess);
  if (waits) REQUIRE(cudaStreamWaitEvent(second.handle, written.handle) == cudaSuccess);
  launch(add, 1, kItems, 0, second.handle, sum.data(), data.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return sum.read()[5];
}

}  // namespace

TEST_CASE(
    "A stream that does not wait for another reads too early under some seeds, never if it waits") {
  const Emulated emulated;
  CHECK(wrong_results(42, [] { return producer_and_consumer(false); }) > kSeeds / 4);
  CHECK(wrong_results(42, [] { return producer_and_consumer(true); }) == 0);
}

TEST_CASE("Work on one stream runs in its order") {
  const Emulated emulated;
  CHECK(wrong_results(7, [] {
          const Buffer<int> data(kItems);
          const Stream stream;
          for (int i = 0; i < 8; ++i) launch(fill, 1, kItems, 0, stream.handle, data.data(), i);
          REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
          return data.read()[0];
        }) == 0);
}

TEST_CASE("The default stream waits for blocking streams and they for it; others do neither") {
  const Emulated emulated;
  const auto program = [](unsigned flags, bool default_first) {
    const Buffer<int> data(kItems);
    const Stream stream(flags);
    launch(fill, 1, kItems, 0, default_first ? nullptr : stream.handle, data.data(), 1);
    launch(fill, 1, kItems, 0, default_first ? stream.handle : nullptr, data.data(), 2);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return data.read()[0];
  };
  CHECK(wrong_results(2, [&] { return program(cudaStreamDefault, true); }) == 0);
  CHECK(wrong_results(2, [&] { return program(cudaStreamDefault, false); }) == 0);
  CHECK(wrong_results(2, [&] { return program(cudaStreamNonBlocking, true); }) > 0);
  CHECK(wrong_results(2, [&] { return program(cudaStreamNonBlocking, false); }) > 0);
}

TEST_CASE("A wait is for what the event marked at the time of the call") {
  const Emulated emulated;
  const auto program = [] {
    const Buffer<int> data(kItems), sum(kItems);
    const Stream first, second;
    const Event event;
    launch(fill, 1, kItems, 0, first.handle, data.data(), 1);
    REQUIRE(cudaEventRecord(event.handle, first.handle) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(second.handle, event.handle) == cudaSuccess);
    // Recorded again behind the wait of the other stream: no deadlock.
    REQUIRE(cudaStreamWaitEvent(first.handle, event.handle) == cudaSuccess);
    launch(add, 1, kItems, 0, second.handle, sum.data(), data.data());
    REQUIRE(cudaEventRecord(event.handle, second.handle) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(first.handle, event.handle) == cudaSuccess);
    launch(fill, 1, kItems, 0, first.handle, data.data(), 9);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return sum.read()[0];
  };
  CHECK(wrong_results(1, program) == 0);
}

TEST_CASE("A copy reads pageable memory at the call and pinned memory when it runs") {
  const Emulated emulated;
  const Buffer<int> from_pageable(kItems), from_pinned(kItems);
  std::vector<int> pageable(kItems, 1);
  const Pinned pinned(1);
  const size_t bytes = kItems * sizeof(int);
  const Stream stream;
  REQUIRE(cudaMemcpyAsync(from_pageable.data(), pageable.data(), bytes, cudaMemcpyHostToDevice,
                          stream.handle) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(from_pinned.data(), pinned.data, bytes, cudaMemcpyHostToDevice,
                          stream.handle) == cudaSuccess);
  std::fill(pageable.begin(), pageable.end(), 2);
  std::fill(pinned.data, pinned.data + kItems, 2);
  REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
  CHECK(from_pageable.read()[0] == 1);
  CHECK(from_pinned.read()[0] == 2);
}

TEST_CASE("A copy to pinned memory has not happened before the host waits") {
  const Emulated emulated;
  const Buffer<int> data(kItems, 5);
  const Pinned pinned(0);
  const size_t bytes = kItems * sizeof(int);
  const Stream stream;
  REQUIRE(cudaMemcpyAsync(pinned.data, data.data(), bytes, cudaMemcpyDeviceToHost, stream.handle) ==
          cudaSuccess);
  CHECK(pinned.data[0] == 0);
  REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
  CHECK(pinned.data[0] == 5);
}

TEST_CASE("In eager mode work has run when the call returns") {
  const Emulated emulated;
  emulator::set_eager(true);
  const Buffer<int> data(kItems, 5);
  const Pinned pinned(0);
  const Stream stream;
  REQUIRE(cudaMemcpyAsync(pinned.data, data.data(), kItems * sizeof(int), cudaMemcpyDeviceToHost,
                          stream.handle) == cudaSuccess);
  CHECK(pinned.data[0] == 5);
}

TEST_CASE("A program that polls an event or a stream comes to its end") {
  const Emulated emulated;
  const Buffer<int> data(kItems);
  const Stream stream;
  const Event event;
  for (int i = 0; i < 10; ++i) launch(fill, 1, kItems, 0, stream.handle, data.data(), i);
  REQUIRE(cudaEventRecord(event.handle, stream.handle) == cudaSuccess);
  CHECK(cudaEventQuery(event.handle) == cudaErrorNotReady);
  int polls = 1;
  while (cudaEventQuery(event.handle) == cudaErrorNotReady) ++polls;
  CHECK(polls == 10);  // ten launches and the record, one for each query
  CHECK(cudaStreamQuery(stream.handle) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);  // not ready is no error
}

TEST_CASE("Events tell the time between them, unless they are made without") {
  const Emulated emulated;
  const Event start, end;
  cudaEvent_t untimed = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  REQUIRE(cudaEventRecord(start.handle) == cudaSuccess);
  REQUIRE(cudaEventRecord(end.handle) == cudaSuccess);
  REQUIRE(cudaEventRecord(untimed) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, end.handle) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(end.handle) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, end.handle) == cudaSuccess);
  CHECK(milliseconds >= 0);
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, untimed) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(untimed) == cudaSuccess);
}

TEST_CASE("A host function runs in its stream's order and may not call the runtime") {
  const Emulated emulated;
  const Stream stream;
  struct Seen {
    int calls = 0;
    cudaError_t error = cudaSuccess;
  } seen;
  REQUIRE(cudaLaunchHostFunc(
              stream.handle,
              [](void* data) {
                ++static_cast<Seen*>(data)->calls;
                static_cast<Seen*>(data)->error = cudaDeviceSynchronize();
              },
              &seen) == cudaSuccess);
  CHECK(seen.calls == 0);
  REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
  CHECK(seen.calls == 1);
  CHECK(seen.error == cudaErrorNotPermitted);
}

TEST_CASE("A handle that was destroyed is refused") {
  const Emulated emulated;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventSynchronize(event) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("Priorities are kept, and bounded as the device says") {
  const Emulated emulated;
  int least = 1, greatest = 1, priority = 1;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(least == 0);
  CHECK(greatest < 0);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 3) ==
          cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

}  // namespace ebb::cuda
