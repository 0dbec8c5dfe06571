#include <ebb/core/ops/linear_cross_entropy.h>
#include <ebb/ebb.h>
#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

// The loss of a language model without its logits: as cross_entropy(linear(...)), chunk by chunk.

using namespace ebb;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 300;
constexpr int64_t kFeatures = 24;
constexpr int64_t kClasses = 700;
constexpr int64_t kChunk = 64;  // five chunks, the last of 44 rows

int64_t bytes(int64_t numel, int64_t element = 4) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * element)));
}

struct Problem {
  Tensor input;
  Tensor weight;
  Tensor bias;
  Tensor target;
};

Problem problem(ScalarType dtype = kDouble, int64_t rows = kRows, int64_t classes = kClasses) {
  const GeneratorGuard guard(Generator(get_default_device(), 3));
  const auto options = TensorOptions(dtype);
  Problem p{randn({rows, kFeatures}).to(options).requires_grad_(),
            (randn({classes, kFeatures}) * 0.3).to(options).requires_grad_(),
            randn({classes}).to(options).requires_grad_(), randint(0, classes, {rows}, kLong)};
  return p;
}

struct Settings {
  int64_t reduction = Reduction::Mean;
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};

Tensor plain(const Problem& p, const Settings& s = {}) {
  return cross_entropy_loss(linear(p.input, p.weight, p.bias), p.target, {}, s.reduction,
                            s.ignore_index, s.label_smoothing);
}

Tensor chunked(const Problem& p, const Settings& s = {}, int64_t chunk = kChunk) {
  return linear_cross_entropy(p.input, p.weight, p.target, p.bias, s.reduction, s.ignore_index,
                              s.label_smoothing, chunk);
}

std::vector<Tensor> gradients(const Problem& p, const Tensor& loss) {
  return autograd::grad({(loss * loss).sum()}, {p.input, p.weight, p.bias});
}

void check_same(const Problem& p, const Settings& s, double tolerance) {
  const Tensor expected = plain(p, s);
  const Tensor loss = chunked(p, s);
  CHECK(loss.sizes() == expected.sizes());
  CHECK(loss.scalar_type() == expected.scalar_type());
  CHECK(allclose(loss, expected, tolerance, tolerance));
  const auto wanted = gradients(p, expected);
  const auto got = gradients(p, loss);
  for (size_t i = 0; i < wanted.size(); ++i) {
    CHECK(got[i].scalar_type() == wanted[i].scalar_type());
    CHECK(allclose(got[i], wanted[i], tolerance, tolerance));
  }
}

}  // namespace

TEST_CASE("The loss and its gradients are those of cross_entropy(linear()), chunk by chunk") {
  for (const int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    for (const double smoothing : {0.0, 0.1}) {
      // Rounding apart the same sums, in another order.
      check_same(problem(), {reduction, -100, smoothing}, 1e-9);
      check_same(problem(), {reduction, 7, smoothing}, 1e-9);
    }
  }
  check_same(problem(kFloat), {}, 1e-4);
}

TEST_CASE("Rows whose class is ignored count for nothing, and nothing but them is NaN") {
  Problem p = problem(kDouble, 10);
  p.target.narrow(0, 0, 9).fill_(5);
  p.target.narrow(0, 9, 1).fill_(6);
  check_same(p, {Reduction::Mean, 5, 0}, 1e-9);
  p.target.fill_(5);
  CHECK(chunked(p, {Reduction::Mean, 5, 0}, 4).isnan().item<bool>());
  CHECK(chunked(p, {Reduction::Sum, 5, 0}, 4).item<double>() == 0);
  const Problem none = problem(kFloat, 0);
  CHECK(chunked(none).isnan().item<bool>());
  chunked(none, {Reduction::Sum, -100, 0}).backward();
  CHECK(none.weight.grad().sizes() == IntArrayRef{kClasses, kFeatures});
  CHECK(none.weight.grad().abs().sum().item<float>() == 0);
}

