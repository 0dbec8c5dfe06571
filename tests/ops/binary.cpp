#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Inputs = std::vector<Tensor>;

struct Case {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};

double floor_mod(double a, double b) { return a - b * std::floor(a / b); }

const Case kCases[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return a + b; },
     [](double a, double b) { return a + b; }},
    {"sub", [](const Tensor& a, const Tensor& b) { return a - b; },
     [](double a, double b) { return a - b; }},
    {"rsub", [](const Tensor& a, const Tensor& b) { return rsub(a, b, 2); },
     [](double a, double b) { return b - 2 * a; }},
    {"mul", [](const Tensor& a, const Tensor& b) { return a * b; },
     [](double a, double b) { return a * b; }},
    {"floor_divide", [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); },
     [](double a, double b) { return std::floor(a / b); }},
    {"div_trunc", [](const Tensor& a, const Tensor& b) { return div_trunc(a, b); },
     [](double a, double b) { return std::trunc(a / b); }},
    {"remainder", [](const Tensor& a, const Tensor& b) { return a % b; }, floor_mod},
    {"fmod", [](const Tensor& a, const Tensor& b) { return fmod(a, b); },
     [](double a, double b) { return std::fmod(a, b); }},
    {"fmax", [](const Tensor& a, const Tensor& b) { return fmax(a, b); },
     [](double a, double b) { return std::fmax(a, b); }},
    {"fmin", [](const Tensor& a, const Tensor& b) { return fmin(a, b); },
     [](double a, double b) { return std::fmin(a, b); }},
    {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
     [](double a, double b) { return a > b ? a : b; }},
    {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
     [](double a, double b) { return a < b ? a : b; }},
};

Doubles map2(const Doubles& a, const Doubles& b, double (*f)(double, double)) {
  Doubles result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(f(a[i], b[i]));
  return result;
}

/// The values broadcast to `sizes`.
Doubles expanded(const Tensor& x, IntArrayRef sizes) { return values(x.broadcast_to(sizes)); }

}  // namespace

TEST_CASE("arithmetic of two tensors agrees with plain loops in every dtype") {
  for (const Case& c : kCases) {
    for (const ScalarType dtype : kAllDtypes) {
      if (dtype == kBool) continue;
      INFO(c.name << " of " << dtype);
      const bool is_unsigned = dtype == kUInt8;
      if (is_unsigned && std::string(c.name).find("sub") != std::string::npos) continue;
      const Doubles numbers =
          is_unsigned ? Doubles{5, 3, 0, 9, 12, 1} : Doubles{5, -3, 0, 9, -7, 1};
      const Doubles others = is_unsigned ? Doubles{2, 5, 7, 3, 4, 1} : Doubles{2, -5, 7, -3, 4, 1};
      const Tensor a = of(numbers, {2, 3}, dtype);
      const Tensor b = of(others, {2, 3}, dtype);
      const Tensor y = c.op(a, b);
      CHECK(y.scalar_type() == dtype);
      check_values(y, map2(numbers, others, c.reference));
      CHECK(values(c.op(a.t(), b.t())) == values(y.t()));
      CHECK(values(c.op(a.t(), b.t().contiguous())) == values(y.t()));
    }
  }
}

TEST_CASE("division of integers gives the default dtype unless it rounds") {
  const Tensor a = of({7, -7, 1}, {3}, kInt32);
  const Tensor b = of({2, 2, -4}, {3}, kInt32);
  CHECK((a / b).scalar_type() == kFloat);
  CHECK(values(a / b) == Doubles{3.5, -3.5, -0.25});
  CHECK(values(div(a, b, "floor")) == Doubles{3, -4, -1});
  CHECK(values(div(a, b, "trunc")) == Doubles{3, -3, 0});
  CHECK(div(a, b, "floor").scalar_type() == kInt32);
  CHECK(values(div(a, 2, "floor")) == Doubles{3, -4, 0});
  CHECK(values(a / 2) == Doubles{3.5, -3.5, 0.5});
  const Tensor least = full({1}, INT64_MIN, kInt64);
  CHECK(div(least, full({1}, -1, kInt64), "trunc").item<int64_t>() == INT64_MIN);
  CHECK(values(remainder(least, full({1}, -1, kInt64))) == Doubles{0});
}

