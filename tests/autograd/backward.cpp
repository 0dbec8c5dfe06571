#include "helpers.h"

#include <ebb/autograd/node.h>

using namespace ebb;

TEST_CASE("backward adds the gradient of a scalar to its leaves", "[autograd]") {
  Tensor x = leaf({1, 2, 3});
  (x * x).sum().backward();
  CHECK(values(x.grad()) == Values{2, 4, 6});
  (x * 10).sum().backward();
  CHECK(values(x.grad()) == Values{12, 14, 16});
  x.mutable_grad() = Tensor();
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(x.grad_fn().defined());
}

TEST_CASE("The gradient of a tensor that is no scalar must be given, in its sizes", "[autograd]") {
  Tensor x = leaf({1, 2, 3});
  CHECK_THAT(error_of([&] { (x * 2).backward(); }), says("only for scalar outputs"));
  CHECK_THAT(error_of([&] { (x * 2).backward(constant({1, 1})); }), says("[2]") && says("[3]"));
  CHECK_THAT(error_of([&] { (x * 2).backward(ebb::tensor({1, 2, 3})); }), says("Long"));
  CHECK_THAT(error_of([&] { constant({1}).backward(); }), says("does not require grad"));
  CHECK_THAT(error_of([&] { Tensor().backward(); }), says("undefined"));
  CHECK_FALSE(x.grad().defined());
  (x * 2).backward(constant({1, 10, 100}));
  CHECK(values(x.grad()) == Values{2, 20, 200});
}

TEST_CASE("Several roots are differentiated at once", "[autograd]") {
  Tensor a = leaf({2});
  Tensor b = leaf({5});
  const Tensor product = a * b;
  autograd::backward({product, a + b, product}, {constant({1}), constant({10}), constant({1})});
  CHECK(values(a.grad()) == Values{20});
  CHECK(values(b.grad()) == Values{14});
  CHECK_THAT(error_of([&] {
               autograd::backward({a * b}, {constant({1}), constant({1})});
             }),
             says("1 tensors and 2 gradients"));
}

TEST_CASE("Every path through the graph counts once", "[autograd]") {
  Tensor x = leaf({3});
  const Tensor square = x * x;
  (square * (square + x)).sum().backward();  // x^4 + x^3
  CHECK(values(x.grad()) == Values{135});

  Tensor y = leaf({1});
  Tensor doubled = y;
  for (int i = 0; i < 30; ++i) doubled = doubled + doubled;  // 2^30 paths, 30 nodes
  doubled.sum().backward();
  CHECK(values(y.grad()) == Values{1073741824.0});
}

TEST_CASE("A graph that saved something is spent by backward unless it is retained", "[autograd]") {
  Tensor x = leaf({1, 2});
  const Tensor kept = (x * x).sum();
  kept.backward({}, /*retain_graph=*/true);
  kept.backward();
  CHECK(values(x.grad()) == Values{4, 8});
  CHECK_THAT(error_of([&] { kept.backward(); }), says("backward through the graph a second time") &&
                                                     says("MulBackward0") &&
                                                     says("retain_graph=true"));
  CHECK(values(x.grad()) == Values{4, 8});

  // As in LibTorch, what saved nothing may run again.
  Tensor y = leaf({1, 2});
  const Tensor sum = y.sum();
  sum.backward();
  sum.backward();
  CHECK(values(y.grad()) == Values{2, 2});
}

TEST_CASE("Gradients take the sizes and the dtype of the leaf", "[autograd]") {
  Tensor column = ebb::ones({3, 1}).requires_grad_();
  Tensor row = ebb::ones({2}, kDouble).requires_grad_();
  Tensor scalar = ebb::ones({}, kDouble).requires_grad_();
  (column * row * scalar).sum().backward();
  CHECK(column.grad().sizes() == IntArrayRef({3, 1}));
  CHECK(column.grad().dtype() == kFloat);
  CHECK(values(column.grad()) == Values{2, 2, 2});
  CHECK(values(row.grad()) == Values{3, 3});
  CHECK(scalar.grad().dim() == 0);
  CHECK(values(scalar.grad()) == Values{6});
}

