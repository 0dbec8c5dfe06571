#include <cstring>

#include "support.h"

using ebb::Tensor;
using test::CleanDevices;
using test::counting;
using test::values;

namespace {
int64_t host_stat(const char* key) { return ebb::cuda::host_memory_stats().at(key); }
}  // namespace

TEST_CASE("pinned memory has a cache and statistics of its own") {
  const CleanDevices clean;
  const int64_t host = ebb::memory::memory_allocated(ebb::kCPU);
  const ebb::cuda::emulator::CallTrace trace;
  {
    const Tensor pinned = ebb::empty({1000}, ebb::device(ebb::kCPU).pinned_memory(true));
    CHECK(pinned.is_cpu());
    CHECK(pinned.is_pinned());
    CHECK(host_stat("allocated_bytes.all.current") == 4096);
    CHECK(host_stat("reserved_bytes.all.current") == 2 << 20);
    CHECK(ebb::memory::memory_allocated(ebb::kCPU) == host);
  }
  CHECK(host_stat("allocated_bytes.all.current") == 0);
  { const Tensor again = ebb::zeros({900}, ebb::device(ebb::kCPU).pinned_memory(true)); }
  CHECK(trace.count("cudaHostAlloc") == 1);
  ebb::cuda::empty_host_cache();
  CHECK(trace.count("cudaFreeHost") == 1);
  CHECK(host_stat("reserved_bytes.all.current") == 0);
}

TEST_CASE("pin_memory copies a tensor of the CPU once") {
  const CleanDevices clean;
  const Tensor plain = counting({2, 3}).t();
  CHECK_FALSE(plain.is_pinned());
  const Tensor pinned = plain.pin_memory();
  CHECK(pinned.is_pinned());
  CHECK(values(pinned) == values(plain));
  CHECK(pinned.strides() == plain.strides());
  CHECK(pinned.pin_memory().is_same(pinned));
  CHECK_THAT(test::message_of([] { static_cast<void>(ebb::ones({2}, "cuda:0").pin_memory()); }),
             Catch::Matchers::Contains("only tensors on the CPU can be pinned, this one is on cuda:0"));
  CHECK_THROWS_AS(ebb::empty({2}, ebb::device("cuda:0").pinned_memory(true)), ebb::Error);
}

TEST_CASE("a gradient passes pin_memory and the copy to the device") {
  const Tensor a = counting({3}).requires_grad_();
  (a.pin_memory().to(ebb::kCUDA, ebb::kFloat, /*non_blocking=*/true) * 2).sum().backward();
  CHECK(a.grad().is_cpu());
  CHECK(values(a.grad()) == std::vector<float>{2, 2, 2});
}

TEST_CASE("a pinned block is not used again before the copy from it is done") {
  const CleanDevices clean;
  for (int round = 0; round < 20; ++round) {
    Tensor on_device;
    {
      const Tensor pinned = counting({256}).pin_memory();
      on_device = pinned.to(ebb::kCUDA, ebb::kFloat, /*non_blocking=*/true);
    }  // freed while the copy waits in its queue
    const Tensor next = ebb::full({256}, -1, ebb::device(ebb::kCPU).pinned_memory(true));
    CHECK(values(on_device) == values(counting({256})));
    CHECK(values(next) == std::vector<float>(256, -1));
  }
}

TEST_CASE("the blocks of pinned memory come back when their copies are done") {
  const CleanDevices clean;
  {
    const Tensor pinned = counting({256}).pin_memory();
    const Tensor on0 = pinned.to(test::kCuda0, ebb::kFloat, /*non_blocking=*/true);
    const Tensor on1 = pinned.to(test::kCuda1, ebb::kFloat, /*non_blocking=*/true);
  }
  CHECK(host_stat("allocated_bytes.all.current") == 0);
  CHECK(host_stat("active_bytes.all.current") == 1024);  // it waits for both devices
  ebb::cuda::synchronize(0);
  ebb::cuda::synchronize(1);
  { const Tensor next = ebb::empty({1}, ebb::device(ebb::kCPU).pinned_memory(true)); }
  CHECK(host_stat("active_bytes.all.current") == 0);
}
