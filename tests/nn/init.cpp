#include "networks.h"

#include <cmath>

using namespace networks;
using Catch::Matchers::ContainsSubstring;
namespace init = ebb::nn::init;

TEST_CASE("gains are those of the papers") {
  CHECK(init::calculate_gain(ebb::kLinear) == 1);
  CHECK(init::calculate_gain(ebb::kConv2D) == 1);
  CHECK(init::calculate_gain(ebb::kSigmoid) == 1);
  CHECK(init::calculate_gain(ebb::kTanh) == Approx(5.0 / 3));
  CHECK(init::calculate_gain(ebb::kReLU) == Approx(std::sqrt(2.0)));
  CHECK(init::calculate_gain(ebb::kLeakyReLU) == Approx(std::sqrt(2 / (1 + 0.01 * 0.01))));
  CHECK(init::calculate_gain(ebb::kLeakyReLU, 1.0) == Approx(1));
}

TEST_CASE("fan in and fan out count the window") {
  CHECK(init::_calculate_fan_in_and_fan_out(ebb::empty({5, 3})) ==
        std::tuple<int64_t, int64_t>(3, 5));
  CHECK(init::_calculate_fan_in_and_fan_out(ebb::empty({5, 3, 2, 4})) ==
        std::tuple<int64_t, int64_t>(24, 40));
  CHECK_THROWS_WITH(init::_calculate_fan_in_and_fan_out(ebb::empty({5})),
                    ContainsSubstring("fewer than 2 dimensions, got [5]"));
}

TEST_CASE("random first values have the spread that was asked for") {
  ebb::manual_seed(5);
  const Tensor w = ebb::empty({300, 200});
  const auto std_of = [&] { return w.std().item<double>(); };
  const auto bound_of = [&] { return w.abs().max().item<double>(); };
  init::uniform_(w, -2, 4);
  CHECK(w.min().item<double>() >= -2);
  CHECK(w.max().item<double>() < 4);
  CHECK(w.mean().item<double>() == Approx(1).margin(0.05));
  init::normal_(w, 3, 0.5);
  CHECK(w.mean().item<double>() == Approx(3).margin(0.02));
  CHECK(std_of() == Approx(0.5).epsilon(0.02));
  init::xavier_uniform_(w, 2);
  CHECK(bound_of() <= 2 * std::sqrt(6.0 / 500));
  CHECK(std_of() == Approx(2 * std::sqrt(2.0 / 500)).epsilon(0.02));
  init::xavier_normal_(w);
  CHECK(std_of() == Approx(std::sqrt(2.0 / 500)).epsilon(0.02));
  init::kaiming_normal_(w, 0, ebb::kFanOut, ebb::kReLU);
  CHECK(std_of() == Approx(std::sqrt(2.0 / 300)).epsilon(0.02));
  init::kaiming_uniform_(w);
  CHECK(bound_of() <= std::sqrt(6.0 / 200));
  CHECK(std_of() == Approx(std::sqrt(2.0 / 200)).epsilon(0.02));
}

TEST_CASE("constant first values and the identity") {
  CHECK(ebb::equal(init::constant_(ebb::empty({2}), 3), ebb::tensor({3.0, 3.0})));
  CHECK(ebb::equal(init::ones_(ebb::empty({2})), ebb::ones({2})));
  CHECK(ebb::equal(init::zeros_(ebb::empty({2})), ebb::zeros({2})));
  CHECK(
      ebb::equal(init::eye_(ebb::empty({2, 3})), ebb::tensor({{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}})));
  CHECK_THROWS_WITH(init::eye_(ebb::empty({2})), ContainsSubstring("are supported, got [2]"));
  const Tensor kernel = init::dirac_(ebb::empty({2, 2, 3, 3}));
  const Tensor image = ebb::randn({1, 2, 4, 4});
  CHECK(ebb::allclose(ebb::conv2d(image, kernel, {}, 1, 1), image));
  CHECK_THROWS_WITH(init::dirac_(ebb::empty({2, 2})), ContainsSubstring("[2, 2]"));
}

TEST_CASE("first values are not recorded, and the parameter stays a leaf") {
  Tensor w = ebb::empty({3, 4}).set_requires_grad(true);
  CHECK(init::kaiming_normal_(w).is_same(w));
  CHECK(w.is_leaf());
  CHECK(w.requires_grad());
  CHECK(init::kaiming_uniform_(ebb::empty({0, 3})).numel() == 0);
}
