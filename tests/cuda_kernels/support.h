#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <ebb/autograd/factories.h>
#include <ebb/core/cpu/convert.h>

#include "catch.h"

// What the tests that hold the device's kernels against those of the CPU share. The emulated device
// runs the same functors, compiled by the same compiler without fused multiply-add, so results are
// compared bit for bit; but NaN equals NaN. A GPU fuses, and has a math library of its own: there
// floating point is compared within a few roundings.

namespace kernel_tests {

using namespace ebb;

inline constexpr ScalarType kAllDtypes[] = {kUInt8, kInt8,  kInt16,  kInt32, kInt64,
                                            kHalf,  kFloat, kDouble, kBool,  kBFloat16};
inline constexpr ScalarType kFloatDtypes[] = {kHalf, kBFloat16, kFloat, kDouble};

/// A contiguous tensor on the CPU: numbers of both signs, some of them equal, and where the dtype
/// has them infinities, NaN and both zeros.
inline Tensor numbers(IntArrayRef sizes, ScalarType dtype, unsigned seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {
      0.0, -0.0, 1.0, -1.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  std::mt19937 generator(seed);
  Tensor result = empty(sizes, TensorOptions(dtype).device(kCPU));
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* data = result.data_ptr<T>();
    for (int64_t i = 0; i < result.numel(); ++i) {
      double value = static_cast<double>(static_cast<int>(generator() % 161) - 80) / 16;
      if (is_floating_point(dtype)) {
        if (generator() % 16 == 0) value = kSpecial[generator() % std::size(kSpecial)];
      } else {
        value = std::trunc(dtype == kUInt8 ? std::fabs(value) : value);
      }
      data[i] = Scalar(value).to<T>();
    }
  });
  return result;
}

/// How far a result on the device may be from the CPU's, relative to it, or to 1 below that.
inline double allowed_difference([[maybe_unused]] ScalarType dtype) {
#ifdef EBB_CUDA_EMULATED
  return 0;
#else
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 2e-3 : 1.6e-2;
#endif
}

/// Whether finite numbers differ by at most `allowed`.
inline bool are_close(double x, double y, double allowed) {
  return std::isfinite(x) && std::fabs(x - y) <= allowed * std::max(1.0, std::fabs(x));
}

/// Counts the elements that differ between a tensor of the CPU and one of the device.
inline int64_t differences(const Tensor& expected, const Tensor& got) {
  REQUIRE(expected.sizes() == got.sizes());
  REQUIRE(expected.scalar_type() == got.scalar_type());
  const Tensor a = expected.contiguous();
  const Tensor b = got.cpu().contiguous();
  int64_t count = 0;
  const double allowed =
      is_floating_point(a.scalar_type()) ? allowed_difference(a.scalar_type()) : 0;
  dispatch(a.scalar_type(), [&](auto zero) {
    using S = cpu::Stored<decltype(zero)>;
    const auto* x = static_cast<const S*>(a.data_ptr());
    const auto* y = static_cast<const S*>(b.data_ptr());
    for (int64_t i = 0; i < a.numel(); ++i) {
      bool same = std::memcmp(&x[i], &y[i], sizeof(S)) == 0 || (x[i] != x[i] && y[i] != y[i]);
      if (allowed > 0)
        same |= are_close(static_cast<double>(x[i]), static_cast<double>(y[i]), allowed);
      count += same ? 0 : 1;
    }
  });
  return count;
}

/// A way to lie in memory: `base` is the size of a contiguous tensor, `view` takes the operand
/// number i (0: what is written) from it.
struct Arrangement {
  const char* name;
  std::vector<int64_t> base;
  Tensor (*view)(const Tensor& base, int i);
};

/// All of one shape but for broadcasting.
inline const std::vector<Arrangement>& arrangements() {
  static const std::vector<Arrangement> all = {
      {"no dimensions", {}, [](const Tensor& x, int) { return x; }},
      {"empty", {3, 0}, [](const Tensor& x, int) { return x; }},
      {"one pack and some", {19}, [](const Tensor& x, int) { return x; }},
      {"many blocks", {2113}, [](const Tensor& x, int) { return x; }},
      {"off by one element", {38}, [](const Tensor& x, int) { return x.narrow(0, 1, 37); }},
      {"every second row off by one",
       {9, 34},
       [](const Tensor& x, int i) { return x.narrow(1, i % 2, 33); }},
      {"rows of packs with gaps",
       {5, 48},
       [](const Tensor& x, int) { return x.narrow(1, 16, 16); }},
      {"every third column", {7, 15}, [](const Tensor& x, int) { return x.slice(1, 0, 15, 3); }},
      {"turned", {6, 11}, [](const Tensor& x, int) { return x.t(); }},
      {"one turned, one not", {8, 8}, [](const Tensor& x, int i) { return i == 1 ? x.t() : x; }},
      {"rows repeated",
       {16, 16},
       [](const Tensor& x, int i) { return i > 1 ? x.narrow(0, 1, 1) : x; }},
      {"columns repeated",
       {16, 16},
       [](const Tensor& x, int i) { return i > 1 ? x.narrow(1, 2, 1) : x; }},
      {"one element repeated",
       {5, 13},
       [](const Tensor& x, int i) { return i > 1 ? x.select(0, 1).select(0, 1) : x; }},
      {"four dimensions turned",
       {3, 4, 5, 2},
       [](const Tensor& x, int) {
         return x.permute({2, 0, 3, 1});
       }},
  };
  return all;
}

}  // namespace kernel_tests
