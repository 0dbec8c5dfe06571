#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("comparisons give bool in every dtype, with tensors and numbers") {
  for (const ScalarType dtype : kAllDtypes) {
    if (dtype == kBool) continue;
    INFO(dtype);
    const Tensor a = of({1, 2, 3}, {3}, dtype), b = of({3, 2, 1}, {3}, dtype);
    CHECK((a == b).scalar_type() == kBool);
    CHECK(values(a == b) == Doubles{0, 1, 0});
    CHECK(values(a != b) == Doubles{1, 0, 1});
    CHECK(values(a < b) == Doubles{1, 0, 0});
    CHECK(values(a <= b) == Doubles{1, 1, 0});
    CHECK(values(a > b) == Doubles{0, 0, 1});
    CHECK(values(a >= b) == Doubles{0, 1, 1});
    CHECK(values(a > 1) == Doubles{0, 1, 1});
    CHECK(values(2 > a) == Doubles{1, 0, 0});
    CHECK(values(a.unsqueeze(1) == b).size() == 9);
  }
}

TEST_CASE("NaN compares as in C++, and integers compare exactly") {
  const Tensor x = of({kNan, 1}, {2});
  CHECK(values(x == x) == Doubles{0, 1});
  CHECK(values(x != x) == Doubles{1, 0});
  CHECK(values(x < 2) == Doubles{0, 1});
  const Tensor n = full({1}, 9007199254740993, kInt64);
  CHECK_FALSE((n == full({1}, 9007199254740992, kInt64)).item<bool>());
  CHECK((of({200}, {1}, kUInt8) > of({-1}, {1}, kInt8)).item<bool>());
  CHECK((of({1}, {1}, kInt64) < 1.5).item<bool>());
}

TEST_CASE("comparisons in place write 0 and 1 in the dtype of the tensor") {
  const Tensor x = of({1, 2, 3}, {3}, kFloat);
  x.gt_(1);
  CHECK(x.scalar_type() == kFloat);
  CHECK(values(x) == Doubles{0, 1, 1});
  x.eq_(of({0, 0, 1}, {3}, kInt64));
  CHECK(values(x) == Doubles{1, 0, 1});
  const Tensor y = leaf({1, 2}, {2});
  Tensor z = y * 3;
  z.ge_(4);
  z.sum().backward();
  CHECK(values(y.grad()) == Doubles{0, 0});
}

TEST_CASE("logical ops take any dtype, bitwise ops integers and bools") {
  const Tensor a = of({0, 0, 2, kNan}, {4}), b = of({0, 3, 0, 1}, {4});
  CHECK(values(logical_and(a, b)) == Doubles{0, 0, 0, 1});
  CHECK(values(logical_or(a, b)) == Doubles{0, 1, 1, 1});
  CHECK(values(logical_xor(a, b)) == Doubles{0, 1, 1, 0});
  CHECK(values(logical_and(of({1}, {1}, kInt32), of({0.5}, {1}))) == Doubles{1});
  const Tensor n = of({6, -1}, {2}, kInt16), m = of({3, 8}, {2}, kInt16);
  CHECK(values(n & m) == Doubles{2, 8});
  CHECK(values(n | m) == Doubles{7, -1});
  CHECK(values(n ^ 3) == Doubles{5, -4});
  CHECK((n & m).scalar_type() == kInt16);
  const Tensor p = of({1, 1, 0}, {3}, kBool), q = of({1, 0, 0}, {3}, kBool);
  CHECK(values(p & q) == Doubles{1, 0, 0});
  CHECK(values(p ^ q) == Doubles{0, 1, 0});
  CHECK((p | q).scalar_type() == kBool);
  p.bitwise_and_(q);
  CHECK(values(p) == Doubles{1, 0, 0});
  CHECK_THAT(error_of([&] { a& b; }),
             ContainsSubstring("bitwise_and: ") && ContainsSubstring("Double"));
}

TEST_CASE("equal wants the same sizes and elements") {
  CHECK(equal(ones({2, 3}), ones({2, 3})));
  CHECK(equal(ones({3, 2}).t(), ones({2, 3})));
  CHECK_FALSE(equal(ones({2, 3}), ones({3, 2})));
  CHECK_FALSE(equal(ones({2}), of({1, 2}, {2}, kFloat)));
  CHECK_THAT(error_of([] { equal(ones({2}), ones({2}, kInt64)); }),
             ContainsSubstring("equal: ") && ContainsSubstring("Long"));
}

TEST_CASE("isclose bounds the difference by both tolerances") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor a = of({1, 1, 1e-9, infinity, infinity, kNan}, {6});
  const Tensor b = of({1 + 1e-6, 1.1, 0, infinity, -infinity, kNan}, {6});
  CHECK(values(isclose(a, b)) == Doubles{1, 0, 1, 1, 0, 0});
  CHECK(values(isclose(a, b, 0.2, 0, true)) == Doubles{1, 1, 0, 1, 0, 1});
  CHECK(allclose(a.narrow(0, 0, 1), b.narrow(0, 0, 1)));
  CHECK_FALSE(allclose(a, b));
  CHECK(values(isclose(of({3, 4}, {2}, kInt64), of({3, 5}, {2}, kInt64))) == Doubles{1, 0});
  CHECK_THAT(error_of([&] { isclose(a, b, -1); }), ContainsSubstring("negative"));
}