TEST_CASE("backward with inputs accumulates into these only", "[autograd]") {
  Tensor a = leaf({2});
  Tensor b = leaf({3});
  const Tensor middle = a * b;
  const std::vector<Tensor> inputs = {b};
  (middle * middle).sum().backward({}, /*retain_graph=*/true, false, TensorList(inputs));
  CHECK_FALSE(a.grad().defined());
  CHECK(values(b.grad()) == Values{24});

  const Tensor again = a * b;
  autograd::backward({(again * again).sum()}, {}, {}, false, {again});
  CHECK(values(again.grad()) == Values{12});
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("A root may be a leaf", "[autograd]") {
  Tensor x = leaf({4});
  x.backward();
  x.backward(constant({2}));
  CHECK(values(x.grad()) == Values{3});
}

TEST_CASE("grad returns gradients and leaves .grad alone", "[autograd]") {
  Tensor x = leaf({2});
  const auto first = autograd::grad({x.pow(4).sum()}, {x}, {}, true, true)[0];
  const auto second = autograd::grad({first.sum()}, {x}, {}, true, true)[0];
  const auto third = autograd::grad({second.sum()}, {x})[0];
  CHECK(values(first) == Values{32});
  CHECK(values(second) == Values{48});
  CHECK(values(third) == Values{48});
  CHECK(first.requires_grad());
  CHECK_FALSE(third.requires_grad());
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("grad tells which input has no part in the outputs", "[autograd]") {
  Tensor x = leaf({1});
  Tensor other = leaf({1});
  CHECK_THAT(error_of([&] {
               (void)autograd::grad({(x * 3).sum()}, {x, other});
             }),
             says("not have been used in the graph") && says("input 1"));
  const auto grads = autograd::grad({(x * 3).sum()}, {x, other}, {}, {}, false, true);
  CHECK(values(grads[0]) == Values{3});
  CHECK_FALSE(grads[1].defined());
  CHECK_THAT(error_of([&] { (void)autograd::grad({(x * 3).sum()}, {constant({1})}); }),
             says("does not require grad"));
  CHECK_THAT(error_of([&] { (void)autograd::grad({(x * 3).sum()}, {}); }), says("no inputs"));
}

TEST_CASE("grad stops at its inputs and takes tensors in the middle", "[autograd]") {
  Tensor x = leaf({1, 2});
  int calls = 0;
  const Tensor early = x * 2;
  early.register_hook([&](const Tensor&) { ++calls; });
  const Tensor middle = early * 3;
  const Tensor out = (middle * middle).sum();
  const auto grads = autograd::grad({out}, {middle, middle}, {}, /*retain_graph=*/true);
  CHECK(values(grads[0]) == Values{12, 24});
  CHECK(values(grads[1]) == Values{12, 24});
  CHECK(calls == 0);
  CHECK(values(autograd::grad({out}, {out})[0]) == Values{1});  // the output itself
  CHECK(calls == 0);
  CHECK(values(autograd::grad({out}, {middle, x})[1]) == Values{72, 144});
  CHECK(calls == 1);
}

TEST_CASE("Nodes run in descending order of recording, leaves first of all", "[autograd]") {
  Tensor x = leaf({1});
  Tensor y = leaf({1});
  std::vector<std::string> order;
  const Tensor a = x * 2;
  const Tensor b = y * 3;
  const Tensor c = a * 1;
  a.register_hook([&](const Tensor&) { order.emplace_back("a"); });
  b.register_hook([&](const Tensor&) { order.emplace_back("b"); });
  c.register_hook([&](const Tensor&) { order.emplace_back("c"); });
  x.register_hook([&](const Tensor&) { order.emplace_back("x"); });
  y.register_hook([&](const Tensor&) { order.emplace_back("y"); });
  (c + b).sum().backward();
  CHECK(order == std::vector<std::string>{"c", "b", "y", "a", "x"});
}

TEST_CASE("A graph of a million nodes is differentiated and freed without deep recursion",
          "[autograd]") {
  const int64_t before = autograd::live_nodes();
  {
    Tensor x = leaf({1});
    Tensor y = x * 1;
    for (int i = 0; i < 1000000; ++i) y = y + 1;
    y.sum().backward();
    CHECK(values(x.grad()) == Values{1});
  }
  CHECK(autograd::live_nodes() == before);
  {  // each node saves its result, and is held weakly from outside
    Tensor x = leaf({0});
    Tensor y = x.sin();
    std::vector<weak_intrusive_ptr<autograd::Node>> nodes;
    for (int i = 0; i < 100000; ++i) {
      y = y.sin();
      nodes.emplace_back(y.grad_fn());
    }
    y = Tensor();
    CHECK(nodes[0].expired());
    CHECK(nodes.back().expired());
  }
  CHECK(autograd::live_nodes() == before);
}

TEST_CASE("create_graph makes gradients that can be differentiated", "[autograd]") {
  Tensor w = leaf({1, -1});
  Tensor v = leaf({1, 2});
  const auto slope = autograd::grad({(w * v * v).sum()}, {v}, {}, true, true)[0];  // 2 w v
  slope.pow(2).sum().backward();
  CHECK(values(w.grad()) == Values{8, -32});
  CHECK(values(v.grad()) == Values{8, 16});

  Tensor x = leaf({3});
  (x * x * x).sum().backward({}, std::nullopt, /*create_graph=*/true);
  CHECK(x.grad().requires_grad());
  x.grad().sum().backward();
  CHECK(values(x.grad()) == Values{27 + 18});
  x.mutable_grad() = Tensor();  // the graph holds the leaf, and the leaf the graph
}