TEST_CASE("division by zero is infinite for floats and an error for integers") {
  const Tensor x = of({1, -1, 0}, {3}, kFloat);
  const Doubles y = values(x / 0);
  CHECK(std::isinf(y[0]));
  CHECK(y[1] < 0);
  CHECK(std::isnan(y[2]));
  CHECK(std::isinf(values(div(x, zeros({3}), "floor"))[0]));
  const Tensor n = of({1, 2}, {2}, kInt64);
  CHECK_THAT(error_of([&] {
               floor_divide(n, of({1, 0}, {2}, kInt64));
             }),
             ContainsSubstring("ZeroDivisionError"));
  CHECK_THAT(error_of([&] { n % 0; }), ContainsSubstring("ZeroDivisionError"));
}

TEST_CASE("the rounded quotient is exact where the plain quotient rounds up") {
  CHECK(floor_divide(of({1.0}, {}), of({0.1}, {})).item<double>() == 9);
  CHECK(remainder(of({1.0}, {}), of({0.1}, {})).item<double>() == Approx(0.1));
  CHECK(values(of({-1, 1, 5}, {3}) % of({3, -3, 5}, {3})) == Doubles{2, -2, 0});
}

TEST_CASE("pow covers numbers and tensors on either side") {
  const Tensor x = of({0.5, 2, 3}, {3});
  for (const double exponent : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 2.5}) {
    check_values(x.pow(exponent), map(values(x), [&](double v) { return std::pow(v, exponent); }));
  }
  check_values(pow(2, x), {std::sqrt(2.0), 4, 8});
  check_values(x.pow(x), {std::pow(0.5, 0.5), 4, 27});
  const Tensor n = of({-2, 3}, {2}, kInt64);
  CHECK(values(n.pow(3)) == Doubles{-8, 27});
  CHECK(n.pow(3).scalar_type() == kInt64);
  CHECK(n.pow(2.0).scalar_type() == kFloat);
  CHECK(values(n.pow(of({-1, 40}, {2}, kInt64)))[0] == 0);
  CHECK(values(of({1, -1}, {2}, kInt64).pow(of({-1, -3}, {2}, kInt64))) == Doubles{1, -1});
  CHECK_THAT(error_of([&] { n.pow(-1); }),
             ContainsSubstring("pow: Integers to negative integer powers are not allowed"));
  const Tensor y = x.clone();
  y.pow_(2);
  check_values(y, {0.25, 4, 9});
}

TEST_CASE(
    "promotion follows LibTorch's rules for tensors, tensors without dimensions and numbers") {
  auto like = [](ScalarType dtype) { return ones({2}, dtype); };
  auto zero_dim = [](ScalarType dtype) { return ones({}, dtype); };
  CHECK((like(kInt32) + like(kInt64)).scalar_type() == kInt64);
  CHECK((like(kUInt8) + like(kInt8)).scalar_type() == kInt16);
  CHECK((like(kHalf) + like(kBFloat16)).scalar_type() == kFloat);
  CHECK((like(kInt64) + like(kHalf)).scalar_type() == kHalf);
  CHECK((like(kFloat) + like(kDouble)).scalar_type() == kDouble);
  CHECK((like(kBool) + like(kInt8)).scalar_type() == kInt8);
  CHECK((like(kFloat) + zero_dim(kDouble)).scalar_type() == kFloat);
  CHECK((like(kInt32) + zero_dim(kInt64)).scalar_type() == kInt32);
  CHECK((like(kInt32) + zero_dim(kDouble)).scalar_type() == kDouble);
  CHECK((like(kHalf) * 0.5).scalar_type() == kHalf);
  CHECK((like(kInt32) * 0.5).scalar_type() == kFloat);
  CHECK((like(kInt32) * 2).scalar_type() == kInt32);
  CHECK((like(kBool) * 2).scalar_type() == kInt64);
  CHECK((like(kBool) * true).scalar_type() == kBool);
  CHECK((like(kUInt8) + true).scalar_type() == kUInt8);
  CHECK((zero_dim(kFloat) * 2.0).scalar_type() == kFloat);
  CHECK((zero_dim(kInt32) + zero_dim(kInt64)).scalar_type() == kInt64);
  CHECK((zero_dim(kHalf) + like(kFloat)).scalar_type() == kFloat);
  CHECK((1 - like(kInt32)).scalar_type() == kInt32);
  CHECK((1.5 - like(kInt32)).scalar_type() == kFloat);
}

