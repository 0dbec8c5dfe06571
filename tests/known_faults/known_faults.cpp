// Faults that other libraries are known for, one test each. That the pool is searched again after
// the last release of cached memory needs streams: tests/memory/streams.cpp.

#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <cmath>
#include <string>
#include <thread>

#include "catch.h"

namespace {

using ebb::Tensor;
using ebb::memory::memory_allocated;

Tensor leaf() { return ebb::ones({300}).requires_grad_(); }

/// Whether backward from `result` fails because of a write in place.
bool notices(const Tensor& result) {
  try {
    result.sum().backward();
  } catch (const ebb::Error& error) {
    const bool said = std::string(error.what()).find("modified by an inplace") != std::string::npos;
    CHECK(said);
    return said;
  }
  return false;
}

/// Takes `step` once, then a thousand times, and checks that these left nothing.
template <typename Step>
void check_flat(Step&& step) {
  step();
  const auto bytes = memory_allocated();
  const auto nodes = ebb::autograd::live_nodes();
  for (int i = 0; i < 1000; ++i) step();
  CHECK(memory_allocated() == bytes);
  CHECK(ebb::autograd::live_nodes() == nodes);
}

/// tanh, whose backward differentiates a graph of its own.
struct CallsGrad : ebb::autograd::Function<CallsGrad> {
  static Tensor forward(ebb::autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x.tanh();
  }
  static ebb::autograd::variable_list backward(ebb::autograd::AutogradContext* ctx,
                                               ebb::autograd::variable_list grads) {
    const ebb::AutoGradMode recording(true);
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    return {ebb::autograd::grad({x.tanh()}, {x}, {grads[0].detach()})[0]};
  }
};

}  // namespace

TEST_CASE("A write through detach() is noticed by backward") {
  const Tensor x = leaf();
  const Tensor y = x * 2;
  const Tensor z = y * y;
  y.detach().zero_();
  CHECK(notices(z));
}

TEST_CASE("A write through data() is not noticed by backward, and changes what it sees") {
  const Tensor x = leaf();
  const Tensor y = x * 2;
  const Tensor z = y * y;
  y.data().fill_(5);
  CHECK_FALSE(notices(z));
  CHECK(ebb::equal(x.grad(), ebb::full({300}, 20.0)));
}

TEST_CASE("An op whose saved input was changed in place fails in backward") {
  const Tensor x = leaf();
  const Tensor y = x * 1;
  const Tensor z = y.sin();
  y.add_(1);
  CHECK(notices(z));
}

TEST_CASE("An op whose input was changed in place without being saved does not fail") {
  const Tensor x = leaf();
  const Tensor y = x * 1;
  const Tensor z = y + y;
  const Tensor w = y * x.detach();  // keeps the constant, not y
  y.add_(1);
  CHECK_FALSE(notices(z + w));
  CHECK(ebb::equal(x.grad(), ebb::full({300}, 3.0)));
}

TEST_CASE("exp() followed by zero_() on the result is caught") {
  const Tensor x = leaf();
  const Tensor y = x.exp();
  const Tensor z = y * 2;
  y.zero_();
  CHECK(notices(z));
}

TEST_CASE("A graph of a million nodes is freed without deep recursion") {
  // A thread's stack may be small: this one is full after some ten thousand nested frees.
  const auto nodes = ebb::autograd::live_nodes();
  Tensor x = ebb::ones({1}).requires_grad_();
  Tensor y = x * 1;
  for (int i = 0; i < 1000000; ++i) y = y + 1;
  CHECK(ebb::autograd::live_nodes() >= nodes + 1000000);
  std::thread([&] { y.reset(); }).join();
  CHECK(ebb::autograd::live_nodes() <= nodes + 1);
}

TEST_CASE("A custom backward that calls grad leaks nothing over a thousand steps") {
  Tensor x = leaf();
  check_flat([&] {
    CallsGrad::apply(x * 2).sum().backward();
    x.mutable_grad() = Tensor();
  });
}

TEST_CASE("Double backward through two convolutions leaks nothing over a thousand steps") {
  Tensor x = ebb::rand({1, 1, 5, 5}).requires_grad_();
  const Tensor first = ebb::rand({2, 1, 3, 3}).requires_grad_();
  const Tensor second = ebb::rand({1, 2, 3, 3}).requires_grad_();
  check_flat([&] {
    const auto y = ebb::conv2d(ebb::conv2d(x, first, {}, 1, 1).tanh(), second);
    const auto slope = ebb::autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0];
    slope.square().sum().backward();
    CHECK(first.grad().defined());
    for (const auto& tensor : {x, first, second}) tensor.mutable_grad() = Tensor();
  });
}

TEST_CASE("create_graph with the gradient reset leaks nothing over a thousand steps") {
  Tensor x = leaf();
  check_flat([&] {
    (x * x * x).sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true);
    CHECK(x.grad().requires_grad());
    x.mutable_grad() = Tensor();
  });
}

TEST_CASE("Forward passes with ever-changing sizes do not grow without bound") {
  ebb::nn::Sequential net(ebb::nn::Linear(64, 64), ebb::nn::ReLU(), ebb::nn::Linear(64, 8));
  const ebb::NoGradGuard no_grad;
  const auto before = memory_allocated();
  ebb::memory::empty_cache();
  int64_t largest = 0;
  for (int i = 0; i < 400; ++i) {
    const int64_t rows = 1 + (i * 7919) % 9973;
    largest = std::max(largest, rows);
    (void)net->forward(ebb::ones({rows, 64}));
  }
  CHECK(memory_allocated() == before);
  // Three tensors of the largest pass at once, each from segments of 20 MiB at most.
  CHECK(largest * 64 * 4 < (3 << 20));
  CHECK(ebb::memory::memory_reserved() <= before + (64 << 20));
}

TEST_CASE("Two threads that run backward on graphs sharing a leaf lose no gradient", "[threads]") {
  const Tensor x = leaf();
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) (x * 2).sum().backward();
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(ebb::equal(x.grad(), ebb::full({300}, 800.0)));
}

TEST_CASE("After an out-of-memory error the next request that fits succeeds") {
  const auto device = ebb::get_default_device();
  const auto limit = static_cast<size_t>(ebb::memory::memory_reserved()) + (64u << 20);
  ebb::memory::set_memory_limit(device, limit);
  CHECK_THROWS_AS(ebb::empty({int64_t{1} << 26}), ebb::OutOfMemoryError);
  CHECK_NOTHROW(ebb::empty({int64_t{1} << 23}));
  // The cache holds that segment now: a larger request must get it back from there.
  CHECK_NOTHROW(ebb::empty({int64_t{3} << 22}));
  ebb::memory::set_memory_limit(device, 0);
}
