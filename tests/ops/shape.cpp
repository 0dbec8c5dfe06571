#include "shape_support.h"

using namespace ebb;

TEST_CASE("view ops share memory and version counter and allocate nothing") {
  const Tensor x = counted({2, 3, 4});
  const std::vector<std::pair<const char*, std::function<Tensor()>>> views = {
      {"view",
       [&] {
         return x.view({6, 4});
       }},
      {"reshape",
       [&] {
         return x.reshape({4, 6});
       }},
      {"flatten", [&] { return x.flatten(); }},
      {"permute",
       [&] {
         return x.permute({2, 0, 1});
       }},
      {"transpose", [&] { return x.transpose(0, 2); }},
      {"expand",
       [&] {
         return x.unsqueeze(0).expand({5, 2, 3, 4});
       }},
      {"narrow", [&] { return x.narrow(1, 1, 2); }},
      {"slice", [&] { return x.slice(2, 0, 4, 2); }},
      {"select", [&] { return x.select(0, 1); }},
      {"squeeze", [&] { return x.unsqueeze(1).squeeze(); }},
      {"diagonal", [&] { return x.diagonal(0, 1, 2); }},
      {"as_strided",
       [&] {
         return x.as_strided({3, 3}, {2, 1}, 4);
       }},
      {"unbind", [&] { return x.unbind(1)[2]; }},
      {"split", [&] { return x.split(3, 2)[1]; }},
      {"chunk", [&] { return x.chunk(2, 2)[1]; }},
      {"index", [&] { return x[1]; }},
  };
  for (const auto& [name, make] : views) {
    INFO(name);
    CHECK(bytes_kept(make) == 0);
    const Tensor view = make();
    CHECK(view.is_alias_of(x));
    CHECK(view.is_view());
    const int64_t version = x._version();
    const bool repeats = has_internal_overlap(view.sizes(), view.strides());  // not writable
    (repeats ? x : view).detach().fill_(7);
    CHECK(x._version() == version + 1);
    CHECK(view._version() == version + 1);
    CHECK(x.eq(7).any().item<bool>());
    x.copy_(counted({2, 3, 4}));
  }
}

TEST_CASE("views show the right elements") {
  const Tensor x = counted({2, 3, 4});
  CHECK(values(x.view({-1, 2})[11]) == std::vector<double>{22, 23});
  CHECK(sizes(x.permute({2, 0, 1})) == Sizes{4, 2, 3});
  CHECK(strides(x.permute({2, 0, 1})) == Sizes{1, 12, 4});
  CHECK(values(x.permute({2, 0, 1}).select(0, 3)) == std::vector<double>{3, 7, 11, 15, 19, 23});
  CHECK(values(x.transpose(-1, 0).select(0, 1).select(0, 2)) == std::vector<double>{9, 21});
  CHECK(values(x.narrow(1, -1, 1)) == std::vector<double>{8, 9, 10, 11, 20, 21, 22, 23});
  CHECK(values(x.slice(2, -3, {}, 2).select(0, 0)) == std::vector<double>{1, 3, 5, 7, 9, 11});
  CHECK(values(x.select(-1, -1)) == std::vector<double>{3, 7, 11, 15, 19, 23});
  CHECK(values(x[1][2][3]) == std::vector<double>{23});
  CHECK(values(x[0].t().select(0, 0)) == std::vector<double>{0, 4, 8});
  CHECK(values(counted({3}).t()) == std::vector<double>{0, 1, 2});
  CHECK(values(x.unsqueeze(-1).squeeze(-1)) == values(x));
  CHECK(strides(x.unsqueeze(1)) == Sizes{12, 12, 4, 1});
  CHECK(strides(x.unsqueeze(-1)) == Sizes{12, 4, 1, 1});
}

TEST_CASE("slice clips its bounds as Python does") {
  const Tensor x = counted({5});
  CHECK(values(x.slice(0, 3, 100)) == std::vector<double>{3, 4});
  CHECK(values(x.slice(0, -100, 2)) == std::vector<double>{0, 1});
  CHECK(values(x.slice(0, 4, 2)).empty());
  CHECK(values(x.slice(0, 0, 5, 3)) == std::vector<double>{0, 3});
  CHECK(values(x.slice(0, 1, 2, INT64_MAX)) == std::vector<double>{1});
  CHECK_THROWS_AS(x.slice(0, 0, 5, 0), Error);
  CHECK_THROWS_AS(tensor(1.0).slice(0, 0, 1), Error);
}