TEST_CASE("mixed dtypes are computed in the promoted one") {
  const Tensor n = of({16777217, 3}, {2}, kInt64);
  CHECK(values(n + of({0.5, 0.5}, {2}, kDouble)) == Doubles{16777217.5, 3.5});
  CHECK(values(of({200}, {1}, kUInt8) + of({-100}, {1}, kInt8)) == Doubles{100});
  CHECK(values(of({1}, {1}, kBool) + of({1}, {1}, kBool)) == Doubles{1});
  CHECK(values(of({1, 0}, {2}, kBool) * of({1, 1}, {2}, kBool)) == Doubles{1, 0});
}

TEST_CASE("shapes broadcast, and those that do not are named in the error") {
  const Tensor a = of(spread(24, -2, 2), {2, 3, 4});
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {4}, {3, 1}, {3, 4}, {1, 4}, {2, 1, 1}, {1}, {}, {1, 1, 1, 1}, {5, 2, 3, 4}}) {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    const Tensor b = of(spread(n, 1, 3), sizes);
    const DimVector shape = broadcast_shapes(a.sizes(), b.sizes());
    const Doubles x = expanded(a, shape), y = expanded(b, shape);
    check_values(a * b, map2(x, y, [](double p, double q) { return p * q; }));
    check_values(b * a, map2(x, y, [](double p, double q) { return p * q; }));
    CHECK((a * b).sizes() == IntArrayRef(shape));
  }
  CHECK((ones({0, 3}) + ones({1, 3})).sizes() == IntArrayRef({0, 3}));
  CHECK_THAT(error_of([] {
               add(ones({2, 3}), ones({4}));
             }),
             ContainsSubstring("add: ") && ContainsSubstring("[2, 3]") && ContainsSubstring("[4]"));
}

TEST_CASE("long rows, short rows and many rows broadcast alike") {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {70'000, 3}, {3, 70'000}, {600, 600}, {1, 1000}, {40'000, 1}, {513, 511}}) {
    INFO(rows << " x " << columns);
    const Tensor a = of(spread(rows * columns, -2, 2), {rows, columns}, kFloat);
    const Tensor row = of(spread(columns, 1, 2), {columns}, kFloat);
    const Tensor column = of(spread(rows, 1, 2), {rows, 1}, kHalf);
    const Doubles x = values(a), y = values(row), z = values(column);
    Doubles sum;
    Doubles product;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const auto at = static_cast<size_t>(i);
      sum.push_back(x[at] + y[at % static_cast<size_t>(columns)]);
      product.push_back(x[at] * z[at / static_cast<size_t>(columns)]);
    }
    check_values(a + row, sum);
    check_values(a * column, product);
    check_values(a.t() + row.unsqueeze(1), values((a + row).t()), 0);
  }
}

TEST_CASE("results are dense in the order of their inputs' strides") {
  const Tensor x = ones({4, 3, 2}).permute({2, 0, 1});
  CHECK((x + x).strides() == x.strides());
  CHECK(ebb::exp(x).strides() == x.strides());
  CHECK((x + 1).strides() == x.strides());
  CHECK((x + ones({3})).strides() == x.strides());
  CHECK((x > 0).strides() == x.strides());
  CHECK((ones({2, 3}) + ones({3, 2}).t()).is_contiguous());
  CHECK((ones({4, 6}).slice(1, 0, 6, 2) + 1).is_contiguous());
  CHECK((ones({3, 1}).expand({3, 4}) + 1).is_contiguous());
}

