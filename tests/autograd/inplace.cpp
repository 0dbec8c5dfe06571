#include "helpers.h"

using namespace ebb;

TEST_CASE("A chain of writes in place is differentiated as its values are computed", "[inplace]") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 2;
  y.add_(1).mul_(x);  // (2x + 1) x
  CHECK(values(y) == Values{3, 10, 21});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{5, 9, 13});
  CHECK_FALSE(y.is_leaf());
}

TEST_CASE("A tensor times itself in place saves what it was", "[inplace]") {
  Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  y.mul_(y);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{4, 6});
}

TEST_CASE("A constant joins the graph when something that requires grad is written to it",
          "[inplace]") {
  Tensor x = leaf({1, 2});
  Tensor out = ebb::zeros({4}, kDouble);
  const Tensor middle = out.narrow(0, 1, 2);
  CHECK_FALSE(middle.requires_grad());
  middle.copy_(x);
  CHECK(out.requires_grad());
  CHECK(middle.requires_grad());
  CHECK(out.narrow(0, 0, 2).requires_grad());
  (out * out).sum().backward();
  CHECK(values(x.grad()) == Values{2, 4});
}

TEST_CASE("Leaves that require grad are not written while grad mode is on", "[inplace]") {
  Tensor x = leaf({1, 2});
  CHECK_THAT(error_of([&] { x.add_(1); }),
             says("a leaf Variable that requires grad") && says("in-place") && says("add_"));
  CHECK_THAT(error_of([&] { x.select(0, 0).mul_(2); }), says("a view of a leaf Variable"));
  CHECK_THAT(error_of([&] { x.copy_(constant({0, 0})); }), says("leaf"));
  CHECK_THAT(error_of([&] { x.detach().requires_grad_().mul_(2); }), says("leaf"));
  CHECK(values(x) == Values{1, 2});
  {
    const NoGradGuard no_grad;
    x.add_(1);
    x.narrow(0, 0, 1).mul_(10);
  }
  CHECK(values(x) == Values{20, 3});
  CHECK(x.is_leaf());
  CHECK(x.requires_grad());
  CHECK(x._version() == 2);
  (x * x).sum().backward();
  CHECK(values(x.grad()) == Values{40, 6});
}

TEST_CASE("A write to what an op saved is noticed, a write to what it did not save is not",
          "[inplace]") {
  Tensor x = leaf({1, 2});
  SECTION("a saved input") {
    const Tensor y = x * 1;
    const Tensor out = (y * y).sum();
    y.add_(1);
    const std::string message = error_of([&] { out.backward(); });
    CHECK_THAT(message, says("modified by an inplace operation") && says("MulBackward0") &&
                            says("version 1; expected version 0") && says("clone"));
  }
  SECTION("a saved result") {
    const Tensor y = x.exp();
    y.zero_();
    CHECK_THAT(error_of([&] { y.sum().backward(); }), says("output 0 of ExpBackward0"));
  }
  SECTION("a result that is not saved") {
    const Tensor y = x.sin();
    y.mul_(2);
    y.sum().backward();
    CHECK(x.grad().defined());
  }
  SECTION("an operand whose partner wants no gradient") {
    const Tensor y = x * 1;
    const Tensor out = y * constant({3, 4});
    y.add_(1);
    out.sum().backward();
    CHECK(values(x.grad()) == Values{3, 4});
  }
  SECTION("a saved constant") {
    const Tensor factor = constant({3, 4});
    const Tensor out = x * factor;
    factor.add_(1);
    CHECK_THAT(error_of([&] { out.sum().backward(); }), says("modified by an inplace"));
  }
  SECTION("through a view") {
    const Tensor base = x * 1;
    const Tensor out = base.select(0, 0).exp() * base.select(0, 1);
    base.select(0, 1).zero_();
    CHECK_THAT(error_of([&] { out.backward(); }), says("modified by an inplace"));
  }
  SECTION("through detach()") {
    const Tensor y = x * 1;
    const Tensor out = y.pow(3).sum();
    y.detach().mul_(2);
    CHECK_THAT(error_of([&] { out.backward(); }), says("modified by an inplace"));
  }
  SECTION("through data(), which nobody notices") {
    const Tensor y = x * 1;
    const Tensor out = y.pow(3).sum();
    y.data().mul_(2);
    out.backward();
    CHECK(values(x.grad()) == Values{12, 48});
  }
  SECTION("under no-grad") {
    const Tensor y = x * 1;
    const Tensor out = y.pow(3).sum();
    {
      const NoGradGuard no_grad;
      y.mul_(2);
    }
    CHECK_THAT(error_of([&] { out.backward(); }), says("modified by an inplace"));
  }
}

