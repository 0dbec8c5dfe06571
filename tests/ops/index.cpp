#include "reduce_reference.h"

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The position of an element with the coordinate along `dim` replaced.
int64_t moved(IntArrayRef from, int64_t position, int64_t dim, int64_t index, IntArrayRef to) {
  int64_t result = 0;
  int64_t scale = 1;
  for (auto d = static_cast<int64_t>(from.size()) - 1; d >= 0; --d) {
    const auto at = static_cast<size_t>(d);
    result += (d == dim ? index : position % from[at]) * scale;
    scale *= to[at];
    position /= from[at];
  }
  return result;
}

Values gathered(const Tensor& x, int64_t dim, const Tensor& index) {
  const Values all = values(x);
  const Values indices = values(index);
  Values result;
  for (int64_t i = 0; i < index.numel(); ++i) {
    const auto at = static_cast<int64_t>(indices[static_cast<size_t>(i)]);
    result.push_back(all[static_cast<size_t>(moved(index.sizes(), i, dim, at, x.sizes()))]);
  }
  return result;
}

Values scattered(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, bool add) {
  Values all = values(x);
  const Values indices = values(index);
  const Values source = values(src);
  for (int64_t i = 0; i < index.numel(); ++i) {
    const auto at = static_cast<int64_t>(indices[static_cast<size_t>(i)]);
    double& element = all[static_cast<size_t>(moved(index.sizes(), i, dim, at, x.sizes()))];
    const int64_t from = moved(index.sizes(), i, -1, 0, src.sizes());
    element = (add ? element : 0) + source[static_cast<size_t>(from)];
  }
  return all;
}

}  // namespace

TEST_CASE("index_select picks slices along any dimension", "[index]") {
  for (const ScalarType dtype : {kDouble, kHalf, kUInt8, kLong, kBool}) {
    for (const Tensor& x : layouts(random_tensor({4, 5, 6}, dtype, 0, 9))) {
      for (const int64_t dim : {0, 1, 2}) {
        const Tensor index = random_indices({7}, x.size(dim));
        std::vector<Tensor> slices;
        for (const double i : values(index))
          slices.push_back(x.select(dim, static_cast<int64_t>(i)));
        const Tensor result = x.index_select(dim - 3, index);
        CHECK(result.dtype() == dtype);
        check_close(result, values(stack(slices, dim)), 0);
        check_close(x.index_select(dim, index.to(kInt)), values(result), 0);
      }
    }
  }
  const Tensor column = random_indices({3, 2}, 5).select(1, 0);
  check_close(arange(5, kDouble).index_select(0, column), values(column), 0);
}

TEST_CASE("gather reads and scatter writes where the index says", "[index]") {
  for (const Tensor& x : layouts(random_tensor({4, 5, 6}))) {
    for (const int64_t dim : {0, 1, 2}) {
      std::vector<int64_t> sizes = {3, 4, 5};
      sizes[static_cast<size_t>(dim)] = 8;
      const Tensor index = random_indices(sizes, x.size(dim));
      const Tensor src = random_tensor({9, 9, 9}, kDouble, -1, 1, 7);
      for (const Tensor& at : layouts(index)) {
        check_close(x.gather(dim, at), gathered(x, dim, at), 0);
        check_close(x.scatter(dim, at, src), scattered(x, dim, at, src, false), 0);
        check_close(x.scatter_add(dim, at, src), scattered(x, dim, at, src, true), 1e-14);
        check_close(x.scatter(dim, at, 3),
                    scattered(x, dim, at, full({9, 9, 9}, 3, kDouble), false), 0);
      }
    }
  }
}

TEST_CASE("Indexed writes in place change the tensor and its version", "[index]") {
  const Tensor x = zeros({3, 4});
  const Tensor index = made_of({0, 2, 1, 0}, {1, 4}, kLong);
  const Tensor src = made_of({1, 2, 3, 4}, {1, 4}, kFloat);
  const int64_t version = x._version();
  x.scatter_(0, index, src);
  check_close(x, {1, 0, 0, 4, 0, 0, 3, 0, 0, 2, 0, 0});
  x.scatter_add_(0, index, src);
  check_close(x, {2, 0, 0, 8, 0, 0, 6, 0, 0, 4, 0, 0});
  x.scatter_(0, index, 9);
  check_close(x, {9, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0});
  x.t().index_add_(0, made_of({1, 1}, {2}, kLong), full({2, 3}, 0.5), 2);
  check_close(x, {9, 2, 0, 9, 0, 2, 9, 0, 0, 11, 0, 0});
  CHECK(x._version() == version + 4);
}