TEST_CASE("in place keeps dtype and sizes, and raises the version by one") {
  const Tensor x = of({1, 2, 3}, {3}, kFloat);
  const int64_t version = x._version();
  CHECK(add_(x, of({1, 1, 1}, {3}, kDouble)).is_same(x));
  CHECK(x._version() == version + 1);
  CHECK(x.scalar_type() == kFloat);
  CHECK(values(x) == Doubles{2, 3, 4});
  x.mul_(2);
  x.sub_(1);
  x.div_(of({3, 5, 7}, {3}, kInt64));
  CHECK(values(x) == Doubles{1, 1, 1});
  const Tensor y = zeros({2, 3}).t();
  y.add_(of({1, 2}, {2}, kInt32));
  CHECK(values(y) == Doubles{1, 2, 1, 2, 1, 2});
  const Tensor n = of({7}, {1}, kInt32);
  n.add_(of({3}, {1}, kInt64));
  n.floor_divide_(4);
  CHECK(values(n) == Doubles{2});
  x.add_(x);
  CHECK(values(x) == Doubles{2, 2, 2});
}

TEST_CASE("in place refuses what would change dtype, sizes or its own input") {
  CHECK_THAT(
      error_of([] { ones({2}, kInt64).add_(1.5); }),
      ContainsSubstring("add_: result type Float can't be cast") && ContainsSubstring("Long"));
  CHECK_THAT(error_of([] { ones({2}, kInt64).div_(2); }), ContainsSubstring("Long"));
  CHECK_THAT(error_of([] { ones({2}, kBool).add_(2); }), ContainsSubstring("Bool"));
  CHECK_THAT(error_of([] {
               ones({3}).add_(ones({2, 3}));
             }),
             ContainsSubstring("[3]") && ContainsSubstring("[2, 3]"));
  CHECK_THAT(error_of([] { ones({1}).expand({3}).add_(1); }), ContainsSubstring("clone"));
  const Tensor x = ones({5});
  CHECK_THAT(error_of([&] { x.narrow(0, 0, 4).add_(x.narrow(0, 1, 4)); }),
             ContainsSubstring("single memory location"));
  const Tensor square = ones({3, 3});
  CHECK_THAT(error_of([&] { square.add_(square.t()); }), ContainsSubstring("clone"));
  const int64_t version = x._version();
  CHECK(error_of([&] { x.add_(ones({4})); }) != "nothing was thrown");
  CHECK(x._version() == version);
  CHECK(values(x) == Doubles{1, 1, 1, 1, 1});
}

TEST_CASE("subtraction of bools and a wrong alpha are errors") {
  const Tensor mask = ones({2}, kBool);
  CHECK_THAT(error_of([&] { mask - mask; }),
             ContainsSubstring("sub: ") && ContainsSubstring("logical_xor"));
  CHECK_THAT(error_of([&] { 1 - mask; }), ContainsSubstring("bool"));
  CHECK_THAT(error_of([] { add(ones({2}, kInt64), ones({2}, kInt64), 0.5); }),
             ContainsSubstring("alpha") && ContainsSubstring("Long"));
  CHECK(values(add(ones({2}), ones({2}), 0.5)) == Doubles{1.5, 1.5});
  CHECK(values(sub(ones({2}, kInt32), 3, 2)) == Doubles{-5, -5});
}

TEST_CASE("maximum and minimum let NaN win, clamp keeps it") {
  const Tensor x = of({1, kNan, 3}, {3});
  const Tensor y = of({kNan, 2, 2}, {3});
  CHECK(std::isnan(values(maximum(x, y))[0]));
  CHECK(std::isnan(values(minimum(x, y))[1]));
  CHECK(values(maximum(x, y))[2] == 3);
  CHECK(std::isnan(values(x.clamp(0, 2))[1]));
}

