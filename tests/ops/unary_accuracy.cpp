#include <cstring>

#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {

/// The largest error of `op` over every `step`-th float, in units in the last place of the exact
/// result; infinity where a NaN or an infinity is wrong.
double worst_ulp(Tensor (*op)(const Tensor&), double (*reference)(double), uint64_t step) {
  constexpr uint64_t kBlock = 1 << 16;
  double worst = 0;
  // The device's functions are compared in tests/cuda_kernels.
  const Tensor x = empty({kBlock}, TensorOptions(kFloat).device(kCPU));
  for (uint64_t first = 0; first < (uint64_t{1} << 32); first += kBlock * step) {
    for (uint64_t i = 0; i < kBlock; ++i) {
      const auto bits = static_cast<uint32_t>(first + i * step);
      std::memcpy(x.data_ptr<float>() + i, &bits, sizeof(bits));
    }
    const Tensor y = op(x);
    for (uint64_t i = 0; i < kBlock; ++i) {
      const double exact = reference(x.data_ptr<float>()[i]);
      const auto rounded = static_cast<float>(exact);
      const float got = y.data_ptr<float>()[i];
      if (std::isnan(rounded) && std::isnan(got)) continue;
      if (rounded == got) continue;
      if (!std::isfinite(rounded) || !std::isfinite(got)) return INFINITY;
      const int exponent = rounded == 0 ? -149 : std::max(std::ilogb(rounded) - 23, -149);
      worst = std::max(worst, std::fabs(got - exact) / std::ldexp(1.0, exponent));
    }
  }
  return worst;
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("float functions are within 2.2 units in the last place over all floats") {
  const uint64_t step = 4099;  // a prime: about a million floats, of all exponents
  CHECK(worst_ulp(ebb::exp, std::exp, step) < 1.1);
  CHECK(worst_ulp(ebb::log, std::log, step) < 1.1);
  CHECK(worst_ulp(ebb::tanh, std::tanh, step) < 1.5);
  CHECK(worst_ulp(ebb::erf, std::erf, step) < 1.5);
  CHECK(worst_ulp(ebb::sigmoid, sigmoid_of, step) < 2.2);
}
