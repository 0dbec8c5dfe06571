#include "helpers.h"

using namespace ebb;

TEST_CASE("Nothing is recorded under no-grad", "[modes]") {
  Tensor x = leaf({1, 2});
  const int64_t nodes = autograd::live_nodes();
  {
    const NoGradGuard no_grad;
    CHECK_FALSE((x * 2).requires_grad());
    CHECK_FALSE(GradMode::is_enabled());
    {
      const AutoGradMode enabled(true);
      CHECK((x * 2).requires_grad());
    }
    CHECK_FALSE((x * 2).requires_grad());
    CHECK(ebb::ones({1}, ebb::requires_grad()).requires_grad());
  }
  CHECK(GradMode::is_enabled());
  CHECK(autograd::live_nodes() == nodes);
}

TEST_CASE("Grad mode is of one thread and comes back after an exception", "[modes]") {
  Tensor x = leaf({1});
  try {
    const NoGradGuard no_grad;
    x.view({7});
  } catch (const Error&) {
  }
  CHECK((x * 2).requires_grad());
}

TEST_CASE("Leaves and results know what they are", "[modes]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  CHECK(x.is_leaf());
  CHECK_FALSE(y.is_leaf());
  CHECK(constant({1}).is_leaf());
  CHECK(std::string(y.grad_fn()->name()) == "MulBackward0");
  CHECK(y.output_nr() == 0);
  CHECK_FALSE((x > 1).requires_grad());
  CHECK_THAT(error_of([] { ebb::ones({3}, kLong).requires_grad_(); }), says("floating-point"));
  CHECK_THAT(error_of([&] { y.requires_grad_(false); }), says("leaf variables"));
  y.requires_grad_(true);
  CHECK_THAT(error_of([] { Tensor().requires_grad_(); }), says("undefined"));
}

TEST_CASE("Inference tensors may be read, but not recorded or written outside", "[modes]") {
  Tensor x = leaf({1, 2});
  Tensor made, view_inside;
  {
    const InferenceMode inference;
    CHECK(InferenceMode::is_enabled());
    made = x * 2;
    CHECK(made.is_inference());
    CHECK_FALSE(made.requires_grad());
    made.add_(1);
    view_inside = x.view({2, 1});
    CHECK_FALSE(view_inside.is_inference());
  }
  CHECK_FALSE(InferenceMode::is_enabled());
  CHECK_FALSE((x * 2).is_inference());
  CHECK(values(made) == Values{3, 5});
  CHECK(made.view({2, 1}).is_inference());
  CHECK_THAT(error_of([&] { made.add_(1); }), says("inference tensor") && says("clone"));
  CHECK_THAT(error_of([&] { (void)(x * made); }), says("cannot be saved for backward"));
  CHECK_THAT(error_of([&] { made.requires_grad_(); }), says("inference tensor"));
  CHECK_THAT(error_of([&] { (void)made._version(); }), says("version"));
  CHECK_THAT(error_of([&] { view_inside.mul_(2); }), says("inference"));
  const Tensor usual = made.clone();
  CHECK_FALSE(usual.is_inference());
  (x * usual).sum().backward();
  CHECK(values(x.grad()) == Values{3, 5});
  (x + made).sum().backward();  // saves nothing of it
  CHECK(values(x.grad()) == Values{4, 6});
}

TEST_CASE("Writes in inference mode are noticed by backward", "[modes]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  const Tensor out = (y * y).sum();
  {
    const InferenceMode inference;
    y.add_(1);
  }
  CHECK_THAT(error_of([&] { out.backward(); }), says("modified by an inplace"));
}
