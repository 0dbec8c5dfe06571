// Every call of the CUDA runtime may fail: the error reaches the caller, nothing leaks, and the
// program goes on.

#include <functional>

#include <ebb/core/memory/pinned.h>
#include <ebb/core/memory/registry.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/launch.h>

#include "support.h"

using Catch::Matchers::Contains;
using ebb::Tensor;
using ebb::cuda::emulator::fail_call;
using ebb::cuda::emulator::stop_failing;
using test::CleanDevices;
using test::counting;
using test::kCuda0;
using test::kCuda1;
using test::values;

namespace {

void check_nothing_is_held() {
  for (const ebb::Device device : {kCuda0, kCuda1}) {
    ebb::memory::CachingAllocator& allocator = ebb::memory::allocator(device);
    ebb::cuda::synchronize(device.index());
    allocator.empty_cache();
    allocator.check_invariants();
    CHECK(ebb::cuda::memory_allocated(device.index()) == 0);
    CHECK(ebb::cuda::memory_reserved(device.index()) == 0);
    const auto [free, total] = ebb::cuda::mem_get_info(device.index());
    CHECK(free == total);
  }
  ebb::cuda::empty_host_cache();
  ebb::memory::pinned_allocator().check_invariants();
  CHECK(ebb::cuda::host_memory_stats().at("reserved_bytes.all.current") == 0);
}

/// Fails the n-th runtime call of `step`, for every n; returns how many there are.
int64_t sweep(const std::function<void()>& step) {
  const CleanDevices clean;
  ebb::cuda::clear_blas_workspaces();
  step();  // what is set up once is there
  check_nothing_is_held();
  for (int64_t n = 1;; ++n) {
    INFO("call " << n << " fails");
    fail_call(n);
    std::string message;
    try {
      step();
    } catch (const ebb::cuda::CUDAError& e) {
      CHECK(e.code() == cudaErrorUnknown);
      message = e.what();
      CHECK_THAT(message, Contains("cudaErrorUnknown") && Contains(" in ") && Contains(" at "));
    } catch (const ebb::Error& e) {
      message = e.what();
      CHECK_THAT(message, Contains("cuda"));
    }
    const bool failed = stop_failing();
    check_nothing_is_held();
    if (!failed) {
      CHECK(message.empty());
      return n - 1;
    }
  }
}

}  // namespace

TEST_CASE("any runtime call of an allocation may fail") {
  CHECK(sweep([] {
          const Tensor a = ebb::empty({1000}, kCuda0);
          const Tensor b = ebb::empty({4 << 20}, ebb::device(kCuda1).dtype(ebb::kByte));
        }) >= 6);
}

TEST_CASE("any runtime call of copies to and from a device may fail") {
  CHECK(sweep([] {
          const Tensor there = counting({64}).cuda();
          const Tensor back = there.cpu();
          const auto found = values(back);
          CHECK(found == values(counting({64})));
        }) >= 8);
}

TEST_CASE("any runtime call of copies from pinned memory may fail") {
  CHECK(sweep([] {
          const Tensor pinned = counting({64}).pin_memory();
          const Tensor there = pinned.to(kCuda0, ebb::kFloat, /*non_blocking=*/true);
          const auto found = values(there + 1);
          CHECK(found == values(counting({64}) + 1));
        }) >= 8);
}

TEST_CASE("any runtime call of copies between peers may fail") {
  CHECK(sweep([] {
          const Tensor on1 = counting({64}).cuda().to(kCuda1, ebb::kFloat);
          const auto found = values(on1);
          CHECK(found == values(counting({64})));
        }) >= 12);
}

TEST_CASE("any runtime call of work on two streams may fail") {
  CHECK(sweep([] {
          const ebb::cuda::Stream side = ebb::cuda::getStreamFromPool();
          ebb::cuda::Event made;
          ebb::cuda::Event used;
          Tensor y;
          {
            const Tensor x = ebb::ones({512}, kCuda0);
            made.record();
            const ebb::cuda::StreamGuard guard(side);
            made.block(side);
            y = x * 3;
            x.record_stream(side);
            used.record();
          }
          const Tensor z = ebb::ones({512}, kCuda0);
          used.synchronize();
          const auto found = values(y);
          CHECK(found == std::vector<float>(512, 3));
        }) >= 20);
}

TEST_CASE("a device that says it is full is asked again after its cache is released") {
  const CleanDevices clean;
  { const Tensor cached = ebb::empty({1 << 20}, kCuda0); }
  const ebb::cuda::emulator::CallTrace trace;
  // The calls are cudaGetDevice, then cudaMalloc.
  fail_call(2, cudaErrorMemoryAllocation);
  const Tensor a = ebb::empty({30 << 20}, kCuda0);
  CHECK(stop_failing());
  CHECK(trace.count("cudaMalloc") == 2);
  CHECK(trace.count("cudaFree") == 1);
  CHECK(ebb::cuda::memory_stats(0).at("num_alloc_retries") >= 1);
}

TEST_CASE("a sticky fault is reported with advice once, and then in short") {
  const CleanDevices clean;
  ebb::cuda::emulator::set_print_reports(false);
  ebb::cuda::forget_sticky_fault();
  fail_call(1, cudaErrorIllegalAddress);
  const std::string first = test::message_of([] { ebb::cuda::synchronize(0); });
  const std::string second = test::message_of([] { ebb::cuda::synchronize(0); });
  stop_failing();
  ebb::cuda::emulator::recover();
  ebb::cuda::emulator::set_print_reports(true);
  ebb::cuda::forget_sticky_fault();
  CHECK_THAT(first, Contains("cudaErrorIllegalAddress") && Contains("CUDA_LAUNCH_BLOCKING=1") &&
                        Contains("start the program again"));
  CHECK_THAT(second, Contains("the device is lost since the fault reported before") &&
                         !Contains("CUDA_LAUNCH_BLOCKING"));
  CHECK(values(ebb::ones({2}, kCuda0)) == std::vector<float>{1, 1});
}

namespace {

/// A fault: one thread returns while the others wait for it.
__global__ void stuck_kernel() {
  if (threadIdx.x == 0) return;
  __syncthreads();
}

void launch_stuck() {
  const ebb::cuda::DeviceGuard guard(kCuda0);
  ebb::cuda::launch(&stuck_kernel, 1, 32, 0, nullptr);
}

}  // namespace

TEST_CASE("a fault of a kernel shows at the next synchronisation") {
  const CleanDevices clean;
  ebb::cuda::emulator::set_print_reports(false);
  CHECK(test::message_of(launch_stuck).empty());
  const std::string message = test::message_of([] { ebb::cuda::synchronize(0); });
  ebb::cuda::emulator::recover();
  ebb::cuda::emulator::set_print_reports(true);
  ebb::cuda::forget_sticky_fault();
  CHECK_THAT(message, Contains("cudaDeviceSynchronize") && Contains("stuck_kernel") &&
                          Contains("reproduce: EBB_CUDA_EMULATOR_SEED="));
}

// Runs apart, with CUDA_LAUNCH_BLOCKING=1 (tests/CMakeLists.txt).
TEST_CASE("with CUDA_LAUNCH_BLOCKING a fault is reported by the launch", "[.blocking]") {
  ebb::cuda::emulator::set_print_reports(false);
  const std::string message = test::message_of(launch_stuck);
  ebb::cuda::emulator::recover();
  CHECK_THAT(message, Contains("launching kernel") && Contains("stuck_kernel") &&
                          Contains("faults.cpp"));
}
