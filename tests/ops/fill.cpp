#include "ops/elementwise_support.h"

using namespace elementwise_tests;

TEST_CASE("fill_ writes any number to any dtype and layout") {
  for (const ScalarType dtype : kAllDtypes) {
    INFO(dtype);
    const Tensor x = empty({3, 4}, dtype);
    x.fill_(3);
    CHECK(values(x) == Doubles(12, dtype == kBool ? 1 : 3));
    x.t().select(0, 1).fill_(0);
    CHECK(values(x.select(1, 1)) == Doubles(3, 0));
    CHECK(values(x.select(1, 0)) == Doubles(3, dtype == kBool ? 1 : 3));
    ebb::zero_(x);
    CHECK(values(x) == Doubles(12, 0));
    CHECK(values(x.fill(2.5))[0] == (dtype == kBool ? 1 : is_floating_point(dtype) ? 2.5 : 2));
    CHECK(values(x) == Doubles(12, 0));
  }
}

TEST_CASE("a large tensor is filled to its end") {
  const Tensor x = empty({100'003});
  x.fill_(1.5);
  for (const double value : values(x)) REQUIRE(value == 1.5);
}

TEST_CASE("fill takes a tensor without dimensions as the value") {
  const Tensor x = zeros({2});
  const int64_t version = x._version();
  x.fill_(of({4}, {}, kInt64));
  CHECK(values(x) == Doubles{4, 4});
  CHECK(x._version() == version + 1);
  CHECK_THAT(error_of([&] { x.fill_(ones({1})); }),
             ContainsSubstring("fill_: ") && ContainsSubstring("[1]"));
  CHECK_THAT(error_of([&] { ones({1}).expand({2}).fill_(0); }), ContainsSubstring("fill_"));
}

TEST_CASE("what a fill overwrites gets no gradient, a tensor value the sum") {
  const Tensor x = leaf({1, 2, 3}, {3}), v = leaf({5}, {});
  Tensor y = x * 2;
  y.narrow(0, 0, 1).fill_(7);
  y.narrow(0, 2, 1).fill_(v);
  (y * y).sum().backward();
  CHECK(values(x.grad()) == Doubles{0, 16, 0});
  CHECK(values(v.grad()) == Doubles{10});
  const Tensor z = leaf({1}, {1});
  (z.fill(3) + ebb::zero(z)).sum().backward();
  CHECK(values(z.grad()) == Doubles{0});
}
