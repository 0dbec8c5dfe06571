#include "reduce_reference.h"

#include <algorithm>
#include <limits>

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Case {
  int64_t height;
  int64_t width;
  int64_t kernel[2];
  int64_t stride[2];
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  bool ceil_mode = false;
};

int64_t out_size(const Case& c, int d) {
  const int64_t size = d == 0 ? c.height : c.width;
  const int64_t rest = size + 2 * c.padding[d] - c.dilation[d] * (c.kernel[d] - 1) - 1;
  int64_t count = (rest + (c.ceil_mode ? c.stride[d] - 1 : 0)) / c.stride[d] + 1;
  if (c.ceil_mode && (count - 1) * c.stride[d] >= size + c.padding[d]) --count;
  return count;
}

/// The elements of each window of each plane that are inside, and how many a window has with
/// padding.
struct Window {
  Values inside;
  int64_t padded = 0;
};

std::vector<Window> windows(const Case& c, const Tensor& x) {
  const Values all = values(x);
  std::vector<Window> result;
  const int64_t planes = x.numel() / (c.height * c.width);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t y = 0; y < out_size(c, 0); ++y)
      for (int64_t x0 = 0; x0 < out_size(c, 1); ++x0) {
        Window window;
        for (int64_t k = 0; k < c.kernel[0] * c.kernel[1]; ++k) {
          const int64_t row = y * c.stride[0] - c.padding[0] + k / c.kernel[1] * c.dilation[0];
          const int64_t column = x0 * c.stride[1] - c.padding[1] + k % c.kernel[1] * c.dilation[1];
          if (row < c.height + c.padding[0] && column < c.width + c.padding[1]) ++window.padded;
          if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
          window.inside.push_back(
              all[static_cast<size_t>((p * c.height + row) * c.width + column)]);
        }
        result.push_back(window);
      }
  return result;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {6, 8, {2, 2}, {2, 2}},
      {7, 9, {2, 2}, {2, 2}},
      {7, 9, {3, 2}, {1, 2}},
      {7, 9, {3, 3}, {2, 2}, {1, 1}},
      {7, 8, {3, 3}, {2, 3}, {1, 0}, {2, 1}},
      {7, 8, {2, 3}, {2, 2}, {0, 1}, {1, 1}, true},
      {5, 5, {2, 2}, {3, 3}, {1, 1}, {1, 1}, true},
      {20, 21, {17, 16}, {1, 2}, {3, 4}},
      {1, 1, {1, 1}, {1, 1}},
  };
  return all;
}

Tensor max_of(const Case& c, const Tensor& x) {
  return max_pool2d(x, c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode);
}

bool has_dilation(const Case& c) { return c.dilation[0] != 1 || c.dilation[1] != 1; }

}  // namespace

TEST_CASE("max_pool2d takes the largest of each window", "[pool]") {
  for (const Case& c : cases()) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kByte}) {
      const bool whole = is_integral(dtype, false);
      const Tensor x =
          random_tensor({2, 3, c.height, c.width}, dtype, whole ? 0 : -9, whole ? 200 : 9);
      Values expected;
      for (const Window& window : windows(c, x)) {
        expected.push_back(*std::max_element(window.inside.begin(), window.inside.end()));
      }
      for (const Tensor& image : layouts(x)) check_close(max_of(c, image), expected, 0);
    }
  }
  const Tensor x = random_tensor({3, 6, 6}, kFloat);
  CHECK(max_pool2d(x, 2).sizes() == std::vector<int64_t>{3, 3, 3});
  CHECK(max_pool2d(zeros({0, 3, 6, 6}), 2).sizes() == std::vector<int64_t>{0, 3, 3, 3});
}

TEST_CASE("avg_pool2d takes the mean of each window, however it is counted", "[pool]") {
  for (const Case& c : cases()) {
    if (has_dilation(c)) continue;
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const double tolerance = dtype == kDouble ? 1e-13 : dtype == kFloat ? 1e-5 : 2e-2;
      const Tensor x = random_tensor({2, 2, c.height, c.width}, dtype);
      for (const int64_t divisor : {0, 5}) {
        for (const bool count_include_pad : {true, false}) {
          Values expected;
          for (const Window& window : windows(c, x)) {
            double sum = 0;
            for (const double v : window.inside) sum += v;
            expected.push_back(
                sum / static_cast<double>(divisor != 0 ? divisor
                                          : count_include_pad
                                              ? window.padded
                                              : static_cast<int64_t>(window.inside.size())));
          }
          for (const Tensor& image : layouts(x)) {
            check_close(
                avg_pool2d(image, c.kernel, c.stride, c.padding, c.ceil_mode, count_include_pad,
                           divisor != 0 ? std::optional<int64_t>(divisor) : std::nullopt),
                expected, tolerance);
          }
        }
      }
    }
  }
}

