#include <ebb/autograd/autograd.h>

#include "against_cpu.h"

using namespace kernel_tests;

namespace {

std::vector<Tensor> softmaxes(const std::vector<Tensor>& in, int64_t dim) {
  const Tensor x = in[0].detach().requires_grad_();
  const Tensor y = x.softmax(dim);
  const Tensor z = x.log_softmax(dim);
  const Tensor grad = in[1];
  return {y.detach(), z.detach(), autograd::grad({y}, {x}, {grad})[0],
          autograd::grad({z}, {x}, {grad})[0]};
}

void check(const Tensor& x, double tolerance) {
  const Tensor grad = host_tensor(x.sizes(), x.scalar_type(), -1, 1, 7);
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    INFO("dimension " << dim << " of sizes " << x.sizes());
    check_against_cpu(
        {x, grad}, [&](const std::vector<Tensor>& in) { return softmaxes(in, dim); }, tolerance);
  }
}

}  // namespace

TEST_CASE("Softmax on the device and its gradient are the CPU's, for each dtype", "[softmax]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    check(host_tensor({5, 3, 37}, dtype), 4 * tolerance_of(dtype));
    check(host_tensor({3, 0}, dtype), 0);
  }
}

TEST_CASE("Softmax takes lines of lengths around warps and blocks", "[softmax]") {
  for (const int64_t n : kLengths) {
    check(host_tensor({3, n}, kFloat, -20, 20), 1e-5);
    check(host_tensor({n, 5}, kDouble, -20, 20), 1e-12);
  }
}

TEST_CASE("Softmax of infinities and NaN is the CPU's", "[softmax][short]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor x = made_of({1, -kInfinity, 2, kInfinity, 1, 2, std::nan(""), 0, 1, -kInfinity,
                            -kInfinity, -kInfinity},
                           {4, 3}, kFloat)
                       .cpu();
  check_against_cpu(
      {x},
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0].softmax(1), in[0].log_softmax(1)};
      },
      1e-6);
}

TEST_CASE("Softmax into another dtype", "[softmax]") {
  check_against_cpu(
      {host_tensor({7, 65}, kHalf)},
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0].softmax(1, kFloat), in[0].log_softmax(0, kDouble)};
      },
      1e-6);
}
