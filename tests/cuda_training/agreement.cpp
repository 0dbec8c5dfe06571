// The same training on the CPU and on the device.

#include "cuda_training/helpers.h"

using namespace training;

TEST_CASE("Losses of 50 steps agree to rounding between the CPU and the device in float32") {
  const auto on_cpu = losses(ebb::kCPU, 50);
  const auto on_device = losses(ebb::kCUDA, 50);
  CHECK(on_cpu.front() > 1.2);
  CHECK(on_cpu.back() < 0.3);
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    INFO("step " << i);
    // Sums are taken in another order; each step passes its rounding on to the next ones.
    CHECK(on_device[i] == Approx(on_cpu[i]).epsilon(1e-3).margin(1e-5));
  }
}

TEST_CASE("Losses of 50 steps stay close to float32's in float16 on the device") {
  const auto exact = losses(ebb::kCPU, 50);
  const auto halves = losses(ebb::kCUDA, 50, ebb::kHalf);
  for (size_t i = 0; i < exact.size(); ++i) {
    INFO("step " << i);
    // Half numbers have 11 bits: parameters near 0.1 move in steps of 2^-14 = 6e-5.
    CHECK(halves[i] == Approx(exact[i]).epsilon(0.05).margin(0.05));
  }
}

TEST_CASE("Dropout drops the same elements on the CPU and on the device") {
  const auto on_cpu = losses(ebb::kCPU, 5, ebb::kFloat, 0.5);
  const auto on_device = losses(ebb::kCUDA, 5, ebb::kFloat, 0.5);
  CHECK(on_cpu[0] != losses(ebb::kCPU, 1)[0]);
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    CHECK(on_device[i] == Approx(on_cpu[i]).epsilon(1e-3));
  }
}

TEST_CASE("The same seed gives the same random numbers on the CPU and on the device") {
  for (const auto dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
    const auto options = ebb::TensorOptions().dtype(dtype);
    ebb::manual_seed(3);
    const Tensor uniform = ebb::rand({1001}, options.device(ebb::kCPU));
    ebb::manual_seed(3);
    CHECK(ebb::equal(ebb::rand({1001}, options.device(ebb::kCUDA)).cpu(), uniform));
  }
  ebb::manual_seed(3);
  const Tensor integers = ebb::randint(1000, {77, 13}, ebb::kCPU);
  ebb::manual_seed(3);
  CHECK(ebb::equal(ebb::randint(1000, {77, 13}, ebb::kCUDA).cpu(), integers));
}
