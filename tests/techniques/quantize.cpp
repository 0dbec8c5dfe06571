// Tensors of one byte an element, quantised by blocks.

#include <ebb/core/ops/quantize.h>
#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <cmath>
#include <limits>
#include <vector>

#include "catch.h"

namespace {

namespace ops = ebb::ops;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ops::Code;

Tensor there_and_back(const Tensor& x, Code code, int64_t block = 256) {
  const auto q = ops::quantize_blockwise(x, code, block);
  return Tensor(ops::dequantize_blockwise(q.codes, q.absmax, code, block, x.scalar_type()));
}

/// The 256 numbers of a code.
std::vector<float> numbers_of(Code code) {
  const Tensor codes = ebb::arange(256, ebb::kLong).to(ebb::kByte);
  const Tensor numbers(ops::dequantize_blockwise(codes, ebb::ones({1}), code));
  std::vector<float> all;
  for (int c = 0; c < 256; ++c) all.push_back(numbers[c].item<float>());
  return all;
}

}  // namespace

TEST_CASE("the codes are 256 ascending numbers up to one, zero among them") {
  for (const Code code : {Code::linear, Code::dynamic_signed, Code::dynamic_unsigned}) {
    const auto numbers = numbers_of(code);
    for (size_t c = 2; c < 256; ++c) CHECK(numbers[c - 1] < numbers[c]);
    CHECK(numbers[0] <= numbers[1]);
    CHECK(numbers[255] == 1);
    CHECK(numbers[code == Code::linear ? 128 : code == Code::dynamic_signed ? 127 : 0] == 0);
  }
}

TEST_CASE("the dynamic trees have seven decades of twice as many numbers each") {
  // The middle of [0.1, 1] in the lowest decade; the middle of the last of 64 parts, or of 128.
  const auto with_signs = numbers_of(Code::dynamic_signed);
  CHECK(with_signs[128] == Approx(0.55e-6));
  CHECK(with_signs[126] == -with_signs[128]);
  CHECK(with_signs[254] == Approx(1 - 0.9 / 128));
  const auto without = numbers_of(Code::dynamic_unsigned);
  CHECK(without[1] == Approx(0.325e-6));
  CHECK(without[2] == Approx(0.775e-6));
  CHECK(without[254] == Approx(1 - 0.9 / 256));
}

TEST_CASE("each element becomes the nearest number of its code") {
  ebb::manual_seed(5);
  for (const Code code : {Code::linear, Code::dynamic_signed, Code::dynamic_unsigned}) {
    const auto numbers = numbers_of(code);
    // Over many orders of magnitude; the first element of the block is its largest.
    Tensor x = (ebb::rand({256}) * 16 - 16).exp() * (ebb::rand({256}) - 0.5).sign();
    if (code == Code::dynamic_unsigned) x = x.abs();
    x[0].fill_(1);
    const Tensor y = there_and_back(x, code).cpu();
    const Tensor host = x.cpu();
    for (int i = 0; i < 256; ++i) {
      const float value = host[i].item<float>();
      float least = 2;
      for (const float number : numbers) least = std::min(least, std::fabs(value - number));
      CHECK(std::fabs(value - y[i].item<float>()) <= least);
    }
  }
}

TEST_CASE("the error stays within the stated part of the block's largest magnitude") {
  ebb::manual_seed(6);
  const Tensor x = ebb::randn({16, 256}) * ebb::linspace(-7, 7, 16).exp().unsqueeze(1);
  const Tensor absmax = x.abs().amax({1}, true);
  const auto worst = [&](const Tensor& of, Code code) {
    return ((there_and_back(of, code) - of).abs() / absmax).max().item<float>();
  };
  CHECK(worst(x, Code::linear) <= 1.0001f / 254);
  CHECK(worst(x, Code::dynamic_signed) <= 1.0f / 142);
  CHECK(worst(x.abs(), Code::dynamic_unsigned) <= 1.0f / 284);
}