TEST_CASE("reshape copies only where strides cannot express the sizes") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x.reshape({24}).is_alias_of(x));
  CHECK(x.transpose(0, 1).reshape({3, 2, 2, 2}).is_alias_of(x));
  const Tensor copied = x.transpose(0, 1).reshape({6, 4});
  CHECK_FALSE(copied.is_alias_of(x));
  CHECK(copied.is_contiguous());
  CHECK(values(copied[1]) == std::vector<double>{12, 13, 14, 15});
  CHECK(bytes_kept([&] { return x.transpose(0, 1).reshape({24}); }) == memory::rounded(24 * 8));
  CHECK(x.flatten(1, 1).is_same(x));
  CHECK(sizes(x.flatten(1)) == Sizes{2, 12});
  CHECK(sizes(x.flatten(0, -2)) == Sizes{6, 4});
  CHECK(sizes(tensor(1.0).flatten()) == Sizes{1});
  CHECK(sizes(zeros({0, 3}).reshape({3, 0})) == Sizes{3, 0});
  CHECK(sizes(tensor(1.0).reshape({1, 1})) == Sizes{1, 1});
}

TEST_CASE("view refuses what needs a copy and sizes that do not fit, by name") {
  const Tensor x = counted({2, 3});
  CHECK_THAT(error_of([&] { x.t().view({6}); }),
             says("view: ") && says("[3, 2]") && says("reshape"));
  CHECK_THAT(error_of([&] { x.view({4}); }), says("view: ") && says("[4]") && says("6"));
  CHECK_THAT(error_of([&] { x.view({-1, -1}); }), says("only one"));
  CHECK_THAT(error_of([&] { x.view({-1, 4}); }), says("[-1, 4]"));
  CHECK_THAT(error_of([&] { x.view({-2}); }), says("-2"));
  CHECK_THAT(error_of([&] { zeros({0}).view({-1, 0}); }), says("any size fits"));
  CHECK_THAT(error_of([&] { x.reshape({INT64_MAX, 4}); }), says("reshape: "));
}

TEST_CASE("dimensions, indices and undefined tensors out of range are errors that name the op") {
  const Tensor x = counted({2, 3});
  CHECK_THROWS_AS(x.transpose(0, 2), IndexError);
  CHECK_THAT(error_of([&] { x.transpose(0, 2); }), says("transpose: ") && says("[-2, 1]"));
  CHECK_THAT(error_of([&] { x.select(1, 3); }), says("select: ") && says("[2, 3]"));
  CHECK_THAT(error_of([&] { x.select(0, -3); }), says("-3"));
  CHECK_THROWS_AS(x[2], IndexError);
  CHECK_THAT(error_of([&] { tensor(1.0)[0]; }), says("0-dim"));
  CHECK_THAT(error_of([&] { x.permute({0, 0}); }), says("permute: ") && says("more than once"));
  CHECK_THAT(error_of([&] { x.permute({0}); }), says("[0]") && says("[2, 3]"));
  CHECK_THAT(error_of([&] { x.narrow(1, 2, 2); }), says("narrow: "));
  CHECK_THAT(error_of([&] { x.narrow(1, 0, -1); }), says("-1"));
  CHECK_THAT(error_of([&] { x.expand({2, 4}); }), says("expand: ") && says("[2, 4]"));
  CHECK_THAT(error_of([&] { x.expand({3}); }), says("fewer"));
  CHECK_THAT(error_of([&] { x.expand({-1, 2, 3}); }), says("-1"));
  CHECK_THAT(error_of([&] { x.split(0, 0); }), says("split: "));
  CHECK_THAT(error_of([&] { x.split({1, 2}, 0); }), says("[1, 2]") && says("[2, 3]"));
  CHECK_THAT(error_of([&] { x.chunk(0, 0); }), says("chunk: "));
  CHECK_THAT(error_of([&] { counted({2, 2, 2}).t(); }), says("t: ") && says("[2, 2, 2]"));
  CHECK_THAT(error_of([&] { x.as_strided({4, 4}, {4, 1}); }), says("as_strided: ") && says("16"));
  CHECK_THAT(error_of([&] { x.as_strided({1}, {-1}); }), says("negative"));
  CHECK_THAT(error_of([&] { x.diagonal(0, 1, 1); }), says("diagonal: "));
  CHECK_THAT(error_of([] { Tensor().view({1}); }), says("view: ") && says("undefined"));
  CHECK_THAT(error_of([] { Tensor().squeeze(); }), says("squeeze: ") && says("undefined"));
}

