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

double elu_of(double x) { return x > 0 ? x : std::expm1(x); }
double selu_of(double x) {
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
}
double celu_of(double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }
double leaky_of(double x) { return x > 0 ? x : 0.1 * x; }
double backwards_of(double x) { return x > 0 ? x : -0.5 * x; }
double hardtanh_of(double x) { return x < -1 ? -1 : x > 2 ? 2 : x; }
double relu6_of(double x) { return x < 0 ? 0 : x > 6 ? 6 : x; }
double hardsigmoid_of(double x) { return relu6_of(x + 3) / 6; }
double hardswish_of(double x) { return x <= -3 ? 0 : x * hardsigmoid_of(x); }
double softplus_of(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); }
double softplus2_of(double x) { return softplus_of(2 * x) / 2; }
double mish_of(double x) { return x < -50 ? 0 : x * std::tanh(softplus_of(x)); }
double log_sigmoid_of(double x) { return -softplus_of(-x); }
double softsign_of(double x) { return x / (1 + std::fabs(x)); }
double tanhshrink_of(double x) { return x - std::tanh(x); }
double softshrink_of(double x) { return x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : 0 * x; }
double hardshrink_of(double x) { return x >= -0.5 && x <= 0.5 ? 0 : x; }
double threshold_of(double x) { return x <= 0.3 ? -2 : x; }
const Tensor& celu2_(const Tensor& x) { return celu_(x, 2); }
Tensor celu2(const Tensor& x) { return celu(x, 2); }
Tensor leaky(const Tensor& x) { return leaky_relu(x, 0.1); }
const Tensor& leaky_(const Tensor& x) { return leaky_relu_(x, 0.1); }
Tensor backwards(const Tensor& x) { return leaky_relu(x, -0.5); }
const Tensor& backwards_(const Tensor& x) { return leaky_relu_(x, -0.5); }
Tensor elu1(const Tensor& x) { return elu(x); }
const Tensor& elu1_(const Tensor& x) { return elu_(x); }
Tensor hardtanh12(const Tensor& x) { return hardtanh(x, -1, 2); }
const Tensor& hardtanh12_(const Tensor& x) { return hardtanh_(x, -1, 2); }
Tensor softplus1(const Tensor& x) { return softplus(x); }
Tensor softplus2(const Tensor& x) { return softplus(x, 2, 30); }
Tensor softshrink_half(const Tensor& x) { return softshrink(x); }
Tensor hardshrink_half(const Tensor& x) { return hardshrink(x); }
Tensor threshold3(const Tensor& x) { return threshold(x, 0.3, -2); }
const Tensor& threshold3_(const Tensor& x) { return threshold_(x, 0.3, -2); }

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
    {"elu", elu1, elu1_, elu_of},
    {"selu", selu, selu_, selu_of},
    {"celu", celu2, celu2_, celu_of},
    {"leaky_relu", leaky, leaky_, leaky_of},
    {"leaky_relu of a negative slope", backwards, backwards_, backwards_of},
    {"hardtanh", hardtanh12, hardtanh12_, hardtanh_of},
    {"relu6", relu6, relu6_, relu6_of},
    {"hardsigmoid", hardsigmoid, hardsigmoid_, hardsigmoid_of},
    {"hardswish", hardswish, hardswish_, hardswish_of},
    {"softplus", softplus1, nullptr, softplus_of},
    {"softplus of beta 2", softplus2, nullptr, softplus2_of},
    {"mish", mish, mish_, mish_of},
    {"log_sigmoid", log_sigmoid, nullptr, log_sigmoid_of},
    {"softsign", softsign, nullptr, softsign_of},
    {"tanhshrink", tanhshrink, nullptr, tanhshrink_of},
    {"softshrink", softshrink_half, nullptr, softshrink_of},
    {"hardshrink", hardshrink_half, nullptr, hardshrink_of},
    {"threshold", threshold3, threshold3_, threshold_of},
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
      CHECK(got[1] == Approx(c.reference(100)).epsilon(1e-6).margin(1e-30));
      CHECK(got[2] == Approx(c.reference(-100)).epsilon(1e-6).margin(1e-30));
      CHECK(got[3] == Approx(c.reference(0)).epsilon(1e-6).margin(0));
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
  check("leaky_relu", [](const Inputs& in) { return leaky_relu_backward(in[0], in[1], 0.1); });
  check("elu", [](const Inputs& in) { return elu_backward(in[0], 2, 3, 0.5, false, in[1]); });
  check("elu of its result",
        [](const Inputs& in) { return elu_backward(in[0], 2, 3, 0.5, true, in[1]); });
  check("hardtanh", [](const Inputs& in) { return hardtanh_backward(in[0], in[1], -0.4, 0.3); });
  check("hardsigmoid", [](const Inputs& in) { return hardsigmoid_backward(in[0], in[1] * 5); });
  check("hardswish", [](const Inputs& in) { return hardswish_backward(in[0], in[1] * 5); });
  check("softplus", [](const Inputs& in) { return softplus_backward(in[0], in[1], 2, 1); });
  check("mish", [](const Inputs& in) { return mish_backward(in[0], in[1]); });
  check("log_sigmoid", [](const Inputs& in) { return log_sigmoid_backward(in[0], in[1]); });
  check("softsign", [](const Inputs& in) { return softsign_backward(in[0], in[1]); });
  check("tanh", [](const Inputs& in) { return tanh_backward(in[0], in[1]); });
  check("sigmoid", [](const Inputs& in) { return sigmoid_backward(in[0], in[1]); });
  check("silu", [](const Inputs& in) { return silu_backward(in[0], in[1]); });
  check("gelu", [](const Inputs& in) { return gelu_backward(in[0], in[1]); });
  check("gelu tanh", [](const Inputs& in) { return gelu_backward(in[0], in[1], "tanh"); });
}