TEST_CASE("detach shares memory and version, data shares memory only", "[inplace]") {
  const Tensor x = ebb::zeros({2, 2});
  const auto allocated = memory::memory_allocated();
  const Tensor detached = x.detach();
  const Tensor data = x.data();
  CHECK(memory::memory_allocated() == allocated);
  CHECK(detached.data_ptr() == x.data_ptr());
  CHECK(data.data_ptr() == x.data_ptr());
  detached.add_(1);
  CHECK(x._version() == 1);
  data.add_(1);
  CHECK(x._version() == 1);
  CHECK(data._version() == 1);
  x.view({4}).add_(1);
  CHECK(x._version() == 2);
  CHECK(detached._version() == 2);
  CHECK_FALSE(detached.is_view());
}

TEST_CASE("detach_ forgets the history, but not of a view", "[inplace]") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  CHECK_THAT(error_of([&] { y.select(0, 0).detach_(); }), says("view"));
  y.detach_();
  CHECK_FALSE(y.requires_grad());
  CHECK(y.is_leaf());
}

TEST_CASE("set_data replaces the memory and keeps gradient, hooks and identity", "[inplace]") {
  Tensor p = leaf({1, 2});
  int calls = 0;
  p.register_hook([&](const Tensor&) { ++calls; });
  (p * p).sum().backward();
  const Tensor fresh = constant({5, 6});
  const Tensor same = p;
  p.set_data(fresh);
  CHECK(same.data_ptr() == fresh.data_ptr());
  CHECK(values(p.grad()) == Values{2, 4});
  CHECK((p.is_leaf() && p.requires_grad()));
  (p * p).sum().backward();
  CHECK(values(p.grad()) == Values{12, 16});
  CHECK(calls == 2);
  // Other sizes and another dtype: the old gradient must go first.
  p.mutable_grad() = Tensor();
  p.set_data(ebb::ones({3}));
  (p * 2).sum().backward();
  CHECK(p.grad().dtype() == kFloat);
  CHECK(values(p.grad()) == Values{2, 2, 2});
  CHECK_THAT(error_of([&] { p.set_data(ebb::ones({3}, kLong)); }), says("Long"));
}

TEST_CASE("Elements that share memory are not written", "[inplace]") {
  CHECK_THAT(error_of([] { ebb::zeros({1}).expand({3}).add_(1); }), says("share memory"));
  Tensor x = leaf({1});
  CHECK_THAT(error_of([&] { (x * 1).expand({3}).mul_(2); }), says("share memory"));
}

TEST_CASE("Zeroing keeps the tensor in the graph with a gradient of zero", "[inplace]") {
  Tensor x = leaf({1, 2});
  Tensor y = x * x;
  y.zero_();
  CHECK(y.requires_grad());
  (y + x).sum().backward();
  CHECK(values(x.grad()) == Values{1, 1});
}

TEST_CASE("Integers take values that require grad and stay constants", "[inplace]") {
  Tensor x = leaf({1.5, 2.5});
  const Tensor counts = ebb::zeros({2}, kLong);
  counts.copy_(x);
  CHECK_FALSE(counts.requires_grad());
  CHECK(values(counts) == Values{1, 2});
}

TEST_CASE("In-place ops on views and bases are right to second order", "[inplace]") {
  const auto program = [](const std::vector<Tensor>& in) {
    Tensor base = (in[0] * 1).view({2, 3});
    const Tensor early = base.select(1, 2);
    base.t().narrow(0, 0, 2).mul_(in[1]);
    base.select(0, 1).sin_();
    early.mul_(base.select(1, 0).clone());
    return base * base.sum();
  };
  Tensor x = ebb::linspace(0.1, 0.6, 6, kDouble).requires_grad_();
  Tensor w = leaf({0.7, 1.3});
  CHECK(testing::gradcheck(program, {x, w}));
  CHECK(testing::gradgradcheck(program, {x, w}));
}
