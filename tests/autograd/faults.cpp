#include "helpers.h"

#include <ebb/testing/fail_allocation.h>
#include <stdexcept>

using namespace ebb;

TEST_CASE("An exception in backward reaches the caller and spends the graph", "[faults]") {
  Tensor a = leaf({1, 2});
  Tensor b = leaf({3, 4});
  Tensor c = leaf({5, 6});
  const auto bytes = memory::memory_allocated();
  Tensor middle = a * b;
  Tensor out = (middle * middle + c * 2).sum();
  middle.register_hook([](const Tensor&) { throw std::runtime_error("from a hook"); });
  CHECK_THROWS_WITH(out.backward(), "from a hook");
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(b.grad().defined());
  CHECK(values(c.grad()) == Values{2, 2});  // had come before: a complete sum of its own
  CHECK_THAT(error_of([&] { out.backward(); }), says("second time"));
  CHECK(thread_state().op_name == nullptr);
  CHECK(thread_state().current_node == nullptr);
  CHECK(GradMode::is_enabled());
  middle = Tensor();
  out = Tensor();
  c.mutable_grad() = Tensor();
  CHECK(memory::memory_allocated() == bytes);
  (a * b).sum().backward();
  CHECK(values(a.grad()) == Values{3, 4});
}

TEST_CASE("A graph that is retained survives an exception", "[faults]") {
  Tensor a = leaf({1, 2});
  const Tensor y = a * a;
  bool broken = true;
  y.register_hook([&](const Tensor&) {
    if (broken) throw std::runtime_error("once");
  });
  CHECK_THROWS(y.sum().backward({}, /*retain_graph=*/true));
  broken = false;
  y.sum().backward();
  CHECK(values(a.grad()) == Values{2, 4});
}

TEST_CASE("Anomaly mode names the op that made a NaN", "[faults]") {
  Tensor x = leaf({-1, 4});
  const Tensor out = x.sqrt().sum();  // NaN in the forward pass already
  {
    const autograd::DetectAnomalyGuard guard;
    CHECK(autograd::AnomalyMode::is_enabled());
    const std::string message = error_of([&] { out.backward({}, true); });
    CHECK_THAT(message, says("SqrtBackward0") && says("nan") && says("sqrt") && says("[2]"));
  }
  CHECK_FALSE(autograd::AnomalyMode::is_enabled());
  {
    const autograd::DetectAnomalyGuard without_check(/*check_nan=*/false);
    out.backward({}, true);
  }
  out.backward();
  CHECK(std::isnan(values(x.grad())[0]));

  Tensor y = leaf({0, 1});
  const autograd::DetectAnomalyGuard guard;
  const Tensor fine = (y * 2).exp().sum();
  fine.backward();
  CHECK(values(y.grad())[0] == 2);
}

TEST_CASE("Errors inside backward name the node", "[faults]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  const Tensor out = (y * y).sum();
  y.zero_();
  CHECK_THAT(error_of([&] { out.backward(); }), Catch::Matchers::StartsWith("MulBackward0"));
}

TEST_CASE("Running out of memory in backward leaves gradients whole", "[faults]") {
  for (int n = 1; n < 40; ++n) {
    Tensor a = ebb::ones({200}, kDouble).requires_grad_();
    Tensor b = ebb::ones({200}, kDouble).requires_grad_();
    (a * b).sum().backward();
    const auto bytes = memory::memory_allocated();
    bool failed = false;
    {
      const Tensor out = ((a * b).exp() * a).sum();
      const testing::FailAllocation fault(n);
      try {
        out.backward();
      } catch (const OutOfMemoryError&) {
        failed = true;
      }
    }
    CHECK(memory::memory_allocated() == bytes);
    for (const Tensor& leaf : {a, b}) {
      const Values grad = values(leaf.grad());
      CHECK(std::all_of(grad.begin(), grad.end(), [&](double g) { return g == grad[0]; }));
    }
    if (!failed) {
      CHECK(n > 1);
      CHECK(values(b.grad())[0] == Approx(1 + std::exp(1.0)));
      return;
    }
    a.mutable_grad() = Tensor();
    (a * 2).sum().backward();
    CHECK(values(a.grad())[0] == 2);
  }
  FAIL("backward never got through");
}