TEST_CASE("index_add adds up equal indices in all dtypes", "[index]") {
  for (const ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16, kInt8, kInt, kLong, kUInt8}) {
    const Tensor x = made_of({1, 2, 3, 4}, {2, 2}, dtype);
    const Tensor source = made_of({1, 1, 2, 2, 3, 3}, {3, 2}, dtype);
    const Tensor index = made_of({1, 0, 1}, {3}, kLong);
    check_close(x.index_add(0, index, source), {3, 4, 7, 8});
    check_close(x.index_add(0, index, source, 2), {5, 6, 11, 12});
    check_close(x.index_add(1, index.slice(0, 0, 1), source.slice(0, 0, 2).slice(1, 0, 1)),
                {1, 3, 3, 6});
  }
  check_close(zeros({3}, kBool).index_add(0, made_of({2, 2}, {2}, kLong), ones({2}, kBool)),
              {0, 0, 1});
}

// A device reports an index when the host waits for it: here for the copy to the CPU.
TEST_CASE("Indices out of range are errors that name op, index and size", "[index]") {
  const Tensor x = zeros({3, 4});
  const auto index = [](double i) { return made_of({0, i}, {2}, kLong); };
  const auto grid = [](double i) { return made_of({0, i}, {1, 2}, kLong); };
  for (const double bad : {3.0, -1.0}) {
    CHECK_THROWS_AS(x.index_select(0, index(bad)).cpu(), IndexError);
    CHECK_THROWS_AS(x.gather(0, grid(bad)).cpu(), IndexError);
    CHECK_THROWS_AS(x.scatter(0, grid(bad), 1).cpu(), IndexError);
    CHECK_THROWS_AS(x.scatter_add_(0, grid(bad), ones({1, 2})).cpu(), IndexError);
    CHECK_THROWS_AS(x.index_add_(0, index(bad), ones({2, 4})).cpu(), IndexError);
  }
  CHECK_THROWS_WITH(x.gather(0, grid(7)).cpu(), ContainsSubstring("gather") &&
                                                    ContainsSubstring("7") &&
                                                    ContainsSubstring("size 3"));
  // The CPU writes nothing; a device, which finds the index while it writes, all but that one.
  if (x.is_cpu()) check_close(x, Values(12, 0));
}

TEST_CASE("Wrong shapes and dtypes of indexed ops are errors", "[index]") {
  const Tensor x = zeros({3, 4});
  const Tensor index = zeros({2, 2}, kLong);
  CHECK_THROWS_WITH(x.gather(0, zeros({2, 2}, kInt)), ContainsSubstring("Long"));
  CHECK_THROWS_WITH(x.gather(0, zeros({2}, kLong)), ContainsSubstring("dimensions"));
  CHECK_THROWS_WITH(x.gather(0, zeros({2, 5}, kLong)), ContainsSubstring("[2, 5]"));
  CHECK_THROWS_WITH(x.scatter(0, index, zeros({2, 2}, kDouble)), ContainsSubstring("Double"));
  CHECK_THROWS_WITH(x.scatter(0, index, zeros({1, 2})), ContainsSubstring("[1, 2]"));
  CHECK_THROWS_WITH(x.index_select(0, index), ContainsSubstring("vector"));
  CHECK_THROWS_WITH(x.index_select(0, zeros({2})), ContainsSubstring("Float"));
  CHECK_THROWS_WITH(x.index_add(0, zeros({2}, kLong), ones({2, 3})), ContainsSubstring("[2, 4]"));
  CHECK_THROWS_WITH(zeros({2}, kInt).index_add(0, zeros({1}, kLong), ones({1}, kInt), 0.5),
                    ContainsSubstring("alpha"));
  CHECK_THROWS_AS(x.index_select(2, zeros({1}, kLong)), IndexError);
  const Tensor expanded = zeros({1, 4}).expand({3, 4});
  CHECK_THROWS_AS(expanded.scatter_(0, index, 1), Error);
}

TEST_CASE("Empty indices read and write nothing", "[index]") {
  const Tensor x = random_tensor({3, 4});
  const Tensor none = zeros({0}, kLong);
  CHECK(x.index_select(1, none).sizes() == IntArrayRef({3, 0}));
  CHECK(x.gather(0, zeros({0, 4}, kLong)).sizes() == IntArrayRef({0, 4}));
  check_close(x.scatter(0, zeros({0, 4}, kLong), 1), values(x), 0);
  check_close(x.index_add(0, none, zeros({0, 4}, kDouble)), values(x), 0);
  CHECK(made_of({5}, {}).index_select(0, made_of({0}, {1}, kLong)).item<double>() == 5);
  CHECK(made_of({5}, {}).gather(0, made_of({0}, {}, kLong)).item<double>() == 5);
}

