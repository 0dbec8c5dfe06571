#include "shape_support.h"

using namespace ebb;
using Values = std::vector<double>;

TEST_CASE("braces make tensors of the dtype that their numbers have") {
  CHECK(tensor({1, 2}).scalar_type() == kLong);
  CHECK(tensor({1.5, 2.}).scalar_type() == kFloat);
  CHECK(tensor({1.5F}).scalar_type() == kFloat);
  CHECK(tensor({true, false}).scalar_type() == kBool);
  CHECK(tensor({int8_t{1}}).scalar_type() == kLong);
  CHECK(tensor({Half(1.5F)}).scalar_type() == kHalf);
  CHECK(tensor({1}, kDouble).scalar_type() == kDouble);
  CHECK(tensor({1.9}, kInt).item<int>() == 1);
  CHECK(tensor({1, 2}, dtype(kFloat).requires_grad(true)).requires_grad());
  CHECK(values(tensor({1.5, -2.})) == Values{1.5, -2});
}

TEST_CASE("numbers alone have no dimensions") {
  CHECK(sizes(tensor(3.25)) == Sizes{});
  CHECK(tensor(3).scalar_type() == kLong);
  CHECK(tensor(true).scalar_type() == kBool);
  CHECK(tensor(3.25).scalar_type() == kFloat);
  CHECK(tensor(3.25, kDouble).item<double>() == 3.25);
}

TEST_CASE("braces nest") {
  CHECK(sizes(tensor({{1, 2, 3}, {4, 5, 6}})) == Sizes{2, 3});
  CHECK(values(tensor({{1, 2, 3}, {4, 5, 6}})) == Values{1, 2, 3, 4, 5, 6});
  CHECK(sizes(tensor({{{1.}, {2.}}, {{3.}, {4.}}, {{5.}, {6.}}})) == Sizes{3, 2, 1});
  CHECK(sizes(tensor({{1, 2}})) == Sizes{1, 2});
  CHECK(sizes(tensor({{{1}}})) == Sizes{1, 1, 1});
  CHECK(sizes(tensor({{{1, 2}}})) == Sizes{1, 1, 2});
  CHECK(sizes(tensor({1})) == Sizes{1});
}

TEST_CASE("lists without elements") {
  CHECK(sizes(tensor({})) == Sizes{0});
  CHECK(tensor({}).scalar_type() == kFloat);
  CHECK(sizes(tensor(std::vector<int64_t>{})) == Sizes{0});
  CHECK(tensor(std::vector<int64_t>{}).scalar_type() == kLong);
}

TEST_CASE("vectors and arrays make tensors of one dimension") {
  CHECK(values(tensor(std::vector<float>{1.5F, 2.F})) == Values{1.5, 2});
  CHECK(tensor(std::vector<double>{1.5}).scalar_type() == kFloat);
  CHECK(tensor(std::vector<double>{1.5}, kDouble).scalar_type() == kDouble);
  CHECK(tensor(std::vector<int>{1, 2}).scalar_type() == kLong);
  CHECK(tensor(std::vector<bool>{true, false}).scalar_type() == kBool);
  const int64_t data[] = {1, 2, 3};
  CHECK(values(tensor(IntArrayRef(data))) == Values{1, 2, 3});
}

TEST_CASE("large integers keep every digit") {
  CHECK(tensor({INT64_MAX, INT64_MIN})[0].item<int64_t>() == INT64_MAX);
  CHECK(tensor({INT64_MAX, INT64_MIN})[1].item<int64_t>() == INT64_MIN);
}

TEST_CASE("lists of unequal lengths or kinds are refused") {
  CHECK_THAT(error_of([] {
               static_cast<void>(tensor({{1, 2}, {3}}));
             }),
             says("tensor: ") && says("[2]") && says("[1]"));
  CHECK_THAT(error_of([] { return tensor({1, 2.5}); }), says("Long") && says("Float"));
  CHECK_THROWS_AS(tensor({1}, requires_grad()), Error);
}

TEST_CASE("the default dtype decides about floating-point literals") {
  set_default_dtype(kDouble);
  const ScalarType dtype = tensor({1.5}).scalar_type();
  const ScalarType zero = zeros({1}).scalar_type();
  set_default_dtype(kFloat);
  CHECK(dtype == kDouble);
  CHECK(zero == kDouble);
}
