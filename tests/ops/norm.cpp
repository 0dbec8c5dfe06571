#include "reduce_reference.h"

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kEps = 1e-5;

struct Moments {
  double mean = 0;
  double var = 0;
};

Moments moments_of(const Values& group) {
  Moments m;
  for (const double v : group) m.mean += v / static_cast<double>(group.size());
  for (const double v : group) {
    m.var += (v - m.mean) * (v - m.mean) / static_cast<double>(group.size());
  }
  return m;
}

int64_t channel_of(IntArrayRef sizes, size_t i) {
  const int64_t inner = product(sizes.slice(2));
  return static_cast<int64_t>(i) / inner % sizes[1];
}

std::vector<int64_t> all_but_channels(const Tensor& x) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

double tolerance_of(ScalarType dtype) {
  return dtype == kDouble ? 1e-11 : dtype == kFloat ? 2e-5 : dtype == kHalf ? 4e-3 : 3e-2;
}

ScalarType statistics_dtype(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }

const std::vector<std::vector<int64_t>>& batch_shapes() {
  static const std::vector<std::vector<int64_t>> all = {
      {5, 3}, {300, 2}, {4, 3, 7}, {2, 3, 5, 6}, {2, 1, 70, 80}, {2, 2, 2, 3, 4}};
  return all;
}

}  // namespace

TEST_CASE("batch_norm in training uses and moves the statistics of each channel", "[norm]") {
  for (const auto& sizes : batch_shapes()) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const ScalarType stats = statistics_dtype(dtype);
      const Tensor x = random_tensor(sizes, dtype, -2, 4);
      const int64_t channels = sizes[1];
      const Tensor weight = random_tensor({channels}, stats, 0.5, 2, 2);
      const Tensor bias = random_tensor({channels}, stats, -1, 1, 3);
      const auto lines = groups(x, all_but_channels(x));
      const Values ws = values(weight), bs = values(bias);
      std::vector<Moments> moments;
      for (const Values& line : lines) moments.push_back(moments_of(line));
      Values expected = values(x);
      for (size_t i = 0; i < expected.size(); ++i) {
        const auto c = static_cast<size_t>(channel_of(sizes, i));
        const Moments& m = moments[c];
        expected[i] = (expected[i] - m.mean) / std::sqrt(m.var + kEps) * ws[c] + bs[c];
      }
      for (const Tensor& input : layouts(x)) {
        Tensor mean = full({channels}, 0.5, stats);
        Tensor var = full({channels}, 2.0, stats);
        const int64_t version = mean._version();
        check_close(batch_norm(input, weight, bias, mean, var, true, 0.1, kEps), expected,
                    tolerance_of(dtype));
        CHECK(mean._version() == version + 1);
        for (int64_t c = 0; c < channels; ++c) {
          const Values& line = lines[static_cast<size_t>(c)];
          const Moments& m = moments[static_cast<size_t>(c)];
          const auto n = static_cast<double>(line.size());
          CHECK(values(mean)[static_cast<size_t>(c)] == Approx(0.45 + 0.1 * m.mean));
          CHECK(values(var)[static_cast<size_t>(c)] == Approx(1.8 + 0.1 * m.var * n / (n - 1)));
        }
      }
    }
  }
}

TEST_CASE("batch_norm outside training uses the running statistics", "[norm]") {
  const Tensor x = random_tensor({4, 3, 5, 6});
  const Tensor mean = random_tensor({3}, kDouble, -1, 1, 4);
  const Tensor var = random_tensor({3}, kDouble, 0.5, 2, 5);
  Values expected = values(x);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto c = static_cast<size_t>(channel_of(x.sizes(), i));
    expected[i] = (expected[i] - values(mean)[c]) / std::sqrt(values(var)[c] + kEps);
  }
  check_close(batch_norm(x, {}, {}, mean, var, false, 0.1, kEps), expected, 1e-12);
  CHECK(mean._version() == 0);
}

TEST_CASE("batch_norm updates running statistics that are not adjacent", "[norm]") {
  const Tensor x = random_tensor({4, 3, 5}, kFloat);
  Tensor mean = zeros(3), var = ones(3);
  Tensor pairs = zeros({3, 2});
  pairs.select(1, 1).fill_(1);
  batch_norm(x, {}, {}, mean, var, true, 0.3, kEps);
  batch_norm(x, {}, {}, pairs.select(1, 0), pairs.select(1, 1), true, 0.3, kEps);
  check_close(pairs.select(1, 0), values(mean), 0);
  check_close(pairs.select(1, 1), values(var), 0);
}