TEST_CASE("clamp bounds by numbers and tensors") {
  const Tensor x = of({-3, -1, 0, 2, 5}, {5}, kFloat);
  CHECK(values(x.clamp(-1, 2)) == Doubles{-1, -1, 0, 2, 2});
  CHECK(values(x.clamp(std::nullopt, Scalar(1))) == Doubles{-3, -1, 0, 1, 1});
  CHECK(values(x.clamp_min(0)) == Doubles{0, 0, 0, 2, 5});
  CHECK(values(x.clamp_max(0)) == Doubles{-3, -1, 0, 0, 0});
  CHECK(values(x.clamp(3, 1)) == Doubles{1, 1, 1, 1, 1});
  const Tensor low = of({-2, 0, 1, 1, 1}, {5}, kFloat);
  CHECK(values(clamp(x, std::optional<Tensor>(low), std::optional<Tensor>(low + 1))) ==
        Doubles{-2, 0, 1, 2, 2});
  CHECK(values(clamp(x, std::optional<Tensor>(low), std::optional<Tensor>())) ==
        Doubles{-2, 0, 1, 2, 5});
  const Tensor n = of({1, 5}, {2}, kInt64);
  CHECK(n.clamp(2, 3).scalar_type() == kInt64);
  CHECK(n.clamp(2.5, 3).scalar_type() == kFloat);
  n.clamp_(2, 3);
  CHECK(values(n) == Doubles{2, 3});
  CHECK_THAT(error_of([&] { x.clamp(std::optional<Scalar>(), std::optional<Scalar>()); }),
             ContainsSubstring("min and max"));
}

TEST_CASE("where and masked_fill choose by a mask that broadcasts") {
  const Tensor mask = of({1, 0}, {2, 1}, kBool);
  const Tensor a = of({1, 2, 3}, {3}, kFloat);
  CHECK(values(where(mask, a, -a)) == Doubles{1, 2, 3, -1, -2, -3});
  CHECK(values(where(mask, a, Scalar(0))) == Doubles{1, 2, 3, 0, 0, 0});
  CHECK(values(where(mask, Scalar(7), a)) == Doubles{7, 7, 7, 1, 2, 3});
  CHECK(where(mask, a, ones({3}, kDouble)).scalar_type() == kDouble);
  CHECK(where(mask, ones({3}, kInt32), Scalar(0)).scalar_type() == kInt32);
  CHECK_THAT(error_of([&] { where(a, a, a); }),
             ContainsSubstring("where: ") && ContainsSubstring("Float"));
  const Tensor big = where(mask, full({1}, 9007199254740993, kInt64), Scalar(0));
  CHECK(big.select(0, 0).item<int64_t>() == 9007199254740993);
  const Tensor x = ones({2, 3});
  CHECK(values(x.masked_fill(mask, -5)) == Doubles{-5, -5, -5, 1, 1, 1});
  CHECK(values(x.masked_fill(mask, full({}, 4))) == Doubles{4, 4, 4, 1, 1, 1});
  x.masked_fill_(mask, 0.5);
  CHECK(values(x) == Doubles{0.5, 0.5, 0.5, 1, 1, 1});
  CHECK_THAT(error_of([&] { x.masked_fill(x, 0); }), ContainsSubstring("bool"));
  CHECK_THAT(error_of([&] { x.masked_fill(mask, ones({3})); }), ContainsSubstring("[3]"));
  CHECK_THAT(error_of([&] {
               ones({2, 3}, kInt64).masked_fill_(mask, 0.5);
             }),
             ContainsSubstring("Long"));
}

