#include "helpers.h"

using namespace ebb;

TEST_CASE("A write through a view becomes part of the history of its base", "[views]") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = (x * 1).view({2, 2});
  y.select(0, 0).mul_(2);
  CHECK(values(y) == Values{2, 4, 3, 4});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{2, 2, 1, 1});
}

TEST_CASE("A view that was there before follows its base", "[views]") {
  Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor early = base.slice(0, 1, 3);
  const auto old_node = early.grad_fn();
  base.mul_(x);
  CHECK(values(early) == Values{4, 9});
  CHECK(early.grad_fn() != old_node);
  CHECK(early.grad_fn() == early.grad_fn());
  early.sum().backward();
  CHECK(values(x.grad()) == Values{0, 4, 6, 0});
}

TEST_CASE("Writes through one view are seen by another", "[views]") {
  Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor front = base.narrow(0, 0, 3);
  const Tensor back = base.narrow(0, 1, 3);
  front.mul_(10);
  back.mul_(x.narrow(0, 0, 3));
  CHECK(values(base) == Values{10, 20, 60, 12});
  (front * constant({1, 1, 1})).sum().backward();
  // front = 10 a, 10 b a, 10 c b
  CHECK(values(x.grad()) == Values{10 + 20, 10 + 30, 20, 0});
}

TEST_CASE("Views of views name their root base", "[views]") {
  Tensor x = leaf({1, 2, 3, 4, 5, 6});
  const Tensor base = x * 1;
  const Tensor view = base.view({2, 3});
  const Tensor deep = view.t().slice(0, 1, 3).select(1, 1);
  CHECK_FALSE(base.is_view());
  CHECK(view.is_view());
  CHECK(deep.is_view());
  CHECK(deep._base().is_same(base));
  CHECK_THAT(error_of([&] { (void)base._base(); }), says("not a view"));
}

TEST_CASE("Through nested views and a transpose, with an operand of its own", "[views]") {
  Tensor b = leaf({1, 2, 3, 4, 5, 6});
  Tensor w = leaf({10, 20});
  Tensor grid = (b * b).view({2, 3});
  grid.t().slice(0, 1, 3).select(1, 1).mul_(w);
  CHECK(values(grid) == Values{1, 4, 9, 16, 250, 720});
  grid.sum().backward();
  CHECK(values(b.grad()) == Values{2, 4, 6, 8, 100, 240});
  CHECK(values(w.grad()) == Values{25, 36});
}

TEST_CASE("A broadcast operand of a write through a view gets its gradient summed", "[views]") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor s = leaf({5});
  Tensor y = (x * 1).view({2, 2});
  y.select(1, 0).mul_(s);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{5, 1, 5, 1});
  CHECK(values(s.grad()) == Values{4});
}

TEST_CASE("Views keep the memory of their base alive", "[views]") {
  Tensor x = ebb::zeros({4});
  const Tensor view = x.narrow(0, 1, 2);
  x = Tensor();
  view.fill_(1);
  CHECK(values(view) == Values{1, 1});
}

TEST_CASE("Several views of one op refuse writes that would be recorded", "[views]") {
  Tensor x = leaf({1, 2});
  const auto parts = (x * 1).split(1);
  CHECK_THAT(error_of([&] { parts[0].add_(1); }), says("one of several"));
  {
    const NoGradGuard no_grad;
    parts[0].add_(1);
  }
  const auto constants = constant({1, 2}).split(1);
  constants[0].add_(1);
  CHECK(values(constants[0]) == Values{2});
  CHECK_THAT(error_of([&] { constants[1].copy_(x.narrow(0, 0, 1)); }), says("one of several"));
}

TEST_CASE("Views made under no-grad refuse writes that would be recorded", "[views]") {
  Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  const Tensor buffer = ebb::zeros({3}, kDouble);
  Tensor view, part;
  {
    const NoGradGuard no_grad;
    view = base.view({2, 1});
    part = buffer.narrow(0, 0, 2);
  }
  CHECK_FALSE(view.grad_fn().defined());
  CHECK_THAT(error_of([&] { view.mul_(2); }), says("no-grad"));
  CHECK_THAT(error_of([&] { part.copy_(x); }), says("no-grad"));
  CHECK(values(buffer) == Values{0, 0, 0});
  {
    const NoGradGuard no_grad;
    view.mul_(2);
    part.copy_(x);
  }
  CHECK(values(base) == Values{2, 4});
}

TEST_CASE("Views of constants cost no memory and record nothing", "[views]") {
  const Tensor x = ebb::zeros({2, 3});
  const auto before = memory::memory_allocated();
  const int64_t nodes = autograd::live_nodes();
  const Tensor view = x.t().narrow(0, 1, 2).unsqueeze(0);
  CHECK(memory::memory_allocated() == before);
  CHECK(autograd::live_nodes() == nodes);
  CHECK_FALSE(view.requires_grad());
}

TEST_CASE("In-place changes of a base do not leak nodes through its views", "[views]") {
  const int64_t before = autograd::live_nodes();
  const auto bytes = memory::memory_allocated();
  {
    Tensor x = leaf({1, 2, 3});
    const Tensor base = x * 1;
    const Tensor view = base.narrow(0, 0, 2);
    for (int i = 0; i < 100; ++i) {
      view.mul_(1.5);
      base.sigmoid_();
      base.mul_(view.sum());
    }
  }
  CHECK(autograd::live_nodes() == before);
  CHECK(memory::memory_allocated() == bytes);
}