TEST_CASE("Inputs have any number of dimensions, and the size of a chunk changes rounding alone") {
  const Problem p = problem(kDouble, 24);
  const Tensor flat = chunked(p, {Reduction::None, -100, 0}, 5);
  const Tensor losses = linear_cross_entropy(p.input.view({2, 3, 4, kFeatures}), p.weight,
                                             p.target.view({2, 3, 4}), p.bias, Reduction::None);
  CHECK(losses.sizes() == IntArrayRef{2, 3, 4});
  CHECK(allclose(losses.flatten(), flat, 1e-12, 1e-12));
  const Tensor one =
      linear_cross_entropy(p.input[0].reshape({kFeatures}), p.weight, p.target[0], p.bias);
  CHECK(one.item<double>() == Approx(flat[0].item<double>()));
  // Columns of a wider tensor, read as they lie.
  const Tensor wide = cat({p.input, p.input}, 1).narrow(1, kFeatures, kFeatures);
  CHECK(equal(linear_cross_entropy(wide, p.weight, p.target, p.bias, Reduction::None, -100, 0, 5),
              flat));
  for (const int64_t chunk : {0, 1, 23, 24, 1000}) {
    CHECK(allclose(chunked(p, {Reduction::None, -100, 0}, chunk), flat, 1e-12, 1e-12));
  }
}

TEST_CASE("The same call gives the same bits") {
  const Problem p = problem(kFloat);
  const auto first = gradients(p, chunked(p));
  const auto second = gradients(p, chunked(p));
  for (size_t i = 0; i < first.size(); ++i) CHECK(equal(first[i], second[i]));
}

TEST_CASE("Forward holds the logits of one chunk, and leaves a number for each row") {
  Problem p = problem(kFloat);
  p.bias = Tensor();
  Tensor loss;
  const int64_t row_numbers = bytes(kRows);
  const int64_t scalars = 3 * 512;  // sums and counts of the chunks, and scratch of the loss
  const auto forward = measure([&] { loss = chunked(p); });
  CHECK(forward.peak_bytes == bytes(kChunk * kClasses) + row_numbers + scalars);
  CHECK(forward.net_bytes == row_numbers + 2 * 512);  // the log-sum-exp, the count, the loss

  const auto backward = measure([&] { loss.backward(); });
  const int64_t of_parameters = bytes(kRows * kFeatures) + bytes(kClasses * kFeatures);
  // Above the start: the gradient of the loss, those of input and weight, one chunk's logits, in
  // whose memory their gradient is made; on a device that counts the classes' weights, 512 more.
  const int64_t scratch = get_default_device().is_cpu() ? 0 : 512;
  CHECK(backward.peak_bytes == 512 + of_parameters + bytes(kChunk * kClasses) + scratch);
  CHECK(backward.net_bytes == of_parameters - row_numbers - 512);
}

TEST_CASE("The default chunk has no more logits than the input has elements, or 128 rows") {
  CHECK(ops::linear_cross_entropy_chunk(8192, 768, 50257) == 128);
  CHECK(ops::linear_cross_entropy_chunk(65536, 768, 8192) == 6144);
  CHECK(ops::linear_cross_entropy_chunk(0, 768, 0) == 128);
  Problem p = problem(kFloat, 1000, 256);
  p.bias = Tensor();
  const NoGradGuard no_grad;
  const auto forward = measure([&] { (void)chunked(p, {}, 0); });
  CHECK(forward.peak_bytes == bytes(128 * 256) + bytes(1000) + 3 * 512);
}

TEST_CASE("Half and bfloat16 are added up in float32") {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Problem p = problem(dtype);
    const Tensor loss = chunked(p, {Reduction::Sum, -100, 0});
    CHECK(loss.scalar_type() == dtype);
    Problem wide{p.input.detach().to(kFloat).requires_grad_(),
                 p.weight.detach().to(kFloat).requires_grad_(),
                 p.bias.detach().to(kFloat).requires_grad_(), p.target};
    // Logits of up to 8 are rounded to `dtype` once, and so is the result.
    const double step = dtype == kHalf ? 0x1p-10 : 0x1p-7;
    const double expected = plain(wide, {Reduction::Sum, -100, 0}).item<double>();
    CHECK(loss.item<double>() == Approx(expected).epsilon(2 * step));
    const auto got = autograd::grad({chunked(p)}, {p.input, p.weight, p.bias});
    const auto wanted = autograd::grad({plain(wide)}, {wide.input, wide.weight, wide.bias});
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].scalar_type() == dtype);
      const Tensor error = (got[i].to(kFloat) - wanted[i]).norm() / wanted[i].norm();
      CHECK(error.item<double>() < 4 * step);
    }
  }
}