TEST_CASE("addcmul, addcdiv and lerp agree with their formulas") {
  const Tensor x = of({1, 2}, {2}), a = of({3, -4}, {2}), b = of({5, 8}, {2});
  CHECK(values(addcmul(x, a, b, 2)) == Doubles{31, -62});
  CHECK(values(addcdiv(x, a, b, 2)) == Doubles{2.2, 1});
  CHECK(values(lerp(x, a, 0.25)) == Doubles{1.5, 0.5});
  CHECK(values(lerp(x, a, of({0, 1}, {2}))) == Doubles{1, -4});
  x.addcmul_(a, b);
  CHECK(values(x) == Doubles{16, -30});
  x.addcdiv_(a, a);
  x.lerp_(a, 1);
  CHECK(values(x) == Doubles{3, -4});
  CHECK_THAT(error_of([] {
               const Tensor n = ones({1}, kInt64);
               addcdiv(n, n, n);
             }),
             ContainsSubstring("addcdiv: ") && ContainsSubstring("Long"));
}

TEST_CASE("the gradients of two-tensor arithmetic are right to second order") {
  const Doubles a = spread(6, -1.9, 2.1), b = spread(6, 0.6, 2.3);
  auto check = [&](const char* name, auto op) {
    INFO(name);
    CHECK(testing::gradcheck(op, {leaf(a, {2, 3}), leaf(b, {2, 3})}));
    CHECK(testing::gradgradcheck(op, {leaf(a, {2, 3}), leaf(b, {2, 3})}));
    CHECK(testing::gradcheck(op, {leaf(a, {2, 3}), leaf({0.7, 1.2, 2.2}, {3})}));
    CHECK(testing::gradcheck(op, {leaf({0.3}, {}), leaf(b, {2, 3})}));
  };
  check("add", [](const Inputs& in) { return add(in[0], in[1], 3); });
  check("sub", [](const Inputs& in) { return sub(in[0], in[1], 3); });
  check("rsub", [](const Inputs& in) { return rsub(in[0], in[1], 3); });
  check("mul", [](const Inputs& in) { return in[0] * in[1]; });
  check("div", [](const Inputs& in) { return in[0] / in[1]; });
  check("remainder", [](const Inputs& in) { return remainder(in[0], in[1]); });
  check("fmod", [](const Inputs& in) { return fmod(in[0], in[1]); });
  check("fmax", [](const Inputs& in) { return fmax(in[0], in[1]); });
  check("fmin", [](const Inputs& in) { return fmin(in[0], in[1]); });
  check("atan2", [](const Inputs& in) { return atan2(in[0], in[1]); });
  check("hypot", [](const Inputs& in) { return hypot(in[0], in[1]); });
  check("atan2_", [](const Inputs& in) {
    Tensor y = in[0].expand({2, 3}) * 1;
    return y.atan2_(in[1]);
  });
  check("hypot_", [](const Inputs& in) {
    Tensor y = in[0].expand({2, 3}) * 1;
    return y.hypot_(in[1]);
  });
  check("pow", [](const Inputs& in) { return in[0].abs().pow(in[1]); });
  check("maximum", [](const Inputs& in) { return maximum(in[0], in[1]); });
  check("minimum", [](const Inputs& in) { return minimum(in[0], in[1]); });
  check("lerp", [](const Inputs& in) { return lerp(in[0], in[1], 0.3); });
  check("floor", [](const Inputs& in) { return div(in[0], in[1], "floor"); });
  check("add_", [](const Inputs& in) {
    Tensor x = in[1].expand({2, 3}) * 1;
    return x.add_(in[0]);
  });
  check("mul_", [](const Inputs& in) {
    Tensor x = in[1].expand({2, 3}) * 1;
    return x.mul_(in[0]);
  });
  check("div_", [](const Inputs& in) {
    Tensor x = in[0].expand({2, 3}) * 1;
    return x.div_(in[1]);
  });
}