TEST_CASE("NaN wins in max_pool2d, and the gradient goes to it", "[pool]") {
  for (const auto& position : {0, 1, 2, 3}) {
    Values elements = {1, 5, 2, 3};
    elements[static_cast<size_t>(position)] = kNan;
    for (const int64_t padding : {0, 1}) {
      Tensor x = made_of(elements, {1, 2, 2}, kFloat).requires_grad_();
      const int64_t kernel = padding == 0 ? 2 : 4;
      const Tensor y = max_pool2d(x, kernel, kernel, padding);
      CHECK(std::isnan(y.item<double>()));
      y.sum().backward();
      Values expected(4, 0.0);
      expected[static_cast<size_t>(position)] = 1;
      check_close(x.grad(), expected);
    }
  }
  check_close(max_pool2d(full({1, 2, 2}, -kInf), 2), {-kInf});
  Tensor low = full({1, 2, 2}, -kInf).requires_grad_();
  max_pool2d(low, 2).sum().backward();
  check_close(low.grad(), {1, 0, 0, 0});
}

TEST_CASE("max_pool2d keeps one byte per result, four for large windows", "[pool]") {
  const Tensor x = random_tensor({4, 8, 32, 32}, kFloat).requires_grad_();
  const auto rounded = [](int64_t bytes) { return (bytes + 511) / 512 * 512; };
  const int64_t results = 4 * 8 * 16 * 16;
  const auto kept = measure([&] { return max_pool2d(x, 2); });
  CHECK(kept.net_bytes == rounded(results * 4) + rounded(results));
  const int64_t few = 4 * 8 * 2 * 2;
  const auto wide = measure([&] { return max_pool2d(x, 16); });
  CHECK(wide.net_bytes == rounded(few * 4) + rounded(few * 4));
}

TEST_CASE("Gradients of pooling agree with differences", "[pool]") {
  for (const Case& c : cases()) {
    if (c.height > 10) continue;
    // Distinct elements, far enough apart for the difference.
    const Tensor shuffled = random_tensor({1, 2, c.height, c.width}, kDouble, -50, 50);
    CHECK(check_gradients([c](const std::vector<Tensor>& in) { return max_of(c, in[0]); },
                          {shuffled.requires_grad_()}));
    if (has_dilation(c)) continue;
    for (const bool count_include_pad : {true, false}) {
      CHECK(check_gradients(
          [c, count_include_pad](const std::vector<Tensor>& in) {
            return avg_pool2d(in[0], c.kernel, c.stride, c.padding, c.ceil_mode, count_include_pad);
          },
          {random_tensor({1, 2, c.height, c.width}).requires_grad_()}));
    }
  }
}

TEST_CASE("Gradients of half tensors are summed in float", "[pool]") {
  Tensor x = random_tensor({1, 6, 6}, kHalf).requires_grad_();
  avg_pool2d(x, 3, 1).sum().backward();
  CHECK(x.grad().scalar_type() == kHalf);
  CHECK(x.grad().sum().item<double>() == Approx(16).epsilon(0.01));
}

TEST_CASE("Pooling is the same bits for any number of threads", "[pool]") {
  const Tensor x = random_tensor({6, 8, 40, 40}, kFloat);
  check_same_for_any_threads([&] { return max_pool2d(x, 3, 2, 1); });
  check_same_for_any_threads([&] { return avg_pool2d(x, 3, 2, 1); });
  check_same_for_any_threads([&] {
    Tensor y = x.detach().clone().requires_grad_();
    (max_pool2d(y, 3, 1) * avg_pool2d(y, 3, 1)).sum().backward();
    return y.grad();
  });
}

TEST_CASE("Errors of pooling name the shapes", "[pool]") {
  const Tensor x = zeros({1, 3, 4, 4});
  CHECK_THROWS_WITH(max_pool2d(x, 5),
                    ContainsSubstring("max_pool2d") && ContainsSubstring("[1, 3, 4, 4]"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, 2, 2), ContainsSubstring("half"));
  CHECK_THROWS_WITH(max_pool2d(x, {1, 2, 3}), ContainsSubstring("kernel_size"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, 0), ContainsSubstring("stride"));
  CHECK_THROWS_WITH(avg_pool2d(x, 2, 2, 0, false, true, 0), ContainsSubstring("divisor"));
  CHECK_THROWS_WITH(avg_pool2d(zeros(4), 2), ContainsSubstring("avg_pool2d"));
  CHECK_THROWS_AS(avg_pool2d(zeros({1, 4, 4}, kLong), 2), Error);
}

TEST_CASE("A window that lies in the padding alone is -infinity and has no gradient", "[pool]") {
  // Taps at -1 and 1 of an image of one pixel.
  const Tensor x = full({1, 1, 1}, 3.0).requires_grad_();
  const Tensor y = max_pool2d(x, 2, 1, 1, 2);
  CHECK(y.sizes() == IntArrayRef({1, 1, 1}));
  CHECK(values(y)[0] == -std::numeric_limits<double>::infinity());
  y.sum().backward();
  check_close(x.grad(), {0});
}
