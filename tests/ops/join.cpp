#include "shape_support.h"

using namespace ebb;
using Values = std::vector<double>;

TEST_CASE("cat puts tensors one after another and allocates the result alone") {
  const Tensor a = counted({2, 3}), b = counted({2, 1}) + 10;
  CHECK(values(cat({a, b}, 1)) == Values{0, 1, 2, 10, 3, 4, 5, 11});
  CHECK(values(cat({a, a.slice(0, 1)}, 0)) == Values{0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(values(cat({a.t(), b.t()}, -2)) == Values{0, 3, 1, 4, 2, 5, 10, 11});
  CHECK(bytes_peak([&] { return cat({a.t(), b.t()}, 0); }) == memory::rounded(8 * 8));
  CHECK(values(cat({a})) == values(a));
  CHECK_FALSE(cat({a}).is_alias_of(a));
}

TEST_CASE("cat promotes dtypes and skips empty vectors") {
  const Tensor i = tensor({1, 2}), f = tensor({0.5, 1.5});
  CHECK(cat({i, f}).scalar_type() == kFloat);
  CHECK(values(cat({i, f})) == Values{1, 2, 0.5, 1.5});
  CHECK(cat({tensor({true}), tensor({3}, kUInt8)}).scalar_type() == kUInt8);
  CHECK(cat({f.to(kHalf), f.to(kBFloat16)}).scalar_type() == kFloat);
  CHECK(sizes(cat({zeros({0}), ones({2, 3}), zeros({0})}, 1)) == Sizes{2, 3});
  CHECK(sizes(cat({zeros({0}), zeros({0})})) == Sizes{0});
  CHECK(sizes(cat({zeros({0, 3}), ones({2, 3})})) == Sizes{2, 3});
}

TEST_CASE("cat and stack name the sizes that do not fit") {
  const Tensor a = counted({2, 3});
  CHECK_THAT(error_of([&] {
               cat({a, counted({3, 2})}, 0);
             }),
             says("cat: ") && says("[2, 3], [3, 2]"));
  CHECK_THAT(error_of([&] { cat({a, counted({3})}, 0); }), says("[2, 3], [3]"));
  CHECK_THAT(error_of([&] { cat({tensor(1.0)}); }), says("stack"));
  CHECK_THAT(error_of([&] { cat(std::vector<Tensor>{}); }), says("non-empty"));
  CHECK_THAT(error_of([&] { cat({a}, 2); }), says("[-2, 1]"));
  CHECK_THAT(error_of([&] { stack({a, counted({2})}); }), says("stack: ") && says("[2, 3], [2]"));
  CHECK_THAT(error_of([&] { cat({a, Tensor()}); }), says("cat: ") && says("undefined"));
}

TEST_CASE("stack makes a new dimension anywhere") {
  const Tensor a = tensor({1., 2.}), b = tensor({3., 4.});
  CHECK(values(stack({a, b})) == Values{1, 2, 3, 4});
  CHECK(values(stack({a, b}, -1)) == Values{1, 3, 2, 4});
  CHECK(sizes(stack({tensor(1.0), tensor(2.0), tensor(3.0)})) == Sizes{3});
  CHECK(sizes(stack({zeros({0, 2}), zeros({0, 2})}, 1)) == Sizes{0, 2, 2});
  CHECK(bytes_peak([&] { return stack({a, b}); }) == memory::rounded(16));
}

TEST_CASE("large tensors are joined on several threads alike") {
  const Tensor x = counted({300, 700});
  const Tensor joined = cat({x, x.flip({0})}, 1);
  CHECK(joined.slice(1, 0, 700).equal(x));
  CHECK(joined.slice(1, 700).flip({0}).equal(x));
  CHECK(x.repeat({2, 3}).slice(0, 300).slice(1, 1400).equal(x));
}

TEST_CASE("repeat tiles a tensor, new dimensions in front") {
  CHECK(values(tensor({1., 2.}).repeat({2})) == Values{1, 2, 1, 2});
  CHECK(values(counted({2, 1}).repeat({1, 2})) == Values{0, 0, 1, 1});
  CHECK(sizes(counted({2, 3}).repeat({4, 2, 1})) == Sizes{4, 4, 3});
  CHECK(sizes(counted({2}).repeat({0})) == Sizes{0});
  CHECK(sizes(tensor(1.0).repeat({})) == Sizes{});
  CHECK_THAT(error_of([] { counted({2, 3}).repeat({2}); }), says("repeat: ") && says("[2, 3]"));
  CHECK_THAT(error_of([] { counted({2}).repeat({-1}); }), says("[-1]"));
  CHECK_THAT(error_of([] { counted({2}).repeat({INT64_MAX}); }), says("repeat: "));
}

TEST_CASE("roll moves elements round the end") {
  const Tensor x = counted({2, 3});
  CHECK(values(x.roll(1)) == Values{5, 0, 1, 2, 3, 4});
  CHECK(values(x.roll(1, 1)) == Values{2, 0, 1, 5, 3, 4});
  CHECK(values(x.roll({1, -1}, {0, 1})) == Values{4, 5, 3, 1, 2, 0});
  CHECK(values(x.roll({1, 1}, {1, 1})) == Values{1, 2, 0, 4, 5, 3});
  CHECK(values(x.roll(-7, 1)) == Values{1, 2, 0, 4, 5, 3});
  CHECK(values(x.t().roll(1, 0)) == Values{2, 5, 0, 3, 1, 4});
  CHECK(sizes(zeros({0, 3}).roll(1, 1)) == Sizes{0, 3});
  CHECK(values(tensor(2.0).roll(1, 0)) == Values{2});
  CHECK_THAT(error_of([&] { x.roll({1, 2}, {0}); }), says("roll: ") && says("[1, 2]"));
  CHECK(bytes_peak([&] { return x.roll({1, 1}, {0, 1}); }) == memory::rounded(48));
}

TEST_CASE("flip turns dimensions round") {
  const Tensor x = counted({2, 3});
  CHECK(values(x.flip({0})) == Values{3, 4, 5, 0, 1, 2});
  CHECK(values(x.flip({0, -1})) == Values{5, 4, 3, 2, 1, 0});
  CHECK(values(x.t().flip({0})) == Values{2, 5, 1, 4, 0, 3});
  CHECK(values(x.flip({})) == values(x));
  CHECK_THAT(error_of([&] { x.flip({0, 0}); }), says("flip: ") && says("more than once"));
}

TEST_CASE("triangles of matrices and batches, of every element size, in place too") {
  const Tensor x = ones({3, 3}, kDouble);
  CHECK(values(x.tril()) == Values{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(values(x.tril(1)) == Values{1, 1, 0, 1, 1, 1, 1, 1, 1});
  CHECK(values(x.triu()) == Values{1, 1, 1, 0, 1, 1, 0, 0, 1});
  CHECK(values(x.triu(2)) == Values{0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(values(x.tril(INT64_MIN)) == Values(9, 0.0));
  CHECK(values(x.triu(INT64_MIN)) == Values(9, 1.0));
  CHECK(values(x.tril(INT64_MAX)) == Values(9, 1.0));
  const Tensor batch = counted({2, 2, 3});
  CHECK(values(batch.triu()) == Values{0, 1, 2, 0, 4, 5, 6, 7, 8, 0, 10, 11});
  CHECK(values(batch.transpose(1, 2).tril()) == Values{0, 0, 1, 4, 2, 5, 6, 0, 7, 10, 8, 11});
  for (const ScalarType dtype : {kBool, kUInt8, kHalf, kInt16, kInt, kFloat, kLong, kBFloat16}) {
    CHECK(values(x.to(dtype).tril()) == values(x.tril()));
  }
  Tensor y = counted({2, 2});
  CHECK(values(y.tril_()) == Values{0, 0, 2, 3});
  CHECK(y._version() == 1);
  Tensor z = counted({2, 3});
  z.t().triu_();
  CHECK(values(z) == Values{0, 0, 0, 3, 4, 0});
  CHECK(sizes(zeros({0, 3}).tril()) == Sizes{0, 3});
  CHECK(counted({400, 300}).tril().sum().item<double>() +
            counted({400, 300}).triu(1).sum().item<double>() ==
        counted({400, 300}).sum().item<double>());
  CHECK_THAT(error_of([] { counted({3}).tril(); }), says("tril: ") && says("[3]"));
}

TEST_CASE("diag goes from vectors to matrices and back") {
  const Tensor v = tensor({1., 2.}, kDouble);
  CHECK(values(v.diag()) == Values{1, 0, 0, 2});
  CHECK(values(v.diag(1)) == Values{0, 1, 0, 0, 0, 2, 0, 0, 0});
  CHECK(values(v.diag(-1)) == Values{0, 0, 0, 1, 0, 0, 0, 2, 0});
  CHECK(values(counted({2, 3}).diag(1)) == Values{1, 5});
  CHECK_FALSE(counted({2, 3}).diag().is_view());
  CHECK_THAT(error_of([&] { v.diag(INT64_MIN); }), says("diag: "));
  CHECK_THAT(error_of([] { counted({2, 2, 2}).diag(); }), says("diag: ") && says("[2, 2, 2]"));
}

TEST_CASE("the gradients of joins go back where the elements came from") {
  using Shape = Sizes;
  check_gradients(
      [](const Tensor& x) {
        return cat({x, x * 2, x.slice(0, 1)}, 0).exp();
      },
      Shape{2, 3});
  check_gradients([](const Tensor& x) { return cat({x.t(), x.t()}, 1).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return stack({x, x * x}, 1).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.repeat({3, 1, 2}).exp(); }, Shape{2, 2});
  check_gradients([](const Tensor& x) { return x.roll({1, 2}, {0, 1}).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.roll(2).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.flip({1}).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.tril(-1).exp(); }, Shape{3, 3});
  check_gradients([](const Tensor& x) { return x.triu(1).exp(); }, Shape{3, 3});
  check_gradients([](const Tensor& x) { return (x * 2).tril_().exp(); }, Shape{3, 3});
  check_gradients([](const Tensor& x) { return (x * 2).triu_().exp(); }, Shape{3, 3});
  check_gradients([](const Tensor& x) { return x.diag(1).exp(); }, Shape{3});
  check_gradients([](const Tensor& x) { return x.diag(-1).exp(); }, Shape{3, 2});
}

TEST_CASE("cat and stack give no gradient to what wants none, and skipped tensors none") {
  const Tensor x = ones({2}).requires_grad_(), y = ones({2});
  const Tensor none = zeros({0}).requires_grad_();
  cat({x, y, none}).sum().backward();
  CHECK(values(x.grad()) == Values{1, 1});
  CHECK_FALSE(y.grad().defined());
  CHECK(name_of(cat({x, y})) == "CatBackward0");
  CHECK(name_of(stack({x, y})) == "StackBackward0");
  CHECK_FALSE(cat({y, y}).requires_grad());
  NoGradGuard guard;
  CHECK_FALSE(cat({x, x}).requires_grad());
}
