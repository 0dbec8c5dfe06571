#include "reduce_reference.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

/// The order of a line: NaN counts as the largest, equal elements keep their order.
std::vector<size_t> order_of(const Values& x, bool descending) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return descending ? less(x[b], x[a]) : less(x[a], x[b]);
  });
  return order;
}

void check_sorted(const Tensor& x, int64_t dim, bool descending, int64_t k,
                  const std::tuple<Tensor, Tensor>& result) {
  const auto lines = groups(x, {dim});
  const auto value_lines = groups(std::get<0>(result), {dim});
  const auto index_lines = groups(std::get<1>(result), {dim});
  REQUIRE(value_lines.size() == lines.size());
  for (size_t line = 0; line < lines.size(); ++line) {
    const auto order = order_of(lines[line], descending);
    REQUIRE(value_lines[line].size() == static_cast<size_t>(k));
    for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
      REQUIRE(same(value_lines[line][i], lines[line][order[i]], 0));
      REQUIRE(index_lines[line][i] == static_cast<double>(order[i]));
    }
  }
}

}  // namespace

TEST_CASE("Sorting orders each line and keeps the order of equal elements", "[sort]") {
  for (const ScalarType dtype : {kDouble, kFloat, kHalf, kInt, kUInt8, kBool}) {
    const double high = dtype == kBool ? 2 : 20;
    const Tensor x = made_of(values(random_tensor({5, 40, 3}, kLong, 0, high)), {5, 40, 3}, dtype);
    for (const Tensor& input : layouts(x)) {
      for (const int64_t dim : {0, 1, 2}) {
        for (const bool descending : {false, true}) {
          check_sorted(input, dim, descending, input.size(dim), input.sort(dim, descending));
          CHECK(equal(input.argsort(dim, descending), std::get<1>(input.sort(dim, descending))));
        }
      }
    }
    CHECK(std::get<0>(x.sort()).dtype() == dtype);
    CHECK(std::get<1>(x.sort()).dtype() == kLong);
  }
}

TEST_CASE("topk gives the first elements of sort", "[sort]") {
  const Tensor x = random_tensor({4, 100, 3}, kLong, 0, 50);
  for (const int64_t k : {0, 1, 3, 40, 100}) {
    for (const bool largest : {true, false}) {
      check_sorted(x, 1, largest, k, x.topk(k, 1, largest));
    }
  }
  CHECK(std::get<0>(x.topk(2)).sizes() == IntArrayRef({4, 100, 2}));
}

TEST_CASE("NaN counts as the largest element", "[sort]") {
  const Tensor x = made_of({1, kNan, -2, kNan, 5}, {5});
  check_close(std::get<1>(x.sort()), {2, 0, 4, 1, 3});
  check_close(std::get<1>(x.sort(0, true)), {1, 3, 4, 0, 2});
  check_close(std::get<1>(x.topk(1)), {1});
}

TEST_CASE("Sorting takes empty tensors and ones without dimensions", "[sort]") {
  CHECK(std::get<0>(zeros({2, 0}).sort()).sizes() == IntArrayRef({2, 0}));
  const auto [values_, indices] = made_of({3}, {}).sort();
  CHECK(values_.item<double>() == 3);
  CHECK(indices.item<int64_t>() == 0);
  CHECK(std::get<0>(made_of({3}, {}).topk(1)).item<double>() == 3);
}

TEST_CASE("topk of more elements than there are is an error", "[sort]") {
  CHECK_THROWS_WITH(zeros({2, 3}).topk(4),
                    ContainsSubstring("topk") && ContainsSubstring("[2, 3]"));
  CHECK_THROWS_AS(zeros({2, 3}).sort(2), IndexError);
}

TEST_CASE("Sorting gives the same for any number of threads", "[sort]") {
  const Tensor x = random_tensor({50, 700}, kLong, 0, 90);
  check_same_for_any_threads([&] { return std::get<1>(x.sort(0)); });
  check_same_for_any_threads([&] { return std::get<1>(x.topk(9, 1)); });
}

TEST_CASE("Sorted elements have gradients", "[sort][grad]") {
  const Tensor x = random_tensor({3, 5}).requires_grad_();
  CHECK(check_gradients([](auto& in) { return std::get<0>(in[0].sort(0)); }, {x}));
  CHECK(check_gradients([](auto& in) { return std::get<0>(in[0].sort(-1, true)); }, {x}));
  CHECK(check_gradients([](auto& in) { return std::get<0>(in[0].topk(2, 1)); }, {x}));
  CHECK_FALSE(std::get<1>(x.sort()).requires_grad());
}
