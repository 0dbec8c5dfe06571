#include "support.h"

using ebb::Tensor;
using test::CleanDevices;
using test::counting;
using test::kCuda0;
using test::kCuda1;
using test::values;

TEST_CASE("a tensor goes to a device and comes back with its values, dtype and strides") {
  for (const ebb::ScalarType dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16,
                                      ebb::kLong, ebb::kInt, ebb::kByte, ebb::kBool}) {
    const Tensor host = counting({3, 4}).to(dtype);
    for (const Tensor& source : {host, host.t()}) {
      const Tensor there = source.to(kCuda1, dtype);
      CHECK(there.device() == kCuda1);
      CHECK(there.strides() == source.strides());
      const Tensor back = there.cpu();
      CHECK(back.is_cpu());
      CHECK(back.scalar_type() == dtype);
      CHECK(values(back) == values(source));
    }
  }
}

TEST_CASE("copies between devices convert, broadcast and keep strides apart") {
  const Tensor host = counting({4, 6});
  const Tensor there = host.cuda();
  SECTION("a slice goes and comes") {
    CHECK(values(host.slice(1, 1, 6, 2).cuda()) == values(host.slice(1, 1, 6, 2)));
    CHECK(values(there.slice(1, 1, 6, 2).cpu()) == values(host.slice(1, 1, 6, 2)));
  }
  SECTION("into a slice of another dtype") {
    Tensor target = ebb::zeros({4, 6}, ebb::device(kCuda0).dtype(ebb::kDouble));
    target.slice(1, 0, 6, 3).copy_(host.slice(1, 0, 2));
    CHECK(values(target.slice(1, 0, 6, 3)) == values(host.slice(1, 0, 2)));
    CHECK(target.sum().item<double>() == host.slice(1, 0, 2).sum().item<double>());
  }
  SECTION("a row is repeated on the device, and only the row is moved") {
    Tensor target = ebb::zeros({4, 6}, kCuda0);
    target.copy_(host[1]);
    CHECK(values(target[3]) == values(host[1]));
  }
  SECTION("narrowed before the way, widened after it") {
    CHECK(values(host.to(kCuda0, ebb::kByte)) == values(host));
    CHECK(values(there.to(ebb::kCPU, ebb::kDouble)) == values(host));
    CHECK(values(there.to(ebb::kCPU, ebb::kHalf)) == values(host));
  }
  SECTION("nothing at all") {
    CHECK(ebb::zeros({0, 3}, ebb::kCPU).cuda().sizes() == ebb::IntArrayRef({0, 3}));
    CHECK(ebb::zeros({0, 3}, kCuda0).cpu().numel() == 0);
  }
}

TEST_CASE("only what must move is staged") {
  const CleanDevices clean;
  const Tensor host = counting({64, 64});
  const Tensor there = ebb::empty({64, 64}, ebb::device(kCuda1).dtype(ebb::kDouble));
  ebb::cuda::reset_peak_memory_stats(1);
  const int64_t before = ebb::cuda::memory_allocated(1);
  there.copy_(host);  // float on the way, which has fewer bytes
  CHECK(ebb::cuda::max_memory_allocated(1) - before == 64 * 64 * 4);
  ebb::cuda::reset_peak_memory_stats(1);
  there.copy_(counting({64}).to(ebb::kDouble));
  CHECK(ebb::cuda::max_memory_allocated(1) - before == 64 * 8);
}

TEST_CASE("peers copy in the order of both current streams") {
  for (int round = 0; round < 10; ++round) {
    const Tensor a = ebb::full({100}, 3, kCuda0);
    Tensor b = ebb::full({100}, -1, kCuda1);
    b.copy_(a * 2);
    a.fill_(100);  // after the copy, in a's stream
    const Tensor c = b + 1;
    CHECK(values(c) == std::vector<float>(100, 7));
    CHECK(c.device() == kCuda1);
  }
  CHECK(values(counting({2, 3}).to(kCuda0, ebb::kFloat).t().to(kCuda1, ebb::kInt)) ==
        values(counting({2, 3}).t()));
}

TEST_CASE("a blocking copy waits once; others wait for nothing") {
  const CleanDevices clean;
  const Tensor host = counting({100});
  const Tensor pinned = host.pin_memory();
  Tensor there = ebb::empty({100}, kCuda0);
  Tensor back = ebb::empty({100}, ebb::device(ebb::kCPU).pinned_memory(true));
  const ebb::cuda::emulator::CallTrace trace;
  there.copy_(pinned, /*non_blocking=*/true);
  there.copy_(host, /*non_blocking=*/true);
  back.copy_(there, /*non_blocking=*/true);
  CHECK(trace.synchronizations() == 0);
  ebb::cuda::synchronize();
  CHECK(values(back) == values(host));
  const ebb::cuda::emulator::CallTrace blocking;
  there.copy_(pinned);
  CHECK(blocking.count("cudaStreamSynchronize") == 1);
  static_cast<void>(there[3].item<float>());
  CHECK(blocking.count("cudaStreamSynchronize") == 2);
}

TEST_CASE("a host tensor may change as soon as a copy from pageable memory returns") {
  for (int round = 0; round < 10; ++round) {
    Tensor host = ebb::full({50}, 5, ebb::kCPU);
    const Tensor there = host.to(kCuda0, ebb::kFloat, /*non_blocking=*/true);
    host.fill_(-5);
    CHECK(values(there) == std::vector<float>(50, 5));
  }
}

TEST_CASE("a gradient goes back to the device its tensor is on") {
  const Tensor on0 = counting({3}).cuda().requires_grad_();
  const Tensor on1 = counting({3}).to(kCuda1, ebb::kFloat).requires_grad_();
  ((on0.to(kCuda1, ebb::kDouble) * on1).cpu() * 2).sum().backward();
  CHECK(on0.grad().device() == kCuda0);
  CHECK(on0.grad().scalar_type() == ebb::kFloat);
  CHECK(values(on0.grad()) == std::vector<float>{0, 2, 4});
  CHECK(on1.grad().device() == kCuda1);
}
