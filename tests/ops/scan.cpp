#include "reduce_reference.h"

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Running results along `dim` of a plain loop.
template <typename F>
Values scanned(const Tensor& x, int64_t dim, double start, F&& combine) {
  Values all = values(x);
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const int64_t n = x.size(dim);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double before = i / inner % n == 0 ? start : all[static_cast<size_t>(i - inner)];
    all[static_cast<size_t>(i)] = combine(before, all[static_cast<size_t>(i)]);
  }
  return all;
}

}  // namespace

TEST_CASE("Running sums and products agree with a plain loop", "[scan]") {
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{3, 4, 5}, {2, 1100, 3}, {70, 2, 130}}) {
    for (const Tensor& x : layouts(random_tensor(sizes, kDouble, 0.9, 1.1))) {
      for (const int64_t dim : {0, 1, 2}) {
        check_close(x.cumsum(dim), scanned(x, dim, 0, std::plus<>()), 1e-12);
        check_close(x.cumprod(dim - 3), scanned(x, dim, 1, std::multiplies<>()), 1e-12);
      }
    }
  }
}

TEST_CASE("Running sums of integers are int64 unless a dtype is given", "[scan]") {
  const Tensor x = made_of({100, 100, 100}, {3}, kUInt8);
  CHECK(x.cumsum(0).dtype() == kLong);
  check_close(x.cumsum(0), {100, 200, 300});
  CHECK(x.cumsum(0, kFloat).dtype() == kFloat);
  check_close(made_of({1, 0, 1}, {3}, kBool).cumsum(0), {1, 1, 2});
  check_close(made_of({1, 2, 3}, {3}, kHalf).cumprod(0), {1, 2, 6});
  CHECK(made_of({1, 2, 3}, {3}, kHalf).cumprod(0).dtype() == kHalf);
}

TEST_CASE("Running sums take empty tensors and ones without dimensions", "[scan]") {
  CHECK(zeros({2, 0, 3}).cumsum(1).sizes() == IntArrayRef({2, 0, 3}));
  CHECK(made_of({2}, {}).cumsum(0).item<double>() == 2);
  CHECK_THROWS_AS(zeros({2}).cumsum(1), IndexError);
  CHECK_THROWS_WITH(zeros({2}).cumprod(-2), ContainsSubstring("cumprod"));
}

TEST_CASE("Running sums give the same bits for any number of threads", "[scan]") {
  const Tensor x = random_tensor({40, 300, 50}, kFloat);
  for (const int64_t dim : {0, 1, 2}) check_same_for_any_threads([&] { return x.cumsum(dim); });
}

TEST_CASE("Running sums and products have gradients", "[scan][grad]") {
  const Tensor x = random_tensor({3, 4}, kDouble, 0.5, 1.5).requires_grad_();
  for (const int64_t dim : {0, 1}) {
    CHECK(check_gradients([&](auto& in) { return in[0].cumsum(dim); }, {x}));
    CHECK(check_gradients([&](auto& in) { return in[0].cumprod(dim); }, {x}));
  }
  for (const int zeros : {1, 2}) {
    Values elements = numbers(8, 0.5, 1.5);
    for (int i = 0; i < zeros; ++i) elements[static_cast<size_t>(1 + i)] = 0;
    const Tensor y = made_of(elements, {2, 4}).requires_grad_();
    CHECK(check_gradients([&](auto& in) { return in[0].cumprod(1); }, {y}));
    CHECK(check_gradients([&](auto& in) { return in[0].cumprod(0); }, {y}));
  }
}
