#include <ebb/ebb.h>
#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

// Ops that write their result over an input: less memory where that is right, and an error, never
// a wrong gradient, where it is not.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 96;

int64_t bytes(int64_t numel) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * 4)));
}
const int64_t kActivation = bytes(kRows * kWidth);

Tensor numbers(IntArrayRef sizes, uint64_t seed = 5) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return randn(sizes);
}

/// A network whose activations are written in place, or not.
struct Net {
  nn::Linear first{nn::LinearOptions(kWidth, kWidth)};
  nn::Linear second{nn::LinearOptions(kWidth, kWidth)};
  Net() { fill(); }
  void fill() {
    const NoGradGuard no_grad;
    first->weight.copy_(numbers({kWidth, kWidth}, 1));
    second->weight.copy_(numbers({kWidth, kWidth}, 2));
  }
  Tensor forward(const Tensor& x, bool inplace) {
    nn::ReLU relu(nn::ReLUOptions().inplace(inplace));
    nn::Dropout dropout(nn::DropoutOptions(0.5).inplace(inplace));
    const GeneratorGuard guard(Generator(get_default_device(), 9));
    return second(dropout(relu(first(x))));
  }
  [[nodiscard]] std::vector<Tensor> gradients(const Tensor& out) const {
    return autograd::grad({out.sum()}, {first->weight, second->weight});
  }
};

}  // namespace

TEST_CASE("relu and dropout in place peak lower by an activation each, with the same gradients") {
  Net net;
  const Tensor x = numbers({kRows, kWidth});
  Tensor plain;
  Tensor inplace;
  const auto of_plain = measure([&] { plain = net.forward(x, false); });
  const auto gradients = net.gradients(plain);
  plain.reset();
  // relu keeps its result, and the second layer what dropout gave: two, and the output.
  CHECK(of_plain.net_bytes == 3 * kActivation);
  const auto of_relu = measure([&] { inplace = net.first(x).relu_(); });
  CHECK(of_relu.net_bytes == kActivation);
  CHECK(of_relu.peak_bytes == kActivation);
  CHECK(measure([&] { plain = net.first(x).relu(); }).peak_bytes == 2 * kActivation);

  // dropout writes what relu keeps for backward: refused, not silently wrong.
  CHECK_THROWS_WITH(
      net.gradients(net.forward(x, true)),
      ContainsSubstring("modified by an inplace operation") && ContainsSubstring("ReluBackward0"));
  // After a layer that keeps nothing of its result both may write.
  nn::functional::DropoutFuncOptions options;
  options.p(0.5).inplace(true);
  const auto fresh = [&](bool write) {
    const GeneratorGuard guard(Generator(get_default_device(), 9));
    const Tensor y = net.first(x);
    return net.second(write ? nn::functional::dropout(y, options) : dropout(y, 0.5, true));
  };
  const Tensor out = fresh(true);
  const auto got = net.gradients(out);
  const auto wanted = net.gradients(fresh(false));
  for (size_t i = 0; i < got.size(); ++i) CHECK(equal(got[i], wanted[i]));
  CHECK(gradients.size() == got.size());
}

TEST_CASE("add_relu_ ends a residual block in the memory of its first operand") {
  const Tensor a = numbers({kRows, kWidth}, 1).requires_grad_();
  const Tensor b = numbers({kRows, kWidth}, 2).requires_grad_();
  const auto plain = measure([&] { return (a * 2 + b).relu(); });
  CHECK(plain.peak_bytes == 3 * kActivation);
  Tensor y;
  const auto fused = measure([&] {
    y = a * 2;
    y.add_relu_(b);
  });
  CHECK(fused.requests == 1);
  CHECK(fused.peak_bytes == kActivation);
  CHECK(fused.net_bytes == kActivation);
  CHECK(equal(y, (a * 2 + b).relu()));
  const auto got = autograd::grad({y.sum()}, {a, b});
  const auto wanted = autograd::grad({(a * 2 + b).relu().sum()}, {a, b});
  for (size_t i = 0; i < got.size(); ++i) CHECK(equal(got[i], wanted[i]));
}

