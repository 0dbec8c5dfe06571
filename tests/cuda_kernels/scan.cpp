#include "against_cpu.h"

using namespace kernel_tests;

namespace {

std::vector<Tensor> scans(const std::vector<Tensor>& in, int64_t dim) {
  return {in[0].cumsum(dim), in[0].cumprod(dim)};
}

void check(const Tensor& x, double tolerance) {
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    INFO("dimension " << dim << " of sizes " << x.sizes() << ", " << x.scalar_type());
    check_against_cpu(
        {x}, [&](const std::vector<Tensor>& in) { return scans(in, dim); }, tolerance);
  }
}

}  // namespace

TEST_CASE("Running sums and products on the device are the CPU's, for each dtype", "[scan]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kUInt8, kBool}) {
    check(host_tensor({4, 3, 37}, dtype, is_floating_point(dtype) ? -1.2 : 0, 2),
          4 * tolerance_of(dtype));
  }
  check(host_tensor({3, 0}, kFloat), 0);
}

TEST_CASE("Scans take lines of lengths around tiles, and cut long ones", "[scan][short]") {
  for (const int64_t n : kLengths) {
    check(host_tensor({3, n}, kLong, -9, 9), 0);
    check(host_tensor({n, 5}, kDouble, -1, 1), 1e-12);
  }
  check(host_tensor({1, 8193}, kLong, -9, 9), 0);
  check(host_tensor({2, 20001}, kDouble, -1, 1), 1e-11);
  check(host_tensor({129, 2, 2}, kLong, -9, 9), 0);
}
