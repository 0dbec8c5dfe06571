#include "helpers.h"

using namespace ebb;
using autograd::AutogradContext;
using autograd::variable_list;

namespace {

/// Runs `step` a thousand times, and checks that memory and nodes are the same as after the first.
template <typename Step>
void check_flat(Step&& step) {
  step();
  const auto bytes = memory::memory_allocated();
  const int64_t nodes = autograd::live_nodes();
  for (int i = 0; i < 1000; ++i) step();
  CHECK(memory::memory_allocated() == bytes);
  CHECK(autograd::live_nodes() == nodes);
}

struct Inner : autograd::Function<Inner> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x.tanh();
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const AutoGradMode recording(true);
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    return {autograd::grad({x.tanh()}, {x}, {grads[0].detach()})[0]};
  }
};

}  // namespace

TEST_CASE("A thousand steps of training leave nothing behind", "[leaks]") {
  Tensor w = ebb::ones({8, 8}).requires_grad_();
  const Tensor x = ebb::ones({4, 8});
  check_flat([&] {
    w.mutable_grad() = Tensor();
    const Tensor loss = (x.matmul(w).relu() * 0.1).sum();
    loss.backward();
    const NoGradGuard no_grad;
    w.sub_(w.grad() * 0.01);
  });
}

TEST_CASE("A custom backward that calls grad leaks nothing", "[leaks]") {
  Tensor x = leaf({0.5, 1});
  check_flat([&] {
    x.mutable_grad() = Tensor();
    Inner::apply(x * 2).sum().backward();
  });
}

TEST_CASE("create_graph leaks nothing once the gradient is reset", "[leaks]") {
  Tensor x = leaf({0.5, 1});
  check_flat([&] {
    (x * x * x).sum().backward({}, std::nullopt, /*create_graph=*/true);
    x.grad().sum().backward();
    x.mutable_grad() = Tensor();
  });
}

TEST_CASE("Double backward leaks nothing", "[leaks]") {
  Tensor x = leaf({0.5, 1});
  check_flat([&] {
    const auto slope = autograd::grad({(x * x.exp()).sum()}, {x}, {}, true, true)[0];
    x.mutable_grad() = Tensor();
    slope.pow(2).sum().backward();
  });
}

TEST_CASE("Graphs that are never run leak nothing", "[leaks]") {
  Tensor x = leaf({0.5, 1});
  check_flat([&] {
    const Tensor y = x.exp() * x;
    y.register_hook([](const Tensor&) {});
    y.narrow(0, 0, 1).mul_(x.sum());
    y.retain_grad();
  });
}

TEST_CASE("Failed steps leak nothing", "[leaks]") {
  Tensor x = leaf({0.5, 1});
  check_flat([&] {
    const Tensor y = x * 1;
    const Tensor out = (y * y).sum();
    y.add_(1);
    CHECK_THROWS_AS(out.backward(), Error);
  });
}