TEST_CASE("gradcheck and gradgradcheck of linear_cross_entropy") {
  const Problem p = problem(kDouble, 7, 5);
  for (const int64_t reduction : {Reduction::None, Reduction::Mean}) {
    const auto loss = [&](const std::vector<Tensor>& in) {
      return linear_cross_entropy(in[0], in[1], p.target, in[2], reduction, 1, 0.1, 3);
    };
    CHECK(testing::gradcheck(loss, {p.input, p.weight, p.bias}));
    CHECK(testing::gradgradcheck(loss, {p.input, p.weight, p.bias}));
  }
}

TEST_CASE("Only wanted gradients are made") {
  Problem p = problem(kFloat);
  p.weight = p.weight.detach();
  p.bias = Tensor();
  const Tensor loss = chunked(p);
  const auto backward = measure([&] { loss.backward(); });
  const int64_t scratch = get_default_device().is_cpu() ? 0 : 512;
  CHECK(backward.peak_bytes == 512 + bytes(kRows * kFeatures) + bytes(kChunk * kClasses) + scratch);
  CHECK_FALSE(chunked({p.input.detach(), p.weight, p.bias, p.target}).requires_grad());
}

TEST_CASE("A weight that is tied to the embedding gets both gradients") {
  const Problem p = problem();
  const Tensor words = randint(0, kClasses, {kRows}, kLong);
  const auto slope = [&](bool in_chunks) {
    const Tensor hidden = embedding(p.weight, words).tanh();
    const Problem tied{hidden, p.weight, p.bias, p.target};
    return autograd::grad({in_chunks ? chunked(tied) : plain(tied)}, {p.weight})[0];
  };
  CHECK(allclose(slope(true), slope(false), 1e-9, 1e-9));
}

TEST_CASE("Under autocast the products are 16 bits wide and the loss is not") {
  const Problem p = problem(kFloat);
  Tensor loss;
  {
    const amp::AutocastGuard autocast(get_default_device().type(), kBFloat16);
    loss = chunked(p);
    CHECK(linear(p.input, p.weight, p.bias).scalar_type() == kBFloat16);
  }
  CHECK(loss.scalar_type() == kFloat);
  CHECK(loss.item<double>() == Approx(plain(p).item<double>()).epsilon(0x1p-7));
  loss.backward();
  CHECK(p.weight.grad().scalar_type() == kFloat);
}

TEST_CASE("linear_cross_entropy is in nn::functional") {
  const Problem p = problem();
  namespace F = nn::functional;
  const auto options = F::LinearCrossEntropyFuncOptions()
                           .bias(p.bias)
                           .reduction(kSum)
                           .ignore_index(3)
                           .label_smoothing(0.2)
                           .chunk(kChunk);
  CHECK(equal(F::linear_cross_entropy(p.input, p.weight, p.target, options),
              chunked(p, {Reduction::Sum, 3, 0.2})));
}

TEST_CASE("linear_cross_entropy says what does not fit") {
  const Problem p = problem(kFloat);
  const auto loss = [&](const Tensor& x, const Tensor& w, const Tensor& t, const Tensor& b = {},
                        int64_t chunk = 0) {
    (void)linear_cross_entropy(x, w, t, b.defined() ? std::optional<Tensor>(b) : std::nullopt,
                               Reduction::Mean, -100, 0, chunk);
  };
  CHECK_THROWS_WITH(loss(p.input, p.weight.t(), p.target),
                    ContainsSubstring("linear_cross_entropy") &&
                        ContainsSubstring("[24, 700]: it must be [classes, features]"));
  CHECK_THROWS_WITH(loss(p.input, p.weight.to(kDouble), p.target), ContainsSubstring("one float"));
  CHECK_THROWS_WITH(loss(p.input, p.weight, p.target.narrow(0, 0, 5)), ContainsSubstring("[5]"));
  CHECK_THROWS_WITH(loss(p.input, p.weight, p.target.to(kFloat)), ContainsSubstring("dtype Long"));
  CHECK_THROWS_WITH(loss(p.input, p.weight, p.target, p.bias.narrow(0, 0, 3)),
                    ContainsSubstring("the bias must have the sizes [700]"));
  CHECK_THROWS_WITH(loss(p.input, p.weight, p.target, p.bias, -1), ContainsSubstring("chunk"));
  if (get_default_device().is_cpu()) {  // a device tells it later
    CHECK_THROWS_AS(loss(p.input, p.weight, p.target + kClasses), IndexError);
  }
}
