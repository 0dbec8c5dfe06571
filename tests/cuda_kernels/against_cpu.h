#pragma once

#include <string>
#include <vector>

#include "ops/reduce_reference.h"

// What the tests of kernels that add, compare and move elements along dimensions share: the same op
// on the CPU and on the device. Sums are not in the same order there, so results of floating point
// are compared within a few roundings; integers and what is only moved must be equal.

namespace kernel_tests {

using namespace ebb;
using namespace ebb::testing;

/// Around the sizes of warps, of what a team takes, of blocks and of tiles.
inline const std::vector<int64_t> kLengths = {1,   2,   31,  32,  33,   127,
                                              255, 257, 511, 513, 1023, 1025};

/// A few roundings of results in [-4, 4] or so.
inline double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 2e-3;
    case kBFloat16:
      return 1.6e-2;
    case kFloat:
      return 2e-6;
    case kDouble:
      return 1e-13;
    default:
      return 0;
  }
}

/// A tensor on the CPU of numbers in [low, high), integers if `dtype` is.
inline Tensor host_tensor(IntArrayRef sizes, ScalarType dtype, double low = -2, double high = 2,
                          uint32_t seed = 1) {
  Values elements = numbers(product(sizes), low, high, seed);
  if (!is_floating_point(dtype)) {
    for (double& element : elements) element = std::floor(element);
  }
  return made_of(elements, sizes, dtype).cpu();
}

/// Checks op(inputs) -> tensors on the device against the CPU, for all layouts of the first input.
template <typename Op>
void check_against_cpu(const std::vector<Tensor>& inputs, Op&& op, double tolerance) {
  const std::vector<Tensor> on_host = layouts(inputs[0]);
  const std::vector<Tensor> on_device = layouts(inputs[0].to(kCUDA));
  for (size_t layout = 0; layout < on_host.size(); ++layout) {
    std::vector<Tensor> host = inputs;
    std::vector<Tensor> device;
    for (const Tensor& input : inputs) device.push_back(input.to(kCUDA));
    host[0] = on_host[layout];
    device[0] = on_device[layout];
    const std::vector<Tensor> expected = op(host);
    const std::vector<Tensor> got = op(device);
    REQUIRE(expected.size() == got.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("layout " << layout << ", result " << i << " of sizes " << got[i].sizes() << ", dtype "
                     << got[i].scalar_type());
      REQUIRE(got[i].is_cuda());
      REQUIRE(got[i].sizes() == expected[i].sizes());
      REQUIRE(got[i].scalar_type() == expected[i].scalar_type());
      check_close(got[i], values(expected[i]), tolerance);
    }
  }
}

}  // namespace kernel_tests
