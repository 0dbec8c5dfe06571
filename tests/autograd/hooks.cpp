#include "helpers.h"

using namespace ebb;

TEST_CASE("Tensor hooks run in order, and what they return replaces the gradient", "[hooks]") {
  Tensor a = leaf({1, 2});
  const Tensor b = a * 2;
  Values seen;
  b.register_hook([&](const Tensor& g) { seen.push_back(g.sum().item<double>()); });
  b.register_hook([](const Tensor& g) { return g * 10; });
  b.register_hook([&](Tensor g) { seen.push_back(g.sum().item<double>()); });
  b.sum().backward();
  CHECK(seen == Values{2, 20});
  CHECK(values(a.grad()) == Values{20, 20});
}

TEST_CASE("The hook of a leaf sees the whole gradient once, until it is removed", "[hooks]") {
  Tensor p = leaf({1});
  int calls = 0;
  const auto handle = p.register_hook([&](const Tensor& g) {
    ++calls;
    return -g;
  });
  (p * p * p).sum().backward();
  CHECK(values(p.grad()) == Values{-3});
  CHECK(calls == 1);
  p.remove_hook(handle);
  p.sum().backward();
  CHECK(values(p.grad()) == Values{-2});
  CHECK(calls == 1);
}

TEST_CASE("The hook of a result can be removed, also by itself", "[hooks]") {
  Tensor x = leaf({1});
  const Tensor y = x * 2;
  int first = 0, second = 0;
  unsigned handle = 0;
  handle = y.register_hook([&](const Tensor&) {
    ++first;
    y.remove_hook(handle);
  });
  const auto other = y.register_hook([&](const Tensor&) { ++second; });
  y.sum().backward({}, true);
  y.sum().backward({}, true);
  CHECK(first == 1);
  CHECK(second == 2);
  y.remove_hook(other);
  y.sum().backward();
  CHECK(second == 2);
}

TEST_CASE("Hooks see gradients that grad() asks for", "[hooks]") {
  Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor& g) { return g * 3; });
  CHECK(values(autograd::grad({(x * 2).sum()}, {x})[0]) == Values{6, 6});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("A hook that changes the sizes of a gradient is an error", "[hooks]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor& g) { return g.sum(); });
  CHECK_THAT(error_of([&] { y.sum().backward(); }), says("hook") && says("[2]"));
  CHECK_THAT(error_of([] { constant({1}).register_hook([](const Tensor&) {}); }),
             says("does not require grad"));
}

TEST_CASE("A result keeps its gradient if it is told to", "[hooks]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  CHECK_FALSE(y.retains_grad());
  y.retain_grad();
  y.retain_grad();
  CHECK(y.retains_grad());
  (y * y).sum().backward();
  CHECK(values(y.grad()) == Values{6, 12});
  CHECK(values(x.grad()) == Values{18, 36});
  x.retain_grad();
  CHECK_FALSE(x.retains_grad());
  CHECK_THAT(error_of([] { constant({1}).retain_grad(); }), says("does not require grad"));
}

TEST_CASE("The retained gradient is that of the value after writes in place", "[hooks]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  y.retain_grad();
  y.mul_(10);
  (y * 5).sum().backward();
  CHECK(values(y.grad()) == Values{5, 5});
  CHECK(values(x.grad()) == Values{150, 150});

  const Tensor base = x * 1;
  const Tensor view = base.narrow(0, 0, 1);
  view.retain_grad();
  base.mul_(2);
  (view * 7).sum().backward();
  CHECK(values(view.grad()) == Values{7});
}

TEST_CASE("A hook registered before a write in place sees the gradient of the old value",
          "[hooks]") {
  Tensor x = leaf({1});
  const Tensor y = x * 3;
  double before = 0, after = 0;
  y.register_hook([&](const Tensor& g) { before = g.item<double>(); });
  y.mul_(10);
  y.register_hook([&](const Tensor& g) { after = g.item<double>(); });
  y.sum().backward();
  CHECK(before == 10);
  CHECK(after == 1);
}

TEST_CASE("Post-accumulate hooks see the leaf with its gradient", "[hooks]") {
  Tensor x = leaf({1, 2});
  std::vector<Values> seen;
  const auto handle = x.register_post_accumulate_grad_hook([&](const Tensor& p) {
    seen.push_back(values(p.grad()));
    p.mutable_grad() = Tensor();
  });
  (x * 2).sum().backward();
  (x * 3).sum().backward();
  CHECK(seen == std::vector<Values>{{2, 2}, {3, 3}});
  CHECK_FALSE(x.grad().defined());
  x.remove_hook(handle);
  (x * 2).sum().backward();
  CHECK(seen.size() == 2);
  CHECK_THAT(error_of([&] { (x * 2).register_post_accumulate_grad_hook([](const Tensor&) {}); }),
             says("leaves"));
}

TEST_CASE("A spent node drops its hooks and what they hold", "[hooks]") {
  const auto before = memory::memory_allocated();
  Tensor x = leaf({1, 2});
  {
    const Tensor y = x * 2;
    y.register_hook([y](const Tensor&) {});  // a cycle, until backward
    y.sum().backward();
  }
  x = Tensor();
  CHECK(memory::memory_allocated() == before);
}

TEST_CASE("A leaf's hook may speak of the leaf through a WeakTensor", "[hooks]") {
  const auto before = memory::memory_allocated();
  {
    Tensor x = leaf({1, 2});
    x.register_hook([weak = WeakTensor(x)](const Tensor& g) { return g + weak.lock().detach(); });
    x.sum().backward();
    CHECK(values(x.grad()) == Values{2, 3});
  }
  CHECK(memory::memory_allocated() == before);
}

TEST_CASE("A leaf that is gone gets no gradient, but its hooks run", "[hooks]") {
  Tensor w = leaf({3});
  const auto before = memory::memory_allocated();
  int calls = 0;
  Tensor out;
  {
    Tensor x = leaf({2});
    x.register_hook([&](const Tensor& g) { calls += g.defined(); });
    out = (x * w).sum();
  }
  out.backward();
  CHECK(calls == 1);
  CHECK(values(w.grad()) == Values{2});
  out = Tensor();
  w.mutable_grad() = Tensor();
  CHECK(memory::memory_allocated() == before);
}
