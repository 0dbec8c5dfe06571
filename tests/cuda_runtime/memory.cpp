#include <ebb/core/memory/registry.h>

#include "support.h"

using ebb::cuda::emulator::literals::operator""_MiB;
using test::CleanDevices;
using test::kCuda0;
using test::kCuda1;

namespace {

/// A tensor of that many bytes, whose values nobody sets.
ebb::Tensor bytes_on(ebb::Device device, int64_t bytes) {
  return ebb::empty({bytes}, ebb::device(device).dtype(ebb::kByte));
}

}  // namespace

TEST_CASE("each device and the host have statistics of their own") {
  const CleanDevices clean;
  const int64_t host = ebb::memory::memory_allocated(ebb::kCPU);
  const int64_t before = ebb::cuda::memory_allocated(0);
  const ebb::Tensor a = bytes_on(kCuda0, 1000);
  const ebb::Tensor b = bytes_on(kCuda1, 5000);
  const ebb::Tensor c = bytes_on(ebb::kCPU, 3 << 20);
  CHECK(ebb::cuda::memory_allocated(0) - before == 1024);
  CHECK(ebb::cuda::memory_allocated(1) == 5120);
  CHECK(ebb::memory::memory_allocated(ebb::kCPU) - host == 3 << 20);
  CHECK(ebb::cuda::memory_reserved(1) == 2 << 20);
  {
    const ebb::cuda::DeviceGuard guard(kCuda1);  // -1 is the current device
    CHECK(ebb::cuda::memory_allocated() == 5120);
  }
}

TEST_CASE("peaks are kept per device until they are reset") {
  const CleanDevices clean;
  { const ebb::Tensor a = bytes_on(kCuda1, 4 << 20); }
  CHECK(ebb::cuda::memory_allocated(1) == 0);
  CHECK(ebb::cuda::max_memory_allocated(1) == 4 << 20);
  CHECK(ebb::cuda::max_memory_reserved(1) == 20 << 20);
  ebb::cuda::reset_peak_memory_stats(1);
  CHECK(ebb::cuda::max_memory_allocated(1) == 0);
  CHECK(ebb::cuda::max_memory_reserved(1) == 20 << 20);
}

TEST_CASE("freed memory is cached, and empty_cache gives it back to every device") {
  const CleanDevices clean;
  const ebb::cuda::emulator::CallTrace trace;
  const size_t free0 = ebb::cuda::mem_get_info(0).first;
  { const ebb::Tensor a = bytes_on(kCuda1, 4 << 20); }
  { const ebb::Tensor a = bytes_on(kCuda1, 4 << 20); }
  CHECK(trace.count("cudaMalloc") == 1);
  CHECK(ebb::cuda::memory_reserved(1) == 20 << 20);
  const auto [free, total] = ebb::cuda::mem_get_info(1);
  CHECK(total - free == 20 << 20);
  ebb::cuda::empty_cache();
  CHECK(ebb::cuda::memory_reserved(1) == 0);
  CHECK(ebb::cuda::mem_get_info(1).first == total);
  CHECK(ebb::cuda::mem_get_info(0).first == free0);
}

TEST_CASE("memory_stats has torch.cuda's keys, and the workspaces of cuBLAS apart") {
  const CleanDevices clean;
  const ebb::Tensor a = bytes_on(kCuda1, 1000);
  const auto stats = ebb::cuda::memory_stats(1);
  CHECK(stats.at("allocated_bytes.all.current") == 1024);
  CHECK(stats.at("requested_bytes.all.current") == 1000);
  CHECK(stats.at("reserved_bytes.small_pool.current") == 2 << 20);
  CHECK(stats.at("blas_workspace_bytes") == 0);
  CHECK_THAT(ebb::cuda::memory_summary(1), Catch::Matchers::Contains("cuda:1"));
}

TEST_CASE("a memory fraction limits what is reserved, and the error says so") {
  const CleanDevices clean;
  const auto total = static_cast<double>(ebb::cuda::mem_get_info(1).second);
  ebb::cuda::set_per_process_memory_fraction(30.0 * (1 << 20) / total, 1);
  CHECK(ebb::memory::memory_limit(kCuda1) == 30 << 20);
  CHECK(ebb::cuda::get_per_process_memory_fraction(1) == Approx(30.0 * (1 << 20) / total));
  ebb::Tensor kept = bytes_on(kCuda1, 20 << 20);
  try {
    const ebb::Tensor more = bytes_on(kCuda1, 12 << 20);
    FAIL("the limit was passed");
  } catch (const ebb::OutOfMemoryError& e) {
    CHECK_THAT(e.what(), Catch::Matchers::Contains("CUDA out of memory"));
    CHECK(e.info().device == kCuda1);
    CHECK(e.info().limit == 30 << 20);
    CHECK(e.info().allocated == 20 << 20);
  }
  kept.reset();
  const ebb::Tensor fits = bytes_on(kCuda1, 28 << 20);
  CHECK(ebb::cuda::memory_reserved(1) == 28 << 20);
  CHECK_THROWS_AS(ebb::cuda::set_per_process_memory_fraction(1.5, 1), ebb::ValueError);
  ebb::cuda::set_per_process_memory_fraction(1, 1);
  CHECK(ebb::cuda::get_per_process_memory_fraction(1) == 1);
}

TEST_CASE("a full device throws OutOfMemoryError with its figures, and goes on") {
  const CleanDevices clean;
  const size_t total = ebb::cuda::mem_get_info(1).second;
  ebb::cuda::emulator::set_memory(1, 64_MiB);
  {
    const ebb::Tensor a = bytes_on(kCuda1, 40 << 20);
    try {
      const ebb::Tensor b = bytes_on(kCuda1, 30 << 20);
      FAIL("a device of 64 MiB gave 70");
    } catch (const ebb::OutOfMemoryError& e) {
      CHECK(e.info().available == 24_MiB);
      CHECK(e.info().reserved == 40_MiB);
      CHECK(e.info().requested == 30_MiB);
    }
    const ebb::Tensor c = bytes_on(kCuda1, 20 << 20);
    CHECK(ebb::cuda::memory_allocated(1) == 60 << 20);
  }
  // Cached segments are released for a request that needs their room.
  const ebb::Tensor d = bytes_on(kCuda1, 60 << 20);
  CHECK(ebb::cuda::memory_reserved(1) == 60 << 20);
  ebb::cuda::emulator::set_memory(1, total);
}

TEST_CASE("a request larger than what is free fits in a smaller segment where the full one does not") {
  const CleanDevices clean;
  const size_t total = ebb::cuda::mem_get_info(1).second;
  ebb::cuda::emulator::set_memory(1, 3_MiB);
  const ebb::Tensor a = bytes_on(kCuda1, 2 << 20);  // a segment would have 20 MiB
  CHECK(ebb::cuda::memory_reserved(1) == 2 << 20);
  ebb::cuda::emulator::set_memory(1, total);
}
