#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An op of one tensor with what it should give, and a range where float suffices to compare.
struct Case {
  const char* name;
  Tensor (*op)(const Tensor&);
  const Tensor& (*in_place)(const Tensor&);
  double (*reference)(double);
  double low;
  double high;
};

double rsqrt_of(double x) { return 1 / std::sqrt(x); }
double square_of(double x) { return x * x; }
double reciprocal_of(double x) { return 1 / x; }
double negative_of(double x) { return -x; }
double sign_of(double x) { return (x > 0) - (x < 0); }
double round_of(double x) { return std::nearbyint(x); }

// Ops that turn integers into floating-point numbers.
const Case kOfFloatingDtype[] = {
    {"exp", ebb::exp, exp_, std::exp, -5, 5},
    {"expm1", ebb::expm1, expm1_, std::expm1, -2, 3},
    {"log", ebb::log, log_, std::log, 0.1, 9},
    {"log2", ebb::log2, log2_, std::log2, 0.1, 9},
    {"log10", ebb::log10, log10_, std::log10, 0.1, 9},
    {"log1p", ebb::log1p, log1p_, std::log1p, -0.5, 9},
    {"sqrt", ebb::sqrt, sqrt_, std::sqrt, 0.25, 9},
    {"rsqrt", rsqrt, rsqrt_, rsqrt_of, 0.25, 9},
    {"reciprocal", reciprocal, reciprocal_, reciprocal_of, 0.25, 9},
    {"sin", ebb::sin, sin_, std::sin, -3, 3},
    {"cos", ebb::cos, cos_, std::cos, -3, 3},
    {"tan", ebb::tan, tan_, std::tan, -1, 1},
    {"erf", ebb::erf, erf_, std::erf, -3, 3},
    {"tanh", ebb::tanh, tanh_, std::tanh, -3, 3},
    {"asin", ebb::asin, asin_, std::asin, -0.9, 0.9},
    {"acos", ebb::acos, acos_, std::acos, -0.9, 0.9},
    {"atan", ebb::atan, atan_, std::atan, -3, 3},
    {"sinh", ebb::sinh, sinh_, std::sinh, -3, 3},
    {"cosh", ebb::cosh, cosh_, std::cosh, -3, 3},
    {"asinh", ebb::asinh, asinh_, std::asinh, -3, 3},
    {"acosh", ebb::acosh, acosh_, std::acosh, 1.1, 9},
    {"atanh", ebb::atanh, atanh_, std::atanh, -0.9, 0.9},
    {"erfc", ebb::erfc, erfc_, std::erfc, -3, 2},
    {"exp2", ebb::exp2, exp2_, std::exp2, -5, 5},
};

// Ops that keep integers.
const Case kOfSameDtype[] = {
    {"neg", neg, neg_, negative_of, -9, 9},
    {"abs", ebb::abs, abs_, std::fabs, -9, 9},
    {"square", square, square_, square_of, -9, 9},
    {"floor", ebb::floor, floor_, std::floor, -9, 9},
    {"ceil", ebb::ceil, ceil_, std::ceil, -9, 9},
    {"round", ebb::round, round_, round_of, -9, 9},
    {"trunc", ebb::trunc, trunc_, std::trunc, -9, 9},
    {"sign", sign, sign_, sign_of, -9, 9},
};

void check_floating_dtypes(const Case& c) {
  for (const ScalarType dtype : kFloatDtypes) {
    INFO(c.name << " of " << dtype);
    const Tensor x = of(spread(24, c.low, c.high), {4, 6}, dtype);
    const Doubles expected = map(values(x), c.reference);
    const Tensor y = c.op(x);
    CHECK(y.scalar_type() == dtype);
    CHECK(y.sizes() == x.sizes());
    check_values(y, expected, 2);
    check_values(c.op(x.t()), values(y.t()), 0.5);
    check_values(c.op(x.slice(1, 1, 6, 2)), values(y.slice(1, 1, 6, 2)), 0.5);
    const Tensor z = x.clone();
    const int64_t version = z._version();
    CHECK(c.in_place(z).is_same(z));
    CHECK(z._version() == version + 1);
    check_values(z, values(y), 0.5);
    CHECK(c.op(of({c.high}, {}, dtype)).dim() == 0);
    CHECK(c.op(empty({0, 3}, dtype)).sizes() == IntArrayRef({0, 3}));
  }
}

}  // namespace

TEST_CASE("each op of one tensor agrees with the standard library in every floating dtype") {
  for (const Case& c : kOfFloatingDtype) check_floating_dtypes(c);
  for (const Case& c : kOfSameDtype) check_floating_dtypes(c);
}

TEST_CASE("floating-point functions of integers give the default dtype") {
  for (const Case& c : kOfFloatingDtype) {
    for (const ScalarType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool}) {
      INFO(c.name << " of " << dtype);
      const Tensor x = of({0, 1, 1}, {3}, dtype);
      const Tensor y = c.op(x);
      CHECK(y.scalar_type() == kFloat);
      check_values(y, map(values(x), c.reference), 2);
      CHECK_THAT(error_of([&] { c.in_place(x); }),
                 ContainsSubstring(std::string(c.name) + "_") &&
                     ContainsSubstring("result type Float can't be cast to"));
    }
  }
}

