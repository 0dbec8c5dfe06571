#include "ops/elementwise_support.h"

using namespace elementwise_tests;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double relu_of(double x) { return x > 0 ? x : std::isnan(x) ? x : 0; }
double silu_of(double x) { return x * sigmoid_of(x); }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh_of(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

Tensor gelu_none(const Tensor& x) { return gelu(x); }
Tensor gelu_tanh(const Tensor& x) { return gelu(x, "tanh"); }

struct Case {
  const char* name;
  Tensor (*op)(const Tensor&);
  const Tensor& (*in_place)(const Tensor&);  // or null
  double (*reference)(double);
};

const Case kActivations[] = {
    {"relu", relu, relu_, relu_of},
    {"tanh", ebb::tanh, tanh_, std::tanh},
    {"sigmoid", sigmoid, sigmoid_, sigmoid_of},
    {"silu", silu, silu_, silu_of},
    {"gelu", gelu_none, nullptr, gelu_of},
    {"gelu tanh", gelu_tanh, nullptr, gelu_tanh_of},
};

}  // namespace

TEST_CASE("each activation agrees with its formula in every floating dtype") {
  for (const Case& c : kActivations) {
    for (const ScalarType dtype : kFloatDtypes) {
      INFO(c.name << " of " << dtype);
      const Tensor x = of(spread(35, -6, 6), {5, 7}, dtype);
      const Doubles expected = map(values(x), c.reference);
      check_values(c.op(x), expected, 8, 0.1);
      check_values(c.op(x.t()), values(c.op(x).t()), 0.5);
      if (c.in_place == nullptr) continue;
      const Tensor y = x.clone();
      CHECK(c.in_place(y).is_same(y));
      check_values(y, expected, 8, 0.1);
    }
  }
}

TEST_CASE("activations keep NaN, and their limits at the ends") {
  for (const Case& c : kActivations) {
    INFO(c.name);
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor y = c.op(of({kNan, 100, -100, 0}, {4}, dtype));
      const Doubles got = values(y);
      CHECK(std::isnan(got[0]));
      CHECK(got[1] == Approx(c.reference(100)));
      CHECK(std::fabs(got[2] - c.reference(-100)) < 1e-30);
      CHECK(got[3] == c.reference(0));
    }
  }
}

TEST_CASE("relu keeps integers, sigmoid and tanh make them floats, gelu and silu refuse them") {
  const Tensor n = of({-2, 0, 3}, {3}, kInt64);
  CHECK(relu(n).scalar_type() == kInt64);
  CHECK(values(relu(n)) == Doubles{0, 0, 3});
  CHECK(sigmoid(n).scalar_type() == kFloat);
  CHECK(ebb::tanh(n).scalar_type() == kFloat);
  CHECK_THAT(error_of([&] { gelu(n); }), ContainsSubstring("gelu") && ContainsSubstring("Long"));
  CHECK_THAT(error_of([&] { silu(n); }), ContainsSubstring("silu") && ContainsSubstring("Long"));
  CHECK_THAT(error_of([&] { gelu(ones({1}), "exact"); }),
             ContainsSubstring("none or tanh") && ContainsSubstring("exact"));
}

TEST_CASE("the gradient of each activation is right to second order") {
  for (const Case& c : kActivations) {
    INFO(c.name);
    auto fresh = [&](const std::vector<Tensor>& in) { return c.op(in[0]); };
    const Doubles x = spread(8, -2.05, 2.1);
    CHECK(testing::gradcheck(fresh, {leaf(x, {8})}));
    CHECK(testing::gradgradcheck(fresh, {leaf(x, {8})}));
    if (c.in_place == nullptr) continue;
    auto in_place = [&](const std::vector<Tensor>& in) {
      Tensor copy = in[0] * 1;
      c.in_place(copy);
      return copy;
    };
    CHECK(testing::gradcheck(in_place, {leaf(x, {8})}));
  }
}

TEST_CASE("each backward op is differentiable in all its inputs") {
  using Inputs = std::vector<Tensor>;
  const Doubles grads = spread(6, -1, 1.5);
  const Doubles inputs = spread(6, -0.9, 0.8);
  auto check = [&](const char* name, auto op) {
    INFO(name);
    CHECK(testing::gradcheck(op, {leaf(grads, {6}), leaf(inputs, {6})}));
    CHECK(testing::gradgradcheck(op, {leaf(grads, {6}), leaf(inputs, {6})}));
  };
  check("threshold", [](const Inputs& in) { return threshold_backward(in[0], in[1], 0.05); });
  check("tanh", [](const Inputs& in) { return tanh_backward(in[0], in[1]); });
  check("sigmoid", [](const Inputs& in) { return sigmoid_backward(in[0], in[1]); });
  check("silu", [](const Inputs& in) { return silu_backward(in[0], in[1]); });
  check("gelu", [](const Inputs& in) { return gelu_backward(in[0], in[1]); });
  check("gelu tanh", [](const Inputs& in) { return gelu_backward(in[0], in[1], "tanh"); });
}