TEST_CASE("masked_select keeps row-major order and broadcasts", "[index]") {
  for (const Tensor& x : layouts(random_tensor({30, 40, 50}))) {
    const Tensor mask = x.gt(0.3);
    Values expected;
    for (const double v : values(x)) {
      if (v > 0.3) expected.push_back(v);
    }
    check_close(x.masked_select(mask), expected, 0);
  }
  const Tensor row = made_of({1, 0, 1}, {3}, kBool);
  check_close(made_of({1, 2, 3, 4, 5, 6}, {2, 3}, kInt).masked_select(row), {1, 3, 4, 6}, 0);
  CHECK(zeros({3}).masked_select(zeros({3}, kBool)).sizes() == IntArrayRef({0}));
  CHECK_THROWS_WITH(zeros({3}).masked_select(zeros({3})), ContainsSubstring("Bool"));
}

TEST_CASE("nonzero lists the indices of what is not zero", "[index]") {
  check_close(made_of({0, 0.25, 0, -1, 0, 2}, {2, 3}).nonzero(), {0, 1, 1, 0, 1, 2});
  check_close(made_of({0, 1, 1, 0, 0, 1}, {3, 2}, kBool).t().nonzero(), {0, 1, 1, 0, 1, 2});
  CHECK(zeros({2, 3}).nonzero().sizes() == IntArrayRef({0, 2}));
  CHECK(made_of({3}, {}).nonzero().sizes() == IntArrayRef({1, 0}));
  const Tensor large = random_tensor({123, 457}, kFloat).relu();
  CHECK(large.nonzero().size(0) == large.ne(0).sum().item<int64_t>());
  check_same_for_any_threads([&] { return large.nonzero(); });
}

TEST_CASE("one_hot marks each index", "[index]") {
  check_close(one_hot(made_of({1, 0, 2}, {3}, kLong)), {0, 1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(one_hot(zeros({2, 3}, kLong), 5).sizes() == IntArrayRef({2, 3, 5}));
  CHECK(one_hot(zeros({2, 3}, kLong), 5).sum().item<int64_t>() == 6);
  CHECK_THROWS_AS(one_hot(made_of({5}, {1}, kLong), 5).cpu(), IndexError);
  CHECK_THROWS_AS(one_hot(made_of({-2}, {1}, kLong), 5).cpu(), IndexError);
  CHECK_THROWS_WITH(one_hot(zeros({2})), ContainsSubstring("one_hot"));
}

TEST_CASE("Indexed sums give the same bits for any number of threads", "[index]") {
  const Tensor source = random_tensor({3000, 65}, kFloat);
  const Tensor index = random_indices({3000}, 10);
  check_same_for_any_threads([&] { return zeros({10, 65}).index_add(0, index, source); });
  const Tensor grid = random_indices({3000, 65}, 10);
  check_same_for_any_threads([&] { return zeros({10, 65}).scatter_add(0, grid, source); });
}

TEST_CASE("Reading and writing at indices has gradients", "[index][grad]") {
  const Tensor x = random_tensor({3, 4}).requires_grad_();
  const Tensor index = made_of({2, 0, 2}, {3}, kLong);
  const Tensor grid = made_of({2, 0, 1, 1, 2, 0}, {2, 3}, kLong);
  const Tensor src = random_tensor({2, 4}, kDouble, -1, 1, 3).requires_grad_();
  const Tensor rows = random_tensor({3, 4}, kDouble, -1, 1, 4).requires_grad_();
  CHECK(check_gradients([&](auto& in) { return in[0].index_select(0, index); }, {x}));
  CHECK(check_gradients([&](auto& in) { return in[0].index_select(1, index); }, {x}));
  CHECK(check_gradients([&](auto& in) { return in[0].gather(0, grid); }, {x}));
  CHECK(check_gradients([&](auto& in) { return in[0].gather(1, grid); }, {x}));
  CHECK(check_gradients([&](auto& in) { return in[0].scatter_add(0, grid, in[1]); }, {x, src}));
  CHECK(check_gradients([&](auto& in) { return in[0].scatter(0, grid, in[1]); }, {x, src}));
  CHECK(check_gradients([&](auto& in) { return in[0].scatter(1, grid, 2); }, {x}));
  CHECK(
      check_gradients([&](auto& in) { return in[0].index_add(0, index, in[1], 0.5); }, {x, rows}));
  CHECK(check_gradients([&](auto& in) { return in[0].mul(1).index_add_(0, index, in[1]); },
                        {x, rows}));
  CHECK(check_gradients([&](auto& in) { return in[0].mul(1).scatter_(0, grid, in[1]); }, {x, src}));
  CHECK(check_gradients([&](auto& in) { return in[0].mul(1).scatter_add_(0, grid, in[1]); },
                        {x, src}));
  const Tensor mask = random_tensor({3, 4}, kDouble, -1, 1, 5).gt(0);
  CHECK(check_gradients([&](auto& in) { return in[0].masked_select(mask); }, {x}));
  const Tensor row = random_tensor({4}, kDouble).requires_grad_();
  CHECK(check_gradients([&](auto& in) { return in[0].masked_select(mask); }, {row}));
}