TEST_CASE("split, chunk and unbind give all elements once") {
  const Tensor x = counted({5, 2});
  const auto parts = x.split(2);
  REQUIRE(parts.size() == 3);
  CHECK(values(parts[2]) == std::vector<double>{8, 9});
  CHECK(values(cat(parts)) == values(x));
  CHECK(x.split({1, 4}).size() == 2);
  CHECK(sizes(x.split({1, 0, 4})[1]) == Sizes{0, 2});
  CHECK(x.chunk(3).size() == 3);
  CHECK(x.chunk(4).size() == 3);
  CHECK(x.chunk(100).size() == 5);
  CHECK(zeros({0, 2}).chunk(3).size() == 3);
  CHECK(zeros({0, 2}).split(4).size() == 1);
  const auto rows = x.unbind();
  REQUIRE(rows.size() == 5);
  CHECK(values(rows[4]) == std::vector<double>{8, 9});
  CHECK(values(x.unbind(-1)[1]) == std::vector<double>{1, 3, 5, 7, 9});
  CHECK(zeros({0, 2}).unbind().empty());
}

TEST_CASE("diagonals above, below and beyond the matrix") {
  const Tensor x = counted({3, 4});
  CHECK(values(x.diagonal()) == std::vector<double>{0, 5, 10});
  CHECK(values(x.diagonal(1)) == std::vector<double>{1, 6, 11});
  CHECK(values(x.diagonal(3)) == std::vector<double>{3});
  CHECK(values(x.diagonal(-2)) == std::vector<double>{8});
  CHECK(values(x.diagonal(4)).empty());
  CHECK(values(x.diagonal(INT64_MIN)).empty());
  CHECK(sizes(counted({2, 3, 4, 5}).diagonal(0, 1, 3)) == Sizes{2, 4, 3});
}

TEST_CASE("squeeze_, unsqueeze_, transpose_ and t_ change the tensor at hand") {
  Tensor x = counted({2, 1, 3});
  const int64_t version = x._version();
  CHECK(&x.squeeze_() == &x);
  CHECK(sizes(x) == Sizes{2, 3});
  CHECK(x._version() == version + 1);
  CHECK(sizes(x.t_()) == Sizes{3, 2});
  CHECK(values(x) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(sizes(x.unsqueeze_(0)) == Sizes{1, 3, 2});
  CHECK(sizes(x.transpose_(0, 1)) == Sizes{3, 1, 2});
  CHECK(sizes(x.squeeze_(1)) == Sizes{3, 2});
  CHECK_THAT(error_of([&] { x.unsqueeze_(4); }), says("unsqueeze_: "));
}

TEST_CASE("view ops in place are differentiated, also on views") {
  const Tensor x = counted({2, 3}).requires_grad_();
  Tensor y = x * 2;
  y.t_();
  (y * counted({3, 2})).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 4, 8, 2, 6, 10});

  const Tensor z = counted({2, 3}).requires_grad_();
  const Tensor base = z * 1;
  Tensor view = base.narrow(1, 0, 2);
  view.unsqueeze_(0);
  (view * 3).sum().backward();
  CHECK(values(z.grad()) == std::vector<double>{3, 3, 0, 3, 3, 0});
  CHECK_THROWS_AS(counted({2, 3}).requires_grad_().t_(), Error);
}

