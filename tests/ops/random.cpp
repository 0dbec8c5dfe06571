#include <algorithm>

#include <ebb/core/parallel.h>

#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {

double mean_of(const Doubles& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double deviation_of(const Doubles& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// What `fill` writes to a tensor of those sizes under seed 7.
template <typename F>
Tensor drawn(IntArrayRef sizes, ScalarType dtype, F&& fill) {
  Generator generator(get_default_device(), 7);
  const Tensor x = empty(sizes, dtype);
  fill(x, generator);
  return x;
}

}  // namespace

TEST_CASE("uniform numbers fill their range evenly and never reach its end") {
  for (const ScalarType dtype : kFloatDtypes) {
    INFO(dtype);
    const Doubles x =
        values(drawn({100'000}, dtype, [](const Tensor& t, Generator& g) { t.uniform_(0, 1, g); }));
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
    CHECK(*std::max_element(x.begin(), x.end()) < 1);
    CHECK(mean_of(x) == Approx(0.5).margin(0.01));
    CHECK(deviation_of(x) == Approx(std::sqrt(1.0 / 12)).margin(0.01));
  }
  const Doubles y =
      values(drawn({1000}, kDouble, [](const Tensor& t, Generator& g) { t.uniform_(-3, -2, g); }));
  CHECK(*std::max_element(y.begin(), y.end()) < -2);
}

TEST_CASE("normal numbers have their mean and deviation") {
  for (const ScalarType dtype : kFloatDtypes) {
    INFO(dtype);
    const Doubles x =
        values(drawn({100'001}, dtype, [](const Tensor& t, Generator& g) { t.normal_(2, 3, g); }));
    CHECK(mean_of(x) == Approx(2).margin(0.05));
    CHECK(deviation_of(x) == Approx(3).margin(0.05));
  }
}

TEST_CASE("random numbers do not depend on layout or threads, only on the logical index") {
  const int threads = get_num_threads();
  auto check = [&](ScalarType dtype, auto fill) {
    set_num_threads(1);
    const Tensor expected = drawn({301, 500}, dtype, fill);
    for (const int count : {2, 8}) {
      set_num_threads(count);
      CHECK(equal(drawn({301, 500}, dtype, fill), expected));
    }
    Generator generator(get_default_device(), 7);
    const Tensor transposed = empty({500, 301}, dtype).t();
    fill(transposed, generator);
    CHECK(equal(transposed, expected));
    generator = Generator(get_default_device(), 7);
    const Tensor sliced = empty({301, 1000}, dtype).slice(1, 0, 1000, 2);
    fill(sliced, generator);
    CHECK(equal(sliced, expected));
  };
  for (const ScalarType dtype : {kFloat, kDouble}) {
    check(dtype, [](const Tensor& t, Generator& g) { t.uniform_(0, 1, g); });
    check(dtype, [](const Tensor& t, Generator& g) { t.normal_(0, 1, g); });
    check(dtype, [](const Tensor& t, Generator& g) { t.bernoulli_(0.3, g); });
  }
  check(kInt64, [](const Tensor& t, Generator& g) { t.random_(-5, 100, g); });
  set_num_threads(threads);
}

TEST_CASE("each element is the draw that its index states") {
  Generator generator(get_default_device(), 11);
  generator.set_offset(3);
  const Tensor u = empty({50}), n = empty({50}), d = empty({50}, kDouble);
  u.uniform_(0, 1, generator);
  n.normal_(0, 1, generator);
  d.uniform_(0, 1, generator);
  const Tensor u_host = u.cpu(), n_host = n.cpu(), d_host = d.cpu();
  for (uint64_t i = 0; i < 50; ++i) {
    CHECK(u_host.data_ptr<float>()[i] == random::uniform_float(11, 3, i));
    CHECK(n_host.data_ptr<float>()[i] == Approx(random::normal_float(11, 16, i)).epsilon(1e-5));
    CHECK(d_host.data_ptr<double>()[i] == random::uniform_double(11, 29, i));
  }
  CHECK(generator.get_offset() == 54);
}

TEST_CASE("random integers keep their range in every dtype") {
  const Doubles x =
      values(drawn({10'000}, kInt32, [](const Tensor& t, Generator& g) { t.random_(-2, 3, g); }));
  for (const double wanted : {-2, -1, 0, 1, 2}) {
    CHECK(std::count(x.begin(), x.end(), wanted) > 1800);
  }
  for (const ScalarType dtype : kAllDtypes) {
    INFO(dtype);
    const Tensor y = drawn({1000}, dtype, [](const Tensor& t, Generator& g) { t.random_(g); });
    CHECK_FALSE((y < 0).any().item<bool>());
    CHECK_FALSE(isnan(y).any().item<bool>());
  }
  CHECK_THAT(error_of([] { empty({2}).random_(3, 3); }),
             ContainsSubstring("random_: ") && ContainsSubstring("from=3"));
  CHECK_THAT(error_of([] { empty({2}, kInt8).random_(0, 200); }), ContainsSubstring("Char"));
}

TEST_CASE("bernoulli_ and bernoulli draw ones with their probability") {
  const Tensor x =
      drawn({100'000}, kFloat, [](const Tensor& t, Generator& g) { t.bernoulli_(0.3, g); });
  CHECK(mean_of(values(x)) == Approx(0.3).margin(0.01));
  Generator generator(get_default_device(), 3);
  const Tensor p = of({0, 1, 0.5}, {3}).unsqueeze(1).expand({3, 20'000});
  const Tensor drawn_each = bernoulli(p, generator);
  CHECK(values(drawn_each.mean(1))[0] == 0);
  CHECK(values(drawn_each.mean(1))[1] == 1);
  CHECK(values(drawn_each.mean(1))[2] == Approx(0.5).margin(0.02));
  CHECK_THAT(error_of([] { bernoulli(full({1}, 1.5)); }), ContainsSubstring("p=1.5"));
  CHECK_THAT(error_of([] { empty({1}).bernoulli_(-1); }), ContainsSubstring("p=-1"));
}

TEST_CASE("wrong parameters and dtypes are errors that name the op") {
  CHECK_THAT(error_of([] { empty({1}, kInt64).uniform_(); }),
             ContainsSubstring("uniform_: ") && ContainsSubstring("Long"));
  CHECK_THAT(error_of([] { empty({1}, kInt64).normal_(); }), ContainsSubstring("normal_: "));
  CHECK_THAT(error_of([] { empty({1}).uniform_(1, 0); }), ContainsSubstring("from=1"));
  CHECK_THAT(error_of([] { empty({1}).normal_(0, -1); }), ContainsSubstring("std"));
  CHECK_THAT(error_of([] { dropout(ones({1}), 1.5, true); }),
             ContainsSubstring("dropout: ") && ContainsSubstring("1.5"));
}

TEST_CASE("dropout zeroes with probability p, scales the rest, and backward has the same mask") {
  const Tensor x = ones({100, 1000}, kDouble).requires_grad_();
  const Tensor y = dropout(x, 0.25, true);
  const Doubles kept = values(y);
  for (const double value : kept) REQUIRE((value == 0 || value == Approx(4.0 / 3)));
  CHECK(mean_of(kept) == Approx(1).margin(0.02));
  y.sum().backward();
  CHECK(values(x.grad()) == kept);
  CHECK_FALSE(equal(dropout(x, 0.25, true), y));
}

TEST_CASE("dropout does nothing in evaluation and leaves nothing at p = 1") {
  const Tensor x = ones({5});
  CHECK(dropout(x, 0.5, false).is_same(x));
  CHECK(dropout(x, 0, true).is_same(x));
  CHECK(values(dropout(x, 1, true)) == Doubles(5, 0));
}

TEST_CASE("dropout in place and of a transposed tensor draw by logical index") {
  const Tensor x = ones({40, 50});
  manual_seed(5);
  const Tensor expected = dropout(x, 0.5, true);
  manual_seed(5);
  CHECK(equal(dropout(ones({50, 40}).t(), 0.5, true), expected));
  manual_seed(5);
  const Tensor y = x.clone();
  CHECK(dropout_(y, 0.5, true).is_same(y));
  CHECK(equal(y, expected));
}

TEST_CASE("dropout is differentiable twice and saves nothing") {
  using Inputs = std::vector<Tensor>;
  auto fixed = [](const Inputs& in) {
    const GeneratorGuard guard(Generator(get_default_device(), 9));
    return dropout(in[0], 0.4, true) * in[0];
  };
  CHECK(testing::gradcheck(fixed, {leaf(spread(8, -1, 1), {8})}));
  CHECK(testing::gradgradcheck(fixed, {leaf(spread(8, -1, 1), {8})}));
}

TEST_CASE("random fills are refused on leaves that require grad") {
  const Tensor x = leaf({1, 2}, {2});
  CHECK(error_of([&] { x.normal_(); }) != "nothing was thrown");
  Tensor y = x * 2;
  y.uniform_();
  y.sum().backward();
  CHECK(values(x.grad()) == Doubles{0, 0});
}