TEST_CASE("arithmetic of integers stays in their dtype and wraps around") {
  for (const Case& c : kOfSameDtype) {
    for (const ScalarType dtype : {kInt8, kInt16, kInt32, kInt64}) {
      INFO(c.name << " of " << dtype);
      const Tensor x = of({-3, 0, 2, 7}, {4}, dtype);
      const Tensor y = c.op(x);
      CHECK(y.scalar_type() == dtype);
      check_values(y, map(values(x), c.reference));
    }
  }
  CHECK(values(neg(of({1, 200}, {2}, kUInt8))) == Doubles{255, 56});
  CHECK(values(square(of({100}, {1}, kInt8))) == Doubles{16});
  const Tensor least = full({1}, INT64_MIN, kInt64);
  CHECK(neg(least).item<int64_t>() == INT64_MIN);
  CHECK(ebb::abs(least).item<int64_t>() == INT64_MIN);
}

TEST_CASE("infinities, NaN and zeros go through floats as the standard library has them") {
  const Doubles edges = {0.0, -0.0, kInfinity, -kInfinity, kNan, 1e-40, -1e-40, 3e38};
  for (const Case& c : kOfFloatingDtype) {
    if (c.reference == static_cast<double (*)(double)>(std::tan)) continue;  // of 3e38
    INFO(c.name);
    const Tensor x = of(edges, {8}, kFloat);
    check_values(c.op(x),
                 map(map(values(x), c.reference),
                     [](double y) { return static_cast<double>(static_cast<float>(y)); }),
                 4);
  }
  CHECK(std::signbit(ebb::tanh(of({-0.0}, {}, kFloat)).item<double>()));
  CHECK(std::signbit(ebb::erf(of({-0.0}, {}, kFloat)).item<double>()));
}

TEST_CASE("predicates give bool") {
  const Doubles edges = {0, kInfinity, -kInfinity, kNan, 1};
  for (const ScalarType dtype : kFloatDtypes) {
    const Tensor x = of(edges, {5}, dtype);
    CHECK(isnan(x).scalar_type() == kBool);
    CHECK(values(isnan(x)) == Doubles{0, 0, 0, 1, 0});
    CHECK(values(isinf(x)) == Doubles{0, 1, 1, 0, 0});
    CHECK(values(isfinite(x)) == Doubles{1, 0, 0, 0, 1});
    CHECK(values(logical_not(x)) == Doubles{1, 0, 0, 0, 0});
  }
  const Tensor n = of({0, 5}, {2}, kInt32);
  CHECK(values(isnan(n)) == Doubles{0, 0});
  CHECK(values(isfinite(n)) == Doubles{1, 1});
  CHECK(values(logical_not(n)) == Doubles{1, 0});
  const Tensor x = of({0, 3}, {2}, kFloat);
  logical_not_(x);
  CHECK(x.scalar_type() == kFloat);
  CHECK(values(x) == Doubles{1, 0});
}

TEST_CASE("bitwise_not turns bits and bools round, and refuses floats") {
  CHECK(values(bitwise_not(of({0, 5, -1}, {3}, kInt32))) == Doubles{-1, -6, 0});
  CHECK(values(bitwise_not(of({0, 5}, {2}, kUInt8))) == Doubles{255, 250});
  const Tensor mask = of({0, 1}, {2}, kBool);
  CHECK(values(~mask) == Doubles{1, 0});
  CHECK((~mask).scalar_type() == kBool);
  bitwise_not_(mask);
  CHECK(values(mask) == Doubles{1, 0});
  CHECK_THAT(error_of([] { bitwise_not(ones({2})); }),
             ContainsSubstring("bitwise_not") && ContainsSubstring("Float"));
}

TEST_CASE("negation of a bool tensor is an error that says what to use") {
  CHECK_THAT(error_of([] { neg(zeros({2}, kBool)); }),
             ContainsSubstring("neg: ") && ContainsSubstring("logical_not"));
}

TEST_CASE("a large tensor gives the same on several threads") {
  const int64_t n = 300'000;
  const Tensor x = of(spread(n, -4, 4), {n}, kFloat);
  check_values(ebb::exp(x), map(values(x), [](double v) { return std::exp(v); }), 2);
  check_values(ebb::exp(x.view({300, 1000}).t()), values(ebb::exp(x).view({300, 1000}).t()), 0.5);
}

TEST_CASE("the gradient of each op of one tensor is right to second order") {
  for (const auto& list : {std::vector<Case>(std::begin(kOfFloatingDtype), std::end(kOfFloatingDtype)),
                           std::vector<Case>(std::begin(kOfSameDtype), std::end(kOfSameDtype))}) {
    for (const Case& c : list) {
      INFO(c.name);
      // Not at the jumps and kinks of abs, sign and rounding.
      const Doubles x = map(spread(6, c.low + 0.07, c.high - 0.06), [](double v) { return v; });
      auto fresh = [&](const std::vector<Tensor>& in) { return c.op(in[0]); };
      auto in_place = [&](const std::vector<Tensor>& in) {
        Tensor copy = in[0] * 1;
        c.in_place(copy);
        return copy;
      };
      CHECK(testing::gradcheck(fresh, {leaf(x, {2, 3})}));
      CHECK(testing::gradgradcheck(fresh, {leaf(x, {2, 3})}));
      CHECK(testing::gradcheck(in_place, {leaf(x, {2, 3})}));
    }
  }
}
