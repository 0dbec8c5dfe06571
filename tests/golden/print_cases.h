#pragma once

// Tensors whose printed form is compared with LibTorch's, written in LibTorch's API: the includer
// gives `namespace torch`, and `show(name, tensor)` is called with each.

#include <limits>

template <typename Show>
void print_cases(Show show) {
  using torch::tensor;
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  show("undefined", torch::Tensor());
  show("scalar", tensor(3.25));
  show("scalar large", tensor(12345678.0));
  show("scalar small", tensor(1.2345678e-7, torch::kDouble));
  show("scalar int", tensor(42));
  show("scalar int large", tensor(123456789012));
  show("scalar bool", tensor(true));
  show("scalar nan", tensor(nan));
  show("scalar inf", tensor(-inf));

  show("empty vector", torch::zeros({0}));
  show("empty matrix", torch::zeros({0, 3}));
  show("empty 3-d", torch::zeros({2, 0, 3}));

  show("vector", tensor({1.5, 2.25, -3.125}));
  show("whole numbers", tensor({1., 2., 300.}));
  show("ints", tensor({1, -2, 30}));
  show("ints negative large", tensor({1, -20000, 30}));
  show("ints seven digits", tensor({1234567, 1}));
  show("ints nine digits", tensor({123456789, 1}));
  show("ints twelve digits", tensor({123456789012, 1L}));
  show("bools", tensor({true, false}));
  show("int8", tensor({1, -2}, torch::kInt8));
  show("uint8", tensor({1, 255}, torch::kUInt8));
  show("int16", tensor({1, 2}, torch::kInt16));
  show("int32", tensor({1, 2}, torch::kInt32));
  show("half", tensor({0.5, 2.0}, torch::kHalf));
  show("bfloat16", tensor({0.5, 2.0}, torch::kBFloat16));
  show("double", tensor({0.1, 2.0}, torch::kDouble));
  show("zero", tensor({0.0, 0.0}));
  show("one", tensor({1.0}));

  show("below one", tensor({0.5, 0.25}));
  show("small", tensor({0.001, 0.002}));
  show("tiny", tensor({1e-10, 2e-10}, torch::kDouble));
  show("tiny three digits", tensor({1.5e-110, 2.}, torch::kDouble));
  show("tens", tensor({10.5, 20.25}));
  show("hundreds", tensor({100.5, 200.25}));
  show("thousands", tensor({1000.5, 2000.25}));
  show("ten thousands", tensor({10000.5, 20000.25}));
  show("hundred thousands", tensor({100000.5, 200000.25}, torch::kDouble));
  show("millions", tensor({1000000.5, 2000000.25}, torch::kDouble));
  show("negative leads", tensor({-1000.5, 2.25}));
  show("negative follows", tensor({2.25, -1000.5}));
  show("negative follows far", tensor({2.25, -100000.5}, torch::kDouble));
  show("wide range", tensor({1e-5, 1000.5}, torch::kDouble));
  show("range of four", tensor({0.5, 1000.5}));
  show("range of five", tensor({0.05, 1000.5}));
  show("huge", tensor({1e20, 2e20}, torch::kDouble));
  show("huge three digits", tensor({1e200, 2.5}, torch::kDouble));
  show("nan and inf", tensor({nan, 1.5, inf, -inf}));
  show("nan first whole", tensor({nan, 2., 3.}));
  show("only nan", tensor({nan, nan}));
  show("only inf", tensor({inf}));
  show("zero and fraction", tensor({0., 0.5, 100.25}));

  show("matrix", tensor({{1.5, 2.5}, {-3.5, 4.}}));
  show("matrix ints", tensor({{1, 2, 3}, {40, 50, 60}}));
  show("matrix bool", tensor({{true, false}, {false, true}}));
  show("matrix scaled", tensor({{100000.5, 2.}, {3., 400000.}}, torch::kDouble) + 100000);
  show("matrix one column", tensor({{1.5}, {2.5}}));
  show("matrix one row", tensor({{1.5, 2.5}}));
  show("matrix transposed", torch::arange(6).reshape({2, 3}).t());
  show("matrix wide", torch::arange(60).reshape({2, 30}));
  show("matrix wide float", torch::arange(40).reshape({2, 20}).to(torch::kFloat) / 8);
  show("matrix wide scaled",
       torch::arange(40).reshape({2, 20}).to(torch::kDouble) * 1000000.5 + 1e6);
  show("matrix wide exact", torch::arange(32).reshape({2, 16}).to(torch::kFloat) / 4);
  show("matrix nan", tensor({{nan, 1.}, {inf, 2.}}));

  show("3-d", torch::arange(12).reshape({2, 2, 3}));
  show("3-d float", torch::arange(12).reshape({3, 2, 2}).to(torch::kFloat) / 4);
  show("3-d scaled", torch::arange(8).reshape({2, 2, 2}).to(torch::kDouble) * 123456.5);
  show("3-d scaled all", torch::arange(8).reshape({2, 2, 2}).to(torch::kDouble) * 1000.5 + 1e6);
  show("3-d wide", torch::arange(120).reshape({2, 2, 30}));
  show("4-d", torch::arange(24).reshape({2, 3, 2, 2}));
  show("5-d", torch::arange(16).reshape({2, 2, 2, 1, 2}));
  show("expanded", tensor({{1.5}, {2.5}}).expand({2, 3}));
  show("sliced", torch::arange(10).slice(0, 1, 8, 3));
}