TEST_CASE("the gradients of arithmetic with numbers are right to second order") {
  auto check = [&](const char* name, auto op) {
    INFO(name);
    const Doubles x = {0.4, 1.7, 2.6};
    CHECK(testing::gradcheck(op, {leaf(x, {3})}));
    CHECK(testing::gradgradcheck(op, {leaf(x, {3})}));
  };
  check("affine", [](const Inputs& in) { return 3 - 2 * (in[0] + 1) / 4 - 1; });
  check("reciprocal", [](const Inputs& in) { return 3 / in[0]; });
  for (const double exponent : {-1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0}) {
    check("pow", [=](const Inputs& in) { return in[0].pow(exponent); });
  }
  check("pow of a number", [](const Inputs& in) { return pow(2.5, in[0]); });
  check("pow in place", [](const Inputs& in) {
    Tensor x = in[0] * 1;
    return x.pow_(3);
  });
  check("clamp", [](const Inputs& in) { return in[0].clamp(0.5, 2); });
  check("clamp_min", [](const Inputs& in) { return in[0].clamp_min(1); });
  check("clamp_max", [](const Inputs& in) { return in[0].clamp_max(1); });
  check("remainder", [](const Inputs& in) { return in[0] % 0.9; });
  check("fmod", [](const Inputs& in) { return in[0].fmod(0.9); });
  check("fmod_", [](const Inputs& in) {
    Tensor x = in[0] * 1;
    return x.fmod_(0.9);
  });
}

TEST_CASE("fmax and fmin prefer numbers to NaN, and the gradient goes where they came from") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = leaf({nan, 1, nan, 2}, {4});
  const Tensor b = leaf({3, nan, nan, 2}, {4});
  const Tensor larger = fmax(a, b);
  CHECK(values(larger.slice(0, 0, 2)) == Doubles{3, 1});
  CHECK(std::isnan(larger[2].item<double>()));
  larger.sum().backward();
  CHECK(values(a.grad()) == Doubles{0, 1, 1, 1});
  CHECK(values(b.grad()) == Doubles{1, 0, 0, 0});
  CHECK(values(fmin(a, b).slice(0, 0, 2)) == Doubles{3, 1});
}

TEST_CASE("atan2 knows all quadrants and hypot does not overflow") {
  const Tensor y = of({1, 1, -1, -1, 0}, {5}), x = of({1, -1, -1, 1, -1}, {5});
  check_values(atan2(y, x), {M_PI / 4, 3 * M_PI / 4, -3 * M_PI / 4, -M_PI / 4, M_PI});
  CHECK(atan2(of({1}, {1}, kInt64), of({2}, {1}, kInt64)).scalar_type() == kFloat);
  check_values(hypot(of({3e300}, {1}), of({4e300}, {1})), {5e300});
  CHECK_THAT(error_of([] { hypot(of({3}, {1}, kInt64), of({4}, {1}, kInt64)); }),
             ContainsSubstring("hypot") && ContainsSubstring("Long"));
}

TEST_CASE("nan_to_num replaces NaN and the infinities by what fits the dtype") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Doubles edges = {nan, infinity, -infinity, 2};
  CHECK(values(nan_to_num(of(edges, {4}, kHalf))) == Doubles{0, 65504, -65504, 2});
  CHECK(values(nan_to_num(of(edges, {4}, kBFloat16)))[1] == 0x1.fep127);
  CHECK(values(nan_to_num(of(edges, {4}, kFloat)))[1] == std::numeric_limits<float>::max());
  CHECK(values(nan_to_num(of(edges, {4}, kDouble), 1, 5, -6)) == Doubles{1, 5, -6, 2});
  CHECK(values(nan_to_num(of({3}, {1}, kInt32))) == Doubles{3});
  const Tensor x = leaf(edges, {4});
  nan_to_num(x, 1, 5, -6).sum().backward();
  CHECK(values(x.grad()) == Doubles{0, 0, 0, 1});
  Tensor y = of(edges, {4});
  CHECK(values(y.nan_to_num_(1, 5, -6)) == Doubles{1, 5, -6, 2});
}