TEST_CASE("layer_norm normalizes the last dimensions", "[norm]") {
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes = {
      {{3, 8}, 1}, {{2, 3, 4}, 2}, {{7}, 1}, {{2, 3, 9}, 1}, {{3, 5000}, 1}, {{200, 33}, 1}};
  for (const auto& [sizes, count] : shapes) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor x = random_tensor(sizes, dtype, -2, 4);
      const IntArrayRef all(sizes);
      const IntArrayRef shape = all.slice(all.size() - static_cast<size_t>(count));
      const int64_t n = product(shape);
      const Tensor weight = random_tensor(shape, dtype, 0.5, 2, 2);
      const Tensor bias = random_tensor(shape, dtype, -1, 1, 3);
      const Values ws = values(weight), bs = values(bias);
      Values expected = values(x);
      for (size_t row = 0; row < expected.size(); row += static_cast<size_t>(n)) {
        const Values line(expected.begin() + static_cast<int64_t>(row),
                          expected.begin() + static_cast<int64_t>(row) + n);
        const Moments m = moments_of(line);
        for (size_t k = 0; k < line.size(); ++k) {
          expected[row + k] = (line[k] - m.mean) / std::sqrt(m.var + kEps) * ws[k] + bs[k];
        }
      }
      for (const Tensor& input : layouts(x)) {
        check_close(layer_norm(input, shape, weight, bias, kEps), expected, tolerance_of(dtype));
      }
    }
  }
  CHECK(layer_norm(zeros({0, 4}), 4).sizes() == std::vector<int64_t>{0, 4});
  check_close(layer_norm(full({2, 4}, 3.0), 4), Values(8, 0.0));
}

TEST_CASE("Gradients of batch_norm agree with differences", "[norm]") {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{5, 2}, {3, 2, 4}, {2, 2, 3, 2}}) {
    const Tensor x = random_tensor(sizes).requires_grad_();
    const Tensor weight = random_tensor({2}, kDouble, 0.5, 2, 2).requires_grad_();
    const Tensor bias = random_tensor({2}, kDouble, -1, 1, 3).requires_grad_();
    const Tensor mean = random_tensor({2}, kDouble, -1, 1, 4);
    const Tensor var = random_tensor({2}, kDouble, 0.5, 2, 5);
    CHECK(check_gradients(
        [](const std::vector<Tensor>& in) {
          return batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, kEps);
        },
        {x, weight, bias}));
    CHECK(check_gradients(
        [](const std::vector<Tensor>& in) {
          return batch_norm(in[0], {}, {}, {}, {}, true, 0.1, kEps);
        },
        {x}));
    CHECK(check_gradients(
        [mean, var](const std::vector<Tensor>& in) {
          return batch_norm(in[0], in[1], in[2], mean, var, false, 0.1, kEps);
        },
        {x, weight, bias}));
  }
}

TEST_CASE("Gradients of layer_norm agree with differences", "[norm]") {
  const Tensor x = random_tensor({3, 2, 4}).requires_grad_();
  for (const auto& shape : std::vector<std::vector<int64_t>>{{4}, {2, 4}, {3, 2, 4}}) {
    CHECK(check_gradients(
        [shape](const std::vector<Tensor>& in) {
          return layer_norm(in[0], shape, in[1], in[2], kEps);
        },
        {x, random_tensor(shape, kDouble, 0.5, 2, 2).requires_grad_(),
         random_tensor(shape, kDouble, -1, 1, 3).requires_grad_()}));
    CHECK(check_gradients(
        [shape](const std::vector<Tensor>& in) { return layer_norm(in[0], shape); }, {x}));
  }
}

