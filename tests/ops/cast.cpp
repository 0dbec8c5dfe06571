#include "ops/elementwise_support.h"

using namespace elementwise_tests;

TEST_CASE("every dtype converts to every other") {
  const Doubles numbers = {0, 1, 2, 100};
  for (const ScalarType from : kAllDtypes) {
    const Tensor x = of(numbers, {2, 2}, from);
    for (const ScalarType to : kAllDtypes) {
      INFO(from << " to " << to);
      const Tensor y = x.to(to);
      CHECK(y.scalar_type() == to);
      const bool through_bool = from == kBool || to == kBool;
      CHECK(values(y) == (through_bool ? Doubles{0, 1, 1, 1} : numbers));
      CHECK(values(x.t().to(to)) == values(y.t()));
      CHECK(values(x.select(1, 1).to(to)) == values(y.select(1, 1)));
    }
  }
}

TEST_CASE("floats become integers towards zero, and wrap around in narrow ones") {
  const Tensor x = of({-1.9, 1.9, 300.5, -0.5}, {4}, kFloat);
  CHECK(values(x.to(kInt64)) == Doubles{-1, 1, 300, 0});
  CHECK(values(x.to(kUInt8)) == Doubles{255, 1, 44, 0});
  CHECK(values(x.to(kBool)) == Doubles{1, 1, 1, 1});
  CHECK(of({1e30}, {1}).to(kInt64).item<int64_t>() == INT64_MIN);
  CHECK(of({std::nan("")}, {1}).to(kInt64).item<int64_t>() == INT64_MIN);
  CHECK(of({std::nan("")}, {1}).to(kBool).item<bool>());
  CHECK(std::isinf(of({1e6}, {1}).to(kHalf).item<double>()));
}

TEST_CASE("to gives the tensor itself where nothing changes, unless a copy is asked for") {
  const Tensor x = ones({2});
  CHECK(x.to(kFloat).is_same(x));
  CHECK(x.to(get_default_device()).is_same(x));
  CHECK(x.to(x).is_same(x));
  CHECK(x.cpu().is_same(x) == x.is_cpu());
  CHECK_FALSE(x.to(kFloat, false, true).is_alias_of(x));
  CHECK(x.to(TensorOptions(kDouble)).scalar_type() == kDouble);
  CHECK(x.type_as(ones({1}, kHalf)).scalar_type() == kHalf);
}

TEST_CASE("a tensor goes to the CUDA device, or the error says why it cannot") {
  const Tensor x = ones({2});
  if (x.is_cpu()) {
    CHECK_THAT(error_of([&] { static_cast<void>(x.cuda()); }), ContainsSubstring("CUDA"));
  } else {
    CHECK(x.cuda().is_same(x));
    CHECK(x.cpu().is_cpu());
  }
}

TEST_CASE("clone keeps the order of strides and drops gaps and repeats") {
  const Tensor x = of(spread(24, 0, 1), {2, 3, 4}).permute({2, 0, 1});
  CHECK(x.clone().strides() == x.strides());
  CHECK(values(x.clone()) == values(x));
  const Tensor expanded = ones({3, 1}).expand({3, 4});
  CHECK(expanded.clone().numel() == 12);
  CHECK_FALSE(expanded.clone().is_alias_of(expanded));
  CHECK(values(expanded.clone()) == Doubles(12, 1));
  const Tensor gaps = of(spread(24, 0, 1), {4, 6}).slice(1, 0, 6, 2);
  CHECK(gaps.clone().is_contiguous());
}

TEST_CASE("copies between layouts are right for every element size and shape") {
  for (const ScalarType dtype : {kInt8, kHalf, kFloat, kDouble}) {
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {7, 9}, {8, 8}, {33, 65}, {300, 200}, {100'000, 9}, {9, 100'000}}) {
      INFO(dtype << " " << rows << " x " << columns);
      const Tensor x =
          of(map(spread(rows * columns, 0, 99), [](double v) { return std::floor(v); }),
             {rows, columns}, dtype);
      const Tensor y = x.t().contiguous();
      CHECK(y.is_contiguous());
      CHECK(values(y) == values(x.t()));
      const Tensor z = zeros({columns, rows}, dtype);
      z.copy_(x.t());
      CHECK(equal(z, y));
    }
  }
  const Tensor x = of(spread(3 * 20 * 30, 0, 1), {3, 20, 30});
  CHECK(values(x.permute({2, 0, 1}).contiguous()) == values(x.permute({2, 0, 1})));
  CHECK(values(x.permute({0, 2, 1}).contiguous()) == values(x.permute({0, 2, 1})));
}

TEST_CASE("copy_ converts, broadcasts, and raises the version") {
  const Tensor x = zeros({2, 3});
  const int64_t version = x._version();
  x.copy_(of({1, 2, 3}, {3}, kInt64));
  CHECK(values(x) == Doubles{1, 2, 3, 1, 2, 3});
  CHECK(x._version() == version + 1);
  x.copy_(x);
  CHECK(x._version() == version + 1);
  CHECK_THAT(error_of([&] { x.copy_(ones({4})); }), ContainsSubstring("copy_: ") &&
                                                        ContainsSubstring("[4]") &&
                                                        ContainsSubstring("[2, 3]"));
  const Tensor y = ones({4});
  CHECK_THAT(error_of([&] { y.narrow(0, 0, 3).copy_(y.narrow(0, 1, 3)); }),
             ContainsSubstring("single memory location"));
  const Tensor mask = zeros({2}, kBool);
  mask.copy_(of({0.5, 0}, {2}).requires_grad_());
  CHECK(values(mask) == Doubles{1, 0});
}

TEST_CASE("item reads the only element as any type") {
  for (const ScalarType dtype : kAllDtypes) CHECK(ones({1, 1}, dtype).item<double>() == 1);
  CHECK(of({-2.7}, {}).item<int64_t>() == -2);
  CHECK(full({}, INT64_MAX, kInt64).item<int64_t>() == INT64_MAX);
  CHECK_THAT(error_of([] {
               static_cast<void>(ones({2, 3}).item());
             }),
             ContainsSubstring("item: ") && ContainsSubstring("[2, 3]"));
  CHECK_THAT(error_of([] { static_cast<void>(Tensor().item()); }), ContainsSubstring("undefined"));
}

TEST_CASE("gradients pass through conversions and copies") {
  using Inputs = std::vector<Tensor>;
  const Doubles x = {0.5, -1, 2};
  CHECK(testing::gradcheck([](const Inputs& in) { return in[0].clone() * in[0]; }, {leaf(x, {3})}));
  CHECK(testing::gradgradcheck([](const Inputs& in) { return in[0].clone() * in[0]; },
                               {leaf(x, {3})}));
  auto copied = [](const Inputs& in) {
    Tensor to = zeros({2, 3}, kDouble);
    to.copy_(in[0]);
    to.select(0, 1).copy_(in[0] * in[0]);
    return to * to;
  };
  CHECK(testing::gradcheck(copied, {leaf(x, {3})}));
  CHECK(testing::gradgradcheck(copied, {leaf(x, {3})}));
  const Tensor a = leaf(x, {3});
  a.to(kFloat).to(kDouble).mul(3).sum().backward();
  CHECK(a.grad().scalar_type() == kDouble);
  CHECK(values(a.grad()) == Doubles{3, 3, 3});
  CHECK_FALSE(a.to(kInt64).requires_grad());
}
