#include "reduce_reference.h"

#include <algorithm>
#include <limits>

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Softmax or its logarithm along `dim` by a plain loop.
Values reference(const Tensor& x, int64_t dim, bool log) {
  Values result(static_cast<size_t>(x.numel()));
  std::vector<double> largest, sums;
  for (const Values& line : groups(x, {dim})) {
    largest.push_back(*std::max_element(line.begin(), line.end()));
    sums.push_back(0);
    for (const double v : line) sums.back() += std::exp(v - largest.back());
  }
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const Values all = values(x);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto line = static_cast<size_t>(i / (inner * x.size(dim)) * inner + i % inner);
    const double z = all[static_cast<size_t>(i)] - largest[line];
    result[static_cast<size_t>(i)] = log ? z - std::log(sums[line]) : std::exp(z) / sums[line];
  }
  return result;
}

}  // namespace

TEST_CASE("Softmax agrees with a plain loop along any dimension", "[softmax]") {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {3, 4, 5}, {2, 5000, 1}, {2, 37, 150}, {300, 2, 3}, {1, 1, 9000}}) {
    for (const ScalarType dtype : {kDouble, kFloat}) {
      const double tolerance = dtype == kDouble ? 1e-13 : 3e-6;
      for (const Tensor& x : layouts(random_tensor(sizes, dtype, -9, 9))) {
        for (const int64_t dim : {0, 1, 2}) {
          check_close(x.softmax(dim), reference(x, dim, false), tolerance);
          check_close(x.log_softmax(dim - 3), reference(x, dim, true), tolerance);
        }
      }
    }
  }
}

TEST_CASE("Softmax does not overflow", "[softmax]") {
  const Tensor x = made_of({1e30, 1e30, -1e30}, {3}, kFloat);
  check_close(x.softmax(0), {0.5, 0.5, 0}, 1e-7);
  const Tensor masked = made_of({-kInf, 2, -kInf, 2}, {4}, kFloat);
  check_close(masked.softmax(0), {0, 0.5, 0, 0.5}, 1e-7);
  check_close(masked.log_softmax(0), {-kInf, std::log(0.5), -kInf, std::log(0.5)}, 1e-6);
}

TEST_CASE("A line of nothing but -inf gives NaN", "[softmax]") {
  const Tensor x = full({2, 3}, -kInf, kFloat);
  for (const int64_t dim : {0, 1}) {
    CHECK(x.softmax(dim).isnan().all().item<bool>());
    CHECK(x.log_softmax(dim).isnan().all().item<bool>());
  }
}

TEST_CASE("Softmax of 16-bit floats is computed in float32", "[softmax]") {
  const Tensor x = random_tensor({20, 30}, kHalf, -5, 5);
  CHECK(x.softmax(1).dtype() == kHalf);
  check_close(x.softmax(1), reference(x, 1, false), 1e-3);
  check_close(x.softmax(0), reference(x, 0, false), 1e-3);
  CHECK(x.softmax(1, kFloat).dtype() == kFloat);
  check_close(x.softmax(1, kFloat), reference(x, 1, false), 1e-6);
  check_close(x.to(kBFloat16).log_softmax(0), reference(x.to(kBFloat16), 0, true), 3e-2);
}

TEST_CASE("Softmax takes empty tensors and ones without dimensions", "[softmax]") {
  CHECK(zeros({0, 3}).softmax(1).sizes() == IntArrayRef({0, 3}));
  CHECK(made_of({7}, {}).softmax(0).item<double>() == 1);
  CHECK(made_of({7}, {}).log_softmax(-1).item<double>() == 0);
}

TEST_CASE("Softmax of integers is an error unless a dtype is given", "[softmax]") {
  CHECK_THROWS_WITH(zeros({3}, kLong).softmax(0),
                    ContainsSubstring("softmax") && ContainsSubstring("Long"));
  CHECK(zeros({2}, kLong).softmax(0, kFloat)[0].item<float>() == 0.5f);
  CHECK_THROWS_AS(zeros({3}).softmax(1), IndexError);
}

TEST_CASE("Softmax gives the same bits for any number of threads", "[softmax]") {
  const Tensor x = random_tensor({100, 300, 5}, kFloat, -5, 5);
  for (const int64_t dim : {0, 1, 2}) {
    check_same_for_any_threads([&] { return x.softmax(dim); });
    check_same_for_any_threads([&] { return log_softmax_backward(x, x, dim); });
  }
}

TEST_CASE("Softmax allocates its result alone", "[softmax]") {
  const Tensor x = random_tensor({64, 256}, kFloat);
  CHECK(measure([&] { return x.softmax(1); }).peak_bytes == 64 * 256 * 4);
  CHECK(measure([&] { return x.log_softmax(0); }).peak_bytes == 64 * 256 * 4);
}

TEST_CASE("Softmax has gradients to any order", "[softmax][grad]") {
  const Tensor x = random_tensor({3, 4, 2}).requires_grad_();
  for (const int64_t dim : {0, 1, 2}) {
    CHECK(check_gradients([&](auto& in) { return in[0].softmax(dim); }, {x}));
    CHECK(check_gradients([&](auto& in) { return in[0].log_softmax(dim); }, {x}));
  }
  const Tensor g = random_tensor({3, 4}, kDouble, -1, 1, 2).requires_grad_();
  const Tensor y = random_tensor({3, 4}, kDouble, -1, 1, 3).requires_grad_();
  for (const int64_t dim : {0, 1}) {
    CHECK(check_gradients([&](auto& in) { return softmax_backward(in[0], in[1], dim); }, {g, y}));
    CHECK(
        check_gradients([&](auto& in) { return log_softmax_backward(in[0], in[1], dim); }, {g, y}));
  }
}