TEST_CASE("The fused gradients of norms equal the composed ones", "[norm]") {
  const auto gradients = [](auto f, const std::vector<Tensor>& inputs, bool create_graph) {
    for (const Tensor& input : inputs) input.mutable_grad() = Tensor();
    const Tensor y = f();
    y.backward(random_tensor(y.sizes(), y.scalar_type(), -1, 1, 9), create_graph, create_graph);
    std::vector<Tensor> result;
    for (const Tensor& input : inputs) {
      result.push_back(input.grad().detach());
      input.mutable_grad() = Tensor();
    }
    return result;
  };
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Tensor x = random_tensor({70, 6, 9}, dtype).requires_grad_();
    const Tensor weight = random_tensor({6}, kFloat, 0.5, 2, 2).requires_grad_();
    const Tensor bias = random_tensor({6}, kFloat, -1, 1, 3).requires_grad_();
    const Tensor scale = random_tensor({9}, dtype, 0.5, 2, 2).requires_grad_();
    const Tensor shift = random_tensor({9}, dtype, -1, 1, 3).requires_grad_();
    const auto batch = [&] { return batch_norm(x, weight, bias, {}, {}, true, 0.1, kEps); };
    const auto layer = [&] { return layer_norm(x, 9, scale, shift, kEps); };
    const auto compare = [&](auto f, const std::vector<Tensor>& inputs) {
      const auto fused = gradients(f, inputs, false);
      const auto composed = gradients(f, inputs, true);
      for (size_t i = 0; i < inputs.size(); ++i) {
        CHECK(fused[i].scalar_type() == inputs[i].scalar_type());
        check_close(fused[i], values(composed[i]), dtype == kHalf ? 1e-2 : 1e-4);
      }
    };
    compare(batch, {x, weight, bias});
    compare(layer, {x, scale, shift});
  }
}

TEST_CASE("Norms keep their input, mean and rstd", "[norm]") {
  const auto rounded = [](int64_t elements) { return (elements * 4 + 511) / 512 * 512; };
  const Tensor x = random_tensor({64, 16, 8, 8}, kFloat).requires_grad_();
  const Tensor weight = ones(16), bias = zeros(16);
  const auto batch = measure([&] { return batch_norm(x, weight, bias, {}, {}, true, 0.1, kEps); });
  CHECK(batch.net_bytes == rounded(x.numel()) + 2 * rounded(16));
  const auto layer = measure([&] { return layer_norm(x, {8, 8}); });
  CHECK(layer.net_bytes == rounded(x.numel()) + 2 * rounded(64 * 16));
  const auto plain = measure([&] { return layer_norm(x.detach(), {8, 8}); });
  CHECK(plain.net_bytes == rounded(x.numel()));
}

TEST_CASE("Norms are the same bits for any number of threads", "[norm]") {
  const Tensor x = random_tensor({40, 20, 300}, kFloat);
  const auto gradient_of = [&](auto f, const Tensor& weight) {
    return [&x, f, weight] {
      Tensor input = x.detach().clone().requires_grad_();
      Tensor scale = weight.clone().requires_grad_();
      f(input, scale).square().sum().backward();
      return cat({input.grad().reshape(-1), scale.grad().reshape(-1)});
    };
  };
  check_same_for_any_threads(
      gradient_of([](const Tensor& in,
                     const Tensor& w) { return batch_norm(in, w, {}, {}, {}, true, 0.1, kEps); },
                  random_tensor({20}, kFloat)));
  check_same_for_any_threads(
      gradient_of([](const Tensor& in, const Tensor& w) { return layer_norm(in, 300, w); },
                  random_tensor({300}, kFloat)));
}

TEST_CASE("Errors of norms name the shapes", "[norm]") {
  const Tensor x = zeros({4, 3, 2});
  CHECK_THROWS_WITH(
      batch_norm(x, zeros(4), {}, {}, {}, true, 0.1, kEps),
      ContainsSubstring("batch_norm") && ContainsSubstring("weight") && ContainsSubstring("[4]"));
  CHECK_THROWS_WITH(batch_norm(x, {}, {}, {}, {}, false, 0.1, kEps),
                    ContainsSubstring("running_mean"));
  CHECK_THROWS_WITH(batch_norm(zeros({1, 3}), {}, {}, {}, {}, true, 0.1, kEps),
                    ContainsSubstring("more than 1 value"));
  CHECK_THROWS_WITH(batch_norm(zeros(3), {}, {}, {}, {}, true, 0.1, kEps),
                    ContainsSubstring("[3]"));
  CHECK_THROWS_WITH(layer_norm(x, 3),
                    ContainsSubstring("layer_norm") && ContainsSubstring("[4, 3, 2]"));
  CHECK_THROWS_WITH(layer_norm(x, 2, zeros(3)), ContainsSubstring("weight"));
  CHECK_THROWS_WITH(layer_norm(zeros({2, 2}, kLong), 2), ContainsSubstring("floating"));
}