TEST_CASE("a quantised tensor takes one byte an element and four a block") {
  const Tensor x = ebb::randn({64, 1024});
  const auto used =
      ebb::testing::measure([&] { return ops::quantize_blockwise(x, Code::dynamic_signed, 256); });
  CHECK(used.net_bytes == 64 * 1024 + 4 * 256);
  CHECK(used.peak_bytes == used.net_bytes);
  CHECK(used.requests == 2);
}

TEST_CASE("any sizes, blocks, layouts and dtypes can be quantised") {
  ebb::manual_seed(7);
  for (const auto dtype : {ebb::kHalf, ebb::kBFloat16, ebb::kFloat, ebb::kDouble}) {
    for (const int64_t block : {1, 7, 256, 300, 4096}) {
      const Tensor x = ebb::randn({3, 700}).to(dtype).t();
      const auto q = ops::quantize_blockwise(x, Code::linear, block);
      CHECK(q.codes.sizes() == x.sizes());
      CHECK(q.codes.is_contiguous());
      CHECK(q.absmax.numel() == (2100 + block - 1) / block);
      const Tensor y = there_and_back(x, Code::linear, block);
      CHECK(y.scalar_type() == dtype);
      CHECK((y - x).abs().max().item<float>() <= x.abs().max().item<float>() / 100);
    }
  }
  // A block of one keeps the magnitude: it is its own largest, and -1 is a number of the code.
  const Tensor x = ebb::randn({10});
  CHECK(ebb::equal(there_and_back(x, Code::linear, 1), x));
  CHECK(there_and_back(ebb::empty({0, 3}), Code::linear).sizes() == ebb::IntArrayRef({0, 3}));
  CHECK(there_and_back(ebb::full({}, 2.5), Code::dynamic_signed).item<float>() == 2.5f);
}

TEST_CASE("zeros stay zero, and what is not finite makes its block NaN and no other") {
  CHECK(there_and_back(ebb::zeros({300}), Code::dynamic_signed).abs().max().item<float>() == 0);
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    Tensor x = ebb::ones({768});
    x[300].fill_(bad);
    const Tensor y = there_and_back(x, Code::dynamic_signed);
    CHECK(ebb::equal(y.slice(0, 0, 256), x.slice(0, 0, 256)));
    CHECK(y.slice(0, 256, 512).isnan().all().item<bool>());
    CHECK(ebb::equal(y.slice(0, 512, 768), x.slice(0, 512, 768)));
  }
  // The smallest numbers have no reciprocal.
  const Tensor tiny = ebb::full({4}, std::numeric_limits<float>::denorm_min());
  CHECK(ebb::equal(there_and_back(tiny, Code::linear), tiny));
}

TEST_CASE("what cannot be quantised is refused with sizes and dtypes") {
  CHECK_THROWS_WITH(ops::quantize_blockwise(ebb::ones({3}, ebb::kLong), Code::linear),
                    ContainsSubstring("quantize_blockwise") && ContainsSubstring("Long") &&
                        ContainsSubstring("[3]"));
  for (const int64_t block : {0, -1, 4097}) {
    CHECK_THROWS_WITH(ops::quantize_blockwise(ebb::ones({3}), Code::linear, block),
                      ContainsSubstring("1 to 4096") && ContainsSubstring(std::to_string(block)));
  }
  const auto q = ops::quantize_blockwise(ebb::ones({512}), Code::linear);
  CHECK_THROWS_WITH(ops::dequantize_blockwise(q.codes, q.absmax, Code::linear, 128),
                    ContainsSubstring("for each block of 128") && ContainsSubstring("[512]"));
  CHECK_THROWS_WITH(ops::dequantize_blockwise(q.codes, q.absmax, Code::linear, 256, ebb::kInt),
                    ContainsSubstring("floating-point dtype"));
}