TEST_CASE("add_relu broadcasts, keeps NaN, and takes floating-point numbers alone") {
  const Tensor column = tensor({-2.0, 1.0}, kDouble).view({2, 1}).requires_grad_();
  const Tensor row = tensor({0.5, 1.5, 2.5}, kDouble).requires_grad_();
  const Tensor y = add_relu(column, row);
  CHECK(equal(y, (column + row).relu()));
  CHECK(equal(autograd::grad({y.sum()}, {row})[0], tensor({1.0, 1.0, 2.0}, kDouble)));
  const Tensor nan = full({2}, std::numeric_limits<double>::quiet_NaN());
  CHECK(add_relu(nan, ones({2}, nan.options())).isnan().all().item<bool>());
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x = numbers({7}).to(dtype);
    // The sum is not rounded to 16 bits before relu; rounding and relu may be exchanged.
    CHECK(equal(add_relu(x, x), (x + x).relu()));
  }
  CHECK_THROWS_WITH(add_relu(ones({2}, kLong), ones({2}, kLong)), ContainsSubstring("add_relu"));
  CHECK_THROWS_WITH(ones({2}).add_relu_(ones({3, 2})), ContainsSubstring("add_relu_"));
  const auto f = [](const std::vector<Tensor>& in) { return add_relu(in[0], in[1]); };
  CHECK(testing::gradcheck(f, {column, row}));
  CHECK(testing::gradgradcheck(f, {column, row}));
}

TEST_CASE("Each misuse of a write in place is an error that names what is wrong") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor other = numbers({kRows, kWidth}, 6);
  struct Write {
    const char* name;
    void (*run)(const Tensor& self, const Tensor& other);
  };
  for (const Write& write :
       {Write{"relu_", [](const Tensor&self, const Tensor&) { self.relu_(); }},
        Write{"dropout_", [](const Tensor&self, const Tensor&) { dropout_(self, 0.5, true); }},
        Write{"add_relu_", [](const Tensor&self, const Tensor&b) { self.add_relu_(b); }}}) {
    CAPTURE(write.name);
    // A leaf that requires grad, and a view of one.
    CHECK_THROWS_WITH(write.run(x, other),
                      ContainsSubstring(write.name) && ContainsSubstring("leaf"));
    CHECK_THROWS_WITH(write.run(x.select(0, 0), other.select(0, 0)),
                      ContainsSubstring(write.name) && ContainsSubstring("leaf"));
    // The input that an earlier op needs, and its result, also through a view.
    const Tensor input = x * 1;
    const Tensor squared = input * input;
    write.run(input, other);
    CHECK_THROWS_WITH(squared.sum().backward(),
                      ContainsSubstring("inplace operation") && ContainsSubstring("MulBackward0"));
    const Tensor result = x.exp();
    write.run(result.narrow(0, 0, 2), other.narrow(0, 0, 2));
    CHECK_THROWS_WITH(result.sum().backward(),
                      ContainsSubstring("inplace operation") && ContainsSubstring("ExpBackward0"));
    // One of several views of one op, a view made under no-grad, and elements that share memory.
    const Tensor base = x * 1;
    const auto parts = base.chunk(2);
    CHECK_THROWS_WITH(write.run(parts[0], other.narrow(0, 0, kRows / 2)),
                      ContainsSubstring("view"));
    Tensor under_no_grad;
    {
      const NoGradGuard no_grad;
      under_no_grad = base.narrow(0, 0, 2);
    }
    CHECK_THROWS_WITH(write.run(under_no_grad, other.narrow(0, 0, 2)), ContainsSubstring("view"));
    CHECK_THROWS_WITH(write.run(zeros({1, kWidth}).expand({kRows, kWidth}), other),
                      ContainsSubstring("memory"));
    CHECK(equal(base, x));  // nothing was written
  }
}

TEST_CASE("A write through a view reaches the base and its gradient") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor other = numbers({kRows / 2, kWidth}, 6);
  const auto halves = [&] { return x.chunk(2); };
  const auto slope = [&](const Tensor& y) { return autograd::grad({y.sum()}, {x})[0]; };
  const Tensor base = x * 1;
  base.narrow(0, 0, kRows / 2).add_relu_(other);
  const Tensor expected = cat({(halves()[0] + other).relu(), halves()[1]});
  CHECK(equal(base, expected));
  CHECK(equal(slope(base), slope(expected)));
  const Tensor second = x * 1;
  second.narrow(0, kRows / 2, kRows / 2).relu_();
  CHECK(equal(slope(second), slope(cat({halves()[0], halves()[1].relu()}))));
}

TEST_CASE("Dropout keeps no mask: forward leaves its result alone, backward makes a gradient") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  Tensor y;
  const auto forward = measure([&] { y = dropout(x, 0.5, true); });
  CHECK(forward.net_bytes == kActivation);
  CHECK(forward.peak_bytes == kActivation);
  const Tensor grad = numbers({kRows, kWidth}, 8);
  Tensor slope;
  const auto backward = measure([&] { slope = autograd::grad({y}, {x}, {grad})[0]; });
  CHECK(backward.peak_bytes == kActivation);
  CHECK(equal(slope == 0, y == 0));
  const Tensor written = x * 1;
  CHECK(measure([&] { dropout_(written, 0.5, true); }).peak_bytes == 0);
}
