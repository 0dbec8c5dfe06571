#include "networks.h"
#include "programs_expected.h"

#include <limits>

#include <ebb/testing/measure.h>

using namespace networks;
using Catch::Matchers::ContainsSubstring;
using nn::utils::clip_grad_norm_;
using nn::utils::clip_grad_value_;

namespace {

/// Two parameters with gradients (3, -4) and (12), and one without.
struct Parameters {
  Parameters() { reset(); }
  void reset() {
    a.mutable_grad() = ebb::tensor({3.0, -4.0}, ebb::kDouble);
    b.mutable_grad() = ebb::tensor({12.0}, ebb::kDouble);
  }
  Tensor a = ebb::zeros({2}, ebb::kDouble).requires_grad_(true);
  Tensor b = ebb::zeros({1}, ebb::kDouble).requires_grad_(true);
  Tensor unused = ebb::zeros({1}, ebb::kDouble).requires_grad_(true);
  std::vector<Tensor> all{a, unused, b};
};

}  // namespace

TEST_CASE("gradients are clipped as LibTorch clips them") {
  const programs::Expected expected("optimizers");
  Parameters p;
  expected.check("clip.norm", clip_grad_norm_(p.all, 6.5), 1e-7);
  expected.check("clip.a", p.a.grad(), 1e-7);
  expected.check("clip.b", p.b.grad(), 1e-7);
  expected.check("clip.again", clip_grad_norm_(p.all, 100.0), 1e-7);
  expected.check("clip.small_enough", p.a.grad(), 1e-7);
  p.reset();
  expected.check("clip.norm_1", clip_grad_norm_(p.all, 1.0, 1.0), 1e-7);
  expected.check("clip.norm_1.a", p.a.grad(), 1e-7);
  p.reset();
  expected.check("clip.norm_inf",
                 clip_grad_norm_(p.all, 6.0, std::numeric_limits<double>::infinity()), 1e-7);
  expected.check("clip.norm_inf.a", p.a.grad(), 1e-7);
  p.reset();
  clip_grad_value_(p.all, 3.5);
  expected.check("clip.value.a", p.a.grad(), 1e-7);
  expected.check("clip.value.b", p.b.grad(), 1e-7);
  CHECK_FALSE(p.unused.grad().defined());
  CHECK(clip_grad_norm_(p.unused, 1.0) == 0);
}

TEST_CASE("a norm that is not finite is refused if asked for, before anything is scaled") {
  Parameters p;
  p.b.mutable_grad() = ebb::tensor({std::numeric_limits<double>::infinity()}, ebb::kDouble);
  CHECK_THROWS_WITH(clip_grad_norm_(p.all, 1.0, 2.0, /*error_if_nonfinite=*/true),
                    ContainsSubstring("non-finite"));
  CHECK(ebb::equal(p.a.grad(), ebb::tensor({3.0, -4.0}, ebb::kDouble)));
  CHECK(clip_grad_norm_(p.all, 1.0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("clipping copies no gradient") {
  Tensor w = ebb::zeros({100000}).requires_grad_(true);
  w.mutable_grad() = ebb::ones({100000});
  const auto by_norm = ebb::testing::measure([&] { clip_grad_norm_({w}, 1.0); });
  CHECK(by_norm.net_bytes == 0);
  CHECK(by_norm.peak_bytes <= 8192);
  const auto by_value = ebb::testing::measure([&] { clip_grad_value_({w}, 1e-3); });
  CHECK(by_value.requests == 0);
  CHECK(w.grad().max().item<float>() == Approx(1e-3));
}
