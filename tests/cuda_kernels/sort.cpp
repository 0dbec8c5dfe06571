#include "against_cpu.h"

using namespace kernel_tests;

namespace {

std::vector<Tensor> sorts(const std::vector<Tensor>& in, int64_t dim, int64_t k) {
  const auto [up, up_indices] = in[0].sort(dim);
  const auto [down, down_indices] = in[0].sort(dim, true);
  const auto [most, most_indices] = in[0].topk(k, dim);
  const auto [least, least_indices] = in[0].topk(k, dim, false);
  return {up,           up_indices, down,          down_indices,      most,
          most_indices, least,      least_indices, in[0].argsort(dim)};
}

void check(const Tensor& x) {
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    const int64_t k = (x.size(dim) + 2) / 3;
    INFO("dimension " << dim << " of sizes " << x.sizes() << ", " << x.scalar_type());
    check_against_cpu(
        {x}, [&](const std::vector<Tensor>& in) { return sorts(in, dim, k); }, 0);
  }
}

}  // namespace

TEST_CASE("Sorting on the device is the CPU's for each dtype, equals in their order", "[sort]") {
  for (const ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kInt16, kInt8, kUInt8, kBool}) {
    // Few different numbers: most are equal to some other.
    Tensor x = host_tensor({4, 3, 37}, kInt, -5, 6).to(dtype);
    check(x);
  }
  check(host_tensor({3, 0}, kFloat));
}

TEST_CASE("Lines around the size of a tile are sorted, and merged from tiles", "[sort]") {
  for (const int64_t n : kLengths) check(host_tensor({3, n}, kFloat));
  check(host_tensor({5000}, kDouble));
  check(host_tensor({2, 4097}, kInt, -1000, 1000));
  check(host_tensor({2049, 3}, kLong, -1000, 1000));
}

TEST_CASE("NaN is the largest, zeros are equal, infinities have their place", "[sort][short]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Values elements = {0.0, std::nan(""), -0.0, kInfinity, -kInfinity,
                           1,   std::nan(""), -1,   0.0};
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    check(made_of(elements, {9}, dtype).cpu());
  }
  const auto extremes = made_of({-9223372036854775808.0, 0, 9223372036854774784.0, -1}, {4}, kLong);
  check(extremes.cpu());
}

TEST_CASE("topk of a long line takes few", "[sort]") {
  const Tensor x = host_tensor({2, 9000}, kFloat);
  for (const int64_t k : {1, 5, 1024, 1500, 9000}) {
    check_against_cpu(
        {x},
        [&](const std::vector<Tensor>& in) {
          const auto [values, indices] = in[0].topk(k, 1);
          return std::vector<Tensor>{values, indices};
        },
        0);
  }
}
