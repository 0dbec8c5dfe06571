#include "reduce_reference.h"

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Case {
  std::vector<int64_t> input;   ///< N, C, H, W
  std::vector<int64_t> weight;  ///< O, C / groups, kH, kW
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> padding = {0, 0};
  std::vector<int64_t> dilation = {1, 1};
  int64_t groups = 1;
};

int64_t out_size(const Case& c, size_t d) {
  return (c.input[d + 2] + 2 * c.padding[d] - c.dilation[d] * (c.weight[d + 2] - 1) - 1) /
             c.stride[d] +
         1;
}

/// Calls f(position in the output, in the input, in the weight) for all products of a convolution.
template <typename F>
void for_each_product(const Case& c, F&& f) {
  const int64_t height = out_size(c, 0), width = out_size(c, 1);
  const int64_t channels = c.weight[1], kh = c.weight[2], kw = c.weight[3];
  const int64_t outputs = c.weight[0] / c.groups;
  for (int64_t n = 0; n < c.input[0]; ++n)
    for (int64_t o = 0; o < c.weight[0]; ++o)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          for (int64_t k = 0; k < channels * kh * kw; ++k) {
            const int64_t row = y * c.stride[0] - c.padding[0] + k / kw % kh * c.dilation[0];
            const int64_t column = x * c.stride[1] - c.padding[1] + k % kw * c.dilation[1];
            if (row < 0 || row >= c.input[2] || column < 0 || column >= c.input[3]) continue;
            const int64_t channel = o / outputs * channels + k / (kh * kw);
            f(((n * c.weight[0] + o) * height + y) * width + x,
              ((n * c.input[1] + channel) * c.input[2] + row) * c.input[3] + column,
              o * channels * kh * kw + k);
          }
}

double& at(Values& values, int64_t i) { return values[static_cast<size_t>(i)]; }
double at(const Values& values, int64_t i) { return values[static_cast<size_t>(i)]; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{2, 3, 7, 9}, {4, 3, 3, 3}},
      {{2, 3, 7, 9}, {4, 3, 3, 2}, {1, 1}, {1, 1}},
      {{3, 2, 8, 11}, {5, 2, 3, 3}, {2, 2}, {1, 1}},
      {{2, 2, 12, 13}, {3, 2, 3, 5}, {2, 3}, {2, 4}, {2, 1}},
      {{1, 4, 9, 9}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
      {{2, 6, 6, 5}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
      {{1, 3, 40, 50}, {35, 3, 5, 5}, {1, 1}, {2, 2}},
      {{3, 40, 6, 6}, {20, 40, 1, 1}},
      {{2, 2, 5, 5}, {2, 2, 5, 5}},
      {{2, 2, 3, 3}, {2, 2, 5, 5}, {1, 1}, {3, 3}},
      {{2, 1, 30, 30}, {2, 1, 2, 2}, {7, 5}, {0, 1}, {3, 2}},
  };
  return all;
}

Tensor run(const Case& c, const Tensor& x, const Tensor& w, const std::optional<Tensor>& b = {}) {
  return conv2d(x, w, b, c.stride, c.padding, c.dilation, c.groups);
}

double tolerance_of(ScalarType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-4 : dtype == kHalf ? 5e-3 : 4e-2;
}

int64_t rounded_bytes(int64_t elements) { return (elements * 4 + 511) / 512 * 512; }

}  // namespace

TEST_CASE("conv2d agrees with a plain loop for any parameters, dtype and layout", "[conv]") {
  for (const Case& c : cases()) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor x = random_tensor(c.input, dtype);
      const Tensor w = random_tensor(c.weight, dtype, -0.5, 0.5, 2);
      const Tensor b = random_tensor(c.weight[0], dtype, -1, 1, 3);
      const Values xs = values(x), ws = values(w), bs = values(b);
      const int64_t plane = out_size(c, 0) * out_size(c, 1);
      Values expected(static_cast<size_t>(c.input[0] * c.weight[0] * plane), 0.0);
      for_each_product(c, [&](int64_t out, int64_t in, int64_t k) {
        at(expected, out) += at(xs, in) * at(ws, k);
      });
      for (const Tensor& image : layouts(x)) {
        check_close(run(c, image, w), expected, tolerance_of(dtype));
      }
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] += at(bs, static_cast<int64_t>(i) / plane % c.weight[0]);
      }
      for (const Tensor& weight : layouts(w)) {
        check_close(run(c, x, weight, b), expected, tolerance_of(dtype));
      }
    }
  }
}

TEST_CASE("The backward convolutions agree with a plain loop", "[conv]") {
  for (const Case& c : cases()) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      const Tensor x = random_tensor(c.input, dtype);
      const Tensor w = random_tensor(c.weight, dtype, -0.5, 0.5, 2);
      const std::vector<int64_t> sizes{c.input[0], c.weight[0], out_size(c, 0), out_size(c, 1)};
      const Tensor g = random_tensor(sizes, dtype, -0.5, 0.5, 3);
      const Values xs = values(x), ws = values(w), gs = values(g);
      Values to_input(xs.size(), 0.0);
      Values to_weight(ws.size(), 0.0);
      for_each_product(c, [&](int64_t out, int64_t in, int64_t k) {
        at(to_input, in) += at(gs, out) * at(ws, k);
        at(to_weight, k) += at(gs, out) * at(xs, in);
      });
      const double tolerance = tolerance_of(dtype);
      for (const Tensor& grad : layouts(g)) {
        check_close(
            conv2d_backward_input(c.input, grad, w, c.stride, c.padding, c.dilation, c.groups),
            to_input, tolerance);
        check_close(
            conv2d_backward_weight(c.weight, grad, x, c.stride, c.padding, c.dilation, c.groups),
            to_weight, tolerance * 4);
      }
    }
  }
}