TEST_CASE("logit cuts off at eps, where its gradient is zero") {
  const Tensor x = leaf({0.001, 0.25, 0.999}, {3});
  const Tensor y = logit(x, 0.1);
  check_values(y, {std::log(0.1 / 0.9), std::log(1.0 / 3), std::log(0.9 / 0.1)});
  y.sum().backward();
  check_values(x.grad(), {0, 1 / (0.25 * 0.75), 0});
  CHECK(std::isnan(logit(of({1.5}, {1})).item<double>()));
  CHECK(logit(of({1}, {1})).item<double>() == std::numeric_limits<double>::infinity());
  auto op = [](const Inputs& in) { return logit(in[0]); };
  CHECK(testing::gradcheck(op, {leaf({0.2, 0.7}, {2})}));
  CHECK(testing::gradgradcheck(op, {leaf({0.2, 0.7}, {2})}));
}

TEST_CASE("prelu has one weight, or one for each channel") {
  const Tensor x = of({1, -2, -3, 4, -5, 6}, {1, 3, 2});
  check_values(prelu(x, of({0.5}, {1})), {1, -1, -1.5, 4, -2.5, 6});
  check_values(prelu(x, of({0.5, 2, 3}, {3})), {1, -1, -6, 4, -15, 6});
  auto op = [](const Inputs& in) { return prelu(in[0], in[1]); };
  const Doubles numbers = {1, -2, -3, 4, -5, 6};
  for (const Tensor& weight : {leaf({0.3}, {1}), leaf({0.3}, {}), leaf({0.3, 0.1, 2}, {3})}) {
    CHECK(testing::gradcheck(op, {leaf(numbers, {1, 3, 2}), weight}));
    CHECK(testing::gradgradcheck(op, {leaf(numbers, {1, 3, 2}), weight}));
  }
  CHECK_THAT(error_of([&] { prelu(x, of({1, 2}, {2})); }),
             ContainsSubstring("3 channels") && ContainsSubstring("[1, 3, 2]"));
}

TEST_CASE("the gradients of choosing and of three-tensor arithmetic are right") {
  const Doubles a = {0.3, 1.2, -0.7}, b = {1.5, -0.4, 2.5}, c = {0.8, 2.1, 1.1};
  auto check = [&](const char* name, auto op) {
    INFO(name);
    CHECK(testing::gradcheck(op, {leaf(a, {3}), leaf(b, {3}), leaf(c, {3})}));
    CHECK(testing::gradgradcheck(op, {leaf(a, {3}), leaf(b, {3}), leaf(c, {3})}));
  };
  const Tensor mask = of({1, 0, 1}, {3}, kBool);
  check("addcmul", [](const Inputs& in) { return addcmul(in[0], in[1], in[2], 2); });
  check("addcdiv", [](const Inputs& in) { return addcdiv(in[0], in[1], in[2], 2); });
  check("lerp", [](const Inputs& in) { return lerp(in[0], in[1], in[2]); });
  check("where", [=](const Inputs& in) { return where(mask, in[0], in[1] * in[2]); });
  check("clamp", [](const Inputs& in) {
    return clamp(in[0], std::optional<Tensor>(in[1]), std::optional<Tensor>(in[2]));
  });
  check("masked_fill", [=](const Inputs& in) {
    return in[0].masked_fill(mask, in[1].sum()) + in[2].masked_fill(mask, 2);
  });
}

TEST_CASE("the gradient of pow is zero, not NaN, where the base or the exponent is zero") {
  const Tensor x = leaf({0, 2}, {2});
  const Tensor n = leaf({0, 0}, {2});
  x.pow(n).sum().backward();
  CHECK(values(x.grad()) == Doubles{0, 0});
  CHECK(values(n.grad()) == Doubles{0, std::log(2.0)});
  const Tensor y = leaf({0}, {1});
  y.pow(0).sum().backward();
  CHECK(values(y.grad()) == Doubles{0});
}

TEST_CASE("equal elements share the gradient of maximum") {
  const Tensor x = leaf({1, 2}, {2}), y = leaf({1, 1}, {2});
  maximum(x, y).sum().backward();
  CHECK(values(x.grad()) == Doubles{0.5, 1});
  CHECK(values(y.grad()) == Doubles{0.5, 0});
}