TEST_CASE("the gradients of views are those of their elements") {
  using Shape = Sizes;
  check_gradients([](const Tensor& x) { return x.view({3, -1}).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.t().reshape({-1}).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.permute({2, 0, 1}).exp(); }, Shape{2, 1, 3});
  check_gradients([](const Tensor& x) { return x.transpose(-1, 0).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.t().exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.expand({4, 2, 3}).exp(); }, Shape{2, 1});
  check_gradients([](const Tensor& x) { return x.narrow(1, 1, 2).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.slice(0, 1, {}, 2).exp(); }, Shape{4, 2});
  check_gradients([](const Tensor& x) { return x.select(1, -1).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x[1].exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.squeeze().exp(); }, Shape{2, 1, 3});
  check_gradients([](const Tensor& x) { return x.squeeze(0).exp(); }, Shape{1, 3});
  check_gradients([](const Tensor& x) { return x.unsqueeze(1).exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.flatten().exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.diagonal(1).exp(); }, Shape{3, 4});
  check_gradients([](const Tensor& x) { return x.t().contiguous().exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.unbind(1)[1].exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.split(2, 1)[1].exp(); }, Shape{2, 3});
  check_gradients([](const Tensor& x) { return x.split(2, 1)[0] * x.split(2, 1)[0]; }, Shape{2, 4});
  check_gradients(
      [](const Tensor& x) {
        const auto parts = x.chunk(2, 1);
        return parts[0] * parts[1];
      },
      Shape{2, 4});
}

TEST_CASE("as_strided passes gradients through the storage, also where elements overlap") {
  check_gradients([](const Tensor& x) { return (x * 1).as_strided({3, 2}, {1, 1}, 1).exp(); }, {6});
  check_gradients(
      [](const Tensor& x) {
        return (x * 1).as_strided({2, 2}, {3, 1}).exp();
      },
      Sizes{2, 3});
  check_gradients([](const Tensor& x) { return (x * 1).as_strided({4, 3}, {2, 3}).exp(); }, {13});
  const Tensor x = ones({3}, kDouble).requires_grad_();
  (x * 1).as_strided({2, 2}, {1, 1}).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{1, 2, 1});
}

TEST_CASE("the grad_fn of a view is named after the op") {
  const Tensor x = counted({2, 3}).requires_grad_();
  CHECK(name_of(x.view({6})) == "ViewBackward0");
  CHECK(name_of(x.t()) == "TBackward0");
  CHECK(name_of(x[0]) == "SelectBackward0");
  CHECK(name_of(x.narrow(0, 0, 1)) == "SliceBackward0");
  CHECK(name_of(x.unsqueeze(0)) == "UnsqueezeBackward0");
  const auto parts = x.split(1);
  CHECK(parts[0].grad_fn() == parts[1].grad_fn());
  CHECK(parts[1].output_nr() == 1);
}

TEST_CASE("a part of a split that nothing used gets zero") {
  const Tensor x = counted({4}).requires_grad_();
  const auto parts = (x * 1).split(2);
  (parts[1] * parts[1]).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 0, 4, 6});
}

TEST_CASE("views of one of several views refuse recorded writes") {
  const Tensor x = (counted({4}).requires_grad_() * 1).requires_grad_();
  const auto parts = x.split(2);
  CHECK_THROWS_AS(parts[0].mul_(2), Error);
}

TEST_CASE("tensors of more dimensions than are stored inline work") {
  const Tensor x = counted({2, 1, 2, 1, 2, 1, 2});
  CHECK(x.dim() == 7);
  const Tensor y = x.permute({6, 5, 4, 3, 2, 1, 0});
  CHECK(values(y.contiguous()) ==
        std::vector<double>{0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15});
  CHECK(sizes(y.squeeze()) == Sizes{2, 2, 2, 2});
}

TEST_CASE("index by tensors") {
  const Tensor x = counted({3, 2});
  CHECK(values(x[tensor(2)]) == std::vector<double>{4, 5});
  CHECK(values(x[tensor({2, 0})]) == std::vector<double>{4, 5, 0, 1});
  CHECK(values(x[x.gt(3)]) == std::vector<double>{4, 5});
  CHECK_THROWS_AS(x[tensor(1.5)], Error);
}

TEST_CASE("assigning to an indexed tensor writes into it; assigning to a name does not") {
  Tensor x = zeros({2, 2});
  x[0] = tensor({1., 2.});
  x[1][0] = 3;
  x[1][1] = tensor(4.5);
  CHECK(values(x) == std::vector<double>{1, 2, 3, 4.5});
  Tensor row = x[0];
  row = tensor({7., 8.});
  CHECK(values(x[0]) == std::vector<double>{1, 2});
  const Tensor a = zeros({2}).requires_grad_();
  const Tensor y = a * 1;
  y[0] = 5;
  y.sum().backward();
  CHECK(values(a.grad()) == std::vector<double>{0, 1});
}