TEST_CASE("One image needs no batch, and one number serves both dimensions", "[conv]") {
  const Tensor x = random_tensor({2, 3, 8, 8}, kFloat);
  const Tensor w = random_tensor({4, 3, 3, 3}, kFloat);
  const Tensor one = conv2d(x[1], w, {}, 2, 1);
  CHECK(one.sizes() == std::vector<int64_t>{4, 4, 4});
  check_close(one, values(conv2d(x, w, {}, {2, 2}, {1, 1})[1]), 1e-6);
  CHECK(conv2d(x.slice(0, 0, 0), w).sizes() == std::vector<int64_t>{0, 4, 6, 6});
}

TEST_CASE("A convolution allocates its result, and on the CPU nothing else", "[conv]") {
  const Tensor x = random_tensor({8, 3, 32, 32}, kFloat);
  const Tensor w = random_tensor({16, 3, 3, 3}, kFloat);
  const Tensor b = random_tensor({16}, kFloat);
  for (const int threads : {1, 2, 8}) {
    const int before = get_num_threads();
    set_num_threads(threads);
    const auto used = measure([&] { return conv2d(x, w, b); });
    set_num_threads(before);
    const bool is_cpu = x.device().is_cpu();
    // On a device the 27 elements of each window, and for a batch with one stride no pointers.
    const int64_t windows = is_cpu ? 0 : rounded_bytes(8 * 27 * 30 * 30);
    CHECK(used.peak_bytes == rounded_bytes(8 * 16 * 30 * 30) + windows);
    CHECK(used.requests == (is_cpu ? 1 : 2));
  }
}

TEST_CASE("Convolutions are the same bits for any number of threads", "[conv]") {
  const Tensor x = random_tensor({9, 5, 33, 31}, kFloat);
  const Tensor w = random_tensor({14, 5, 3, 3}, kFloat);
  const Tensor g = random_tensor({9, 14, 31, 29}, kFloat);
  check_same_for_any_threads([&] { return conv2d(x, w); });
  check_same_for_any_threads([&] {
    return conv2d_backward_input({9, 5, 33, 31}, g, w, 1, 0, 1, 1);
  });
  check_same_for_any_threads([&] {
    return conv2d_backward_weight({14, 5, 3, 3}, g, x, 1, 0, 1, 1);
  });
}

TEST_CASE("Gradients of conv2d agree with differences", "[conv]") {
  const std::vector<Case> some = {
      {{2, 2, 4, 5}, {3, 2, 3, 2}},
      {{1, 2, 5, 5}, {2, 2, 3, 3}, {2, 2}, {1, 1}},
      {{1, 4, 4, 4}, {4, 2, 2, 2}, {1, 1}, {1, 0}, {2, 1}, 2},
  };
  for (const Case& c : some) {
    CHECK(
        check_gradients([c](const std::vector<Tensor>& in) { return run(c, in[0], in[1], in[2]); },
                        {random_tensor(c.input).requires_grad_(),
                         random_tensor(c.weight, kDouble, -1, 1, 2).requires_grad_(),
                         random_tensor(c.weight[0], kDouble, -1, 1, 3).requires_grad_()}));
  }
  CHECK(check_gradients(
      [](const std::vector<Tensor>& in) { return conv2d(in[0], in[1], in[2], 1, 1); },
      {random_tensor({2, 4, 4}).requires_grad_(), random_tensor({2, 2, 3, 3}).requires_grad_(),
       random_tensor({2}).requires_grad_()}));
}

TEST_CASE("A convolution keeps its input only for the gradient of its weight", "[conv]") {
  Tensor x = random_tensor({2, 2, 6, 6}, kFloat).requires_grad_();
  const Tensor w = random_tensor({3, 2, 3, 3}, kFloat);
  const Tensor y = conv2d(x, w);
  x.detach().add_(1);
  CHECK_NOTHROW(y.sum().backward());
}

TEST_CASE("Errors of conv2d name the shapes", "[conv]") {
  const Tensor x = zeros({1, 3, 8, 8});
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 2, 3, 3})), ContainsSubstring("conv2d") &&
                                                        ContainsSubstring("[4, 2, 3, 3]") &&
                                                        ContainsSubstring("[1, 3, 8, 8]"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 9, 9})), ContainsSubstring("larger than input"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}), zeros(3)), ContainsSubstring("bias"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}, kDouble)), ContainsSubstring("dtype"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}), {}, 0), ContainsSubstring("stride"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}), {}, {1, 1, 1}), ContainsSubstring("stride"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 3, 3, 3}), {}, 1, -1), ContainsSubstring("padding"));
  CHECK_THROWS_WITH(conv2d(x, zeros({4, 1, 3, 3}), {}, 1, 0, 1, 2), ContainsSubstring("groups"));
  CHECK_THROWS_WITH(conv2d(zeros({3, 8}), zeros({4, 3, 3, 3})), ContainsSubstring("[3, 8]"));
  CHECK_THROWS_AS(conv2d(zeros({1, 1, 4, 4}, kLong), zeros({1, 1, 2, 2}, kLong)), Error);
}
