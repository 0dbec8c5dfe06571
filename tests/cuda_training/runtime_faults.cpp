// The n-th call of the CUDA runtime in a training step fails, for every n.

#include "cuda_training/helpers.h"

using namespace training;
using ebb::cuda::emulator::CallTrace;

namespace {

/// Bytes of the tensors on the device.
int64_t live_bytes() { return ebb::memory::memory_allocated(ebb::kCUDA); }

/// Trains one step whose n-th call fails. Whether there was such a call.
bool fails_at(int64_t n, bool empty_cache) {
  INFO("call " << n);
  Training training(ebb::kCUDA);
  ebb::cuda::synchronize();
  if (empty_cache) ebb::cuda::empty_cache();
  ebb::cuda::emulator::fail_call(n);
  bool reported = false;
  std::string what;
  try {
    (void)training.step().item<double>();
  } catch (const ebb::Error& error) {
    reported = true;
    what = error.what();
  }
  const bool failed = ebb::cuda::emulator::stop_failing();
  if (!failed) return false;
  // Calls whose failure harms nothing (an event that is polled later) need not be reported.
  if (reported) CHECK(what.find("cuda") != std::string::npos);
  // CUDA allows going on after such an error, and so does ebb.
  CHECK(std::isfinite(training.step().item<double>()));
  return true;
}

}  // namespace

TEST_CASE("Whichever call of the runtime fails in a training step, nothing leaks and it goes on") {
  for (const bool empty_cache : {false, true}) {
    { Training(ebb::kCUDA).step(); }
    const auto before = live_bytes();
    int64_t failures = 0;
    while (fails_at(failures + 1, empty_cache)) {
      ++failures;
      REQUIRE(live_bytes() == before);
      REQUIRE(failures < 1000);
    }
    CHECK(failures > 40);
    CHECK(live_bytes() == before);
  }
}
