#include "reduce_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <ebb/autograd/factories.h>
#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

double sum_of(const Values& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean_of(const Values& x) { return sum_of(x) / static_cast<double>(x.size()); }
double var_of(const Values& x, double correction) {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return squares / std::max(0.0, static_cast<double>(x.size()) - correction);
}
double norm_of(const Values& x, double p) {
  double total = p == -kInf ? kInf : 0;
  for (const double v : x) {
    const double a = std::fabs(v);
    if (p == 0)
      total += v != 0;
    else if (p == kInf)
      total = std::max(total, a);
    else if (p == -kInf)
      total = std::min(total, a);
    else
      total += std::pow(a, p);
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}
double logsumexp_of(const Values& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double v : x) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

using Dims = std::vector<int64_t>;
const std::vector<Dims> kDims = {{},     {0},    {1},    {2},       {-1},
                                 {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, {-1, 0}};

Dims kept_sizes(const Tensor& x, const Dims& dims, bool keepdim) {
  Dims sizes;
  for (int64_t d = 0; d < x.dim(); ++d) {
    const bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), d) != dims.end() ||
                         std::find(dims.begin(), dims.end(), d - x.dim()) != dims.end();
    if (!reduced)
      sizes.push_back(x.size(d));
    else if (keepdim)
      sizes.push_back(1);
  }
  return sizes;
}

/// Checks values and sizes over all sets of dimensions, with and without keepdim, in all layouts.
template <typename Op, typename Reference>
void check_all(const Tensor& x, double tolerance, Op&& op, Reference&& reference) {
  for (const Tensor& input : layouts(x)) {
    for (const Dims& dims : kDims) {
      for (const bool keepdim : {false, true}) {
        INFO("dims " << IntArrayRef(dims) << " strides " << input.strides());
        const Tensor result = op(input, dims, keepdim);
        CHECK(result.sizes() == IntArrayRef(kept_sizes(input, dims, keepdim)));
        check_close(result, reduced(input, dims, reference), tolerance);
      }
    }
  }
}

}  // namespace

TEST_CASE("Reductions agree with a plain loop over any dimensions and strides", "[reduce]") {
  for (const Dims& sizes : {Dims{3, 4, 5}, Dims{2, 70, 37}, Dims{130, 3, 2}, Dims{1, 5, 1}}) {
    for (const ScalarType dtype : {kDouble, kFloat}) {
      const Tensor x = random_tensor(sizes, dtype);
      const double tolerance = dtype == kDouble ? 1e-12 : 1e-5;
      check_all(
          x, tolerance, [](auto& t, auto& d, bool k) { return t.sum(IntArrayRef(d), k); }, sum_of);
      check_all(
          x, tolerance, [](auto& t, auto& d, bool k) { return t.mean(IntArrayRef(d), k); },
          mean_of);
      check_all(
          x, 0, [](auto& t, auto& d, bool k) { return t.amax(d, k); },
          [](const Values& v) { return *std::max_element(v.begin(), v.end()); });
      check_all(
          x, 0, [](auto& t, auto& d, bool k) { return t.amin(d, k); },
          [](const Values& v) { return *std::min_element(v.begin(), v.end()); });
      for (const bool unbiased : {true, false}) {
        check_all(
            x, tolerance,
            [&](auto& t, auto& d, bool k) { return t.var(IntArrayRef(d), unbiased, k); },
            [&](const Values& v) { return var_of(v, unbiased ? 1 : 0); });
        check_all(
            x, tolerance,
            [&](auto& t, auto& d, bool k) { return t.std(IntArrayRef(d), unbiased, k); },
            [&](const Values& v) { return std::sqrt(var_of(v, unbiased ? 1 : 0)); });
      }
      check_all(
          x, tolerance, [](auto& t, auto& d, bool k) { return t.logsumexp(d, k); }, logsumexp_of);
      for (const double p : {0.0, 1.0, 2.0, 3.0, 0.5, kInf, -kInf}) {
        check_all(
            x, tolerance, [&](auto& t, auto& d, bool k) { return t.norm(p, d, k); },
            [&](const Values& v) { return norm_of(v, p); });
      }
    }
  }
}

TEST_CASE("Reductions over one dimension agree with a plain loop", "[reduce]") {
  const Tensor x = made_of(numbers(4 * 65 * 6, -3, 3), {4, 65, 6}, kInt);
  for (const Tensor& input : layouts(x)) {
    for (const int64_t dim : {0, 1, 2, -1, -2}) {
      for (const bool keepdim : {false, true}) {
        const Dims dims = {dim};
        const Dims sizes = kept_sizes(input, dims, keepdim);
        const auto largest = [](const Values& v) { return std::max_element(v.begin(), v.end()); };
        const auto least = [](const Values& v) { return std::min_element(v.begin(), v.end()); };
        const auto first_max =
            reduced(input, dims, [&](const Values& v) { return double(largest(v) - v.begin()); });
        const auto first_min =
            reduced(input, dims, [&](const Values& v) { return double(least(v) - v.begin()); });
        const auto [max_values, max_indices] = input.max(dim, keepdim);
        const auto [min_values, min_indices] = input.min(dim, keepdim);
        CHECK(max_values.sizes() == IntArrayRef(sizes));
        CHECK(max_values.dtype() == kInt);
        CHECK(max_indices.dtype() == kLong);
        check_close(max_values, reduced(input, dims, [&](const Values& v) { return *largest(v); }));
        check_close(min_values, reduced(input, dims, [&](const Values& v) { return *least(v); }));
        check_close(max_indices, first_max);
        check_close(min_indices, first_min);
        check_close(input.argmax(dim, keepdim), first_max);
        check_close(input.argmin(dim, keepdim), first_min);
        check_close(
            input.all(dim, keepdim), reduced(input, dims, [](const Values& v) {
              return double(std::all_of(v.begin(), v.end(), [](double e) { return e != 0; }));
            }));
        check_close(
            input.any(dim, keepdim), reduced(input, dims, [](const Values& v) {
              return double(std::any_of(v.begin(), v.end(), [](double e) { return e != 0; }));
            }));
      }
    }
    const Values all = values(input);
    check_close(input.argmax(), {double(std::max_element(all.begin(), all.end()) - all.begin())});
    check_close(input.argmin(), {double(std::min_element(all.begin(), all.end()) - all.begin())});
  }
}

TEST_CASE("Products agree with a plain loop", "[reduce]") {
  const auto product_of = [](const Values& v) {
    return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
  };
  for (const Tensor& input : layouts(random_tensor({3, 70, 4}, kDouble, 0.8, 1.25))) {
    for (const int64_t dim : {0, 1, 2}) {
      check_close(input.prod(dim), reduced(input, {dim}, product_of), 1e-12);
    }
    check_close(input.prod(), reduced(input, {}, product_of), 1e-12);
  }
  CHECK(made_of({3, -7, 5}, {3}, kInt).prod().dtype() == kLong);
  CHECK(made_of({3, -7, 5}, {3}, kInt).prod().item<int64_t>() == -105);
}

TEST_CASE("Each dtype is reduced in a type that is wide enough", "[reduce]") {
  const Tensor bytes = full({1000}, 200, kUInt8);
  CHECK(bytes.sum().dtype() == kLong);
  CHECK(bytes.sum().item<int64_t>() == 200000);
  CHECK(bytes.max().dtype() == kUInt8);
  CHECK(bytes.max().item<int64_t>() == 200);
  for (const ScalarType dtype : {kInt8, kInt16, kInt32, kInt64}) {
    const Tensor x = made_of({-100, 27, 127, 3}, {2, 2}, dtype);
    CHECK(x.sum().item<int64_t>() == 57);
    check_close(x.sum(0), {27, 30});
    check_close(x.amin({1}), {-100, 3});
    CHECK(x.amin({1}).dtype() == dtype);
  }
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor ones = full({5000}, 1, dtype);
    CHECK(ones.sum().dtype() == dtype);
    CHECK(ones.mean().item<double>() == 1);
    CHECK(ones.sum(std::optional<ScalarType>(kFloat)).item<double>() == 5000);
    check_close(full({300, 5}, 2, dtype).mean(0), {2, 2, 2, 2, 2});
  }
  const Tensor truth = made_of({1, 0, 1, 1}, {2, 2}, kBool);
  CHECK(truth.sum().dtype() == kLong);
  CHECK(truth.sum().item<int64_t>() == 3);
  CHECK(truth.all().dtype() == kBool);
  CHECK_FALSE(truth.all().item<bool>());
  CHECK(truth.any().item<bool>());
  CHECK(made_of({0, 0.25}, {2}).any().item<bool>());
  CHECK(made_of({2, 3}, {2}, kUInt8).all().dtype() == kUInt8);
  CHECK(made_of({1.9, 2.9}, {2}).sum(std::optional<ScalarType>(kLong)).item<int64_t>() == 3);
  CHECK(made_of({1, 2}, {2}, kInt).mean(std::optional<ScalarType>(kFloat)).item<double>() == 1.5);
  CHECK(made_of({1, 2}, {2}, kInt).logsumexp({0}).dtype() == get_default_dtype());
}

TEST_CASE("Integer sums wrap around", "[reduce]") {
  const Tensor x = full({2}, std::numeric_limits<int64_t>::max(), kLong);
  CHECK(x.sum().item<int64_t>() == -2);
}

TEST_CASE("NaN passes through the largest and the least element", "[reduce]") {
  for (const int64_t at : {0, 1, 63, 64, 99}) {
    Values elements = numbers(100);
    elements[static_cast<size_t>(at)] = kNan;
    for (const ScalarType dtype : {kDouble, kFloat, kHalf}) {
      const Tensor x = made_of(elements, {100}, dtype);
      CHECK(std::isnan(x.max().item<double>()));
      CHECK(std::isnan(x.min().item<double>()));
      CHECK(x.argmax().item<int64_t>() == at);
      CHECK(x.argmin().item<int64_t>() == at);
      CHECK(std::isnan(x.norm(kInf).item<double>()));
      const Tensor column = made_of(elements, {100, 1}, dtype).expand({100, 7});
      CHECK(std::isnan(std::get<0>(column.max(0))[3].item<double>()));
      CHECK(std::get<1>(column.max(0))[3].item<int64_t>() == at);
    }
  }
}

TEST_CASE("Infinities are summed and compared as IEEE 754 says", "[reduce]") {
  const Tensor x = made_of({1, kInf, -5}, {3});
  CHECK(x.sum().item<double>() == kInf);
  CHECK(x.max().item<double>() == kInf);
  CHECK(std::isnan(made_of({kInf, -kInf}, {2}).sum().item<double>()));
  CHECK(full({40}, -kInf, kDouble).max().item<double>() == -kInf);
  CHECK(full({40}, -kInf, kDouble).argmax().item<int64_t>() == 0);
}

TEST_CASE("logsumexp does not overflow and knows rows of nothing but -inf", "[reduce]") {
  const Tensor x = made_of({1000, 1000, -kInf, -kInf, -2000, -kInf, kInf, 1}, {4, 2});
  check_close(x.logsumexp({1}), {1000 + std::log(2.0), -kInf, -2000, kInf}, 1e-15);
  check_close(x.t().contiguous().logsumexp({0}), {1000 + std::log(2.0), -kInf, -2000, kInf}, 1e-15);
  const Tensor far = made_of({-1000, -kInf, -kInf, -1000}, {4}, kFloat);
  CHECK(far.logsumexp({0}).item<double>() == Approx(-1000 + std::log(2.0)));
}

TEST_CASE("Reductions over no elements give their identity", "[reduce]") {
  const Tensor x = zeros({2, 0, 3});
  CHECK(x.sum().item<double>() == 0);
  CHECK(x.prod().item<double>() == 1);
  CHECK(std::isnan(x.mean().item<double>()));
  CHECK(std::isnan(x.var().item<double>()));
  CHECK(x.all().item<bool>());
  CHECK_FALSE(x.any().item<bool>());
  CHECK(x.norm(2).item<double>() == 0);
  check_close(x.sum(1), {0, 0, 0, 0, 0, 0});
  check_close(x.prod(1), {1, 1, 1, 1, 1, 1});
  check_close(x.logsumexp({1}), Values(6, -kInf));
  CHECK(x.sum(0).sizes() == IntArrayRef({0, 3}));
  CHECK(std::get<0>(x.max(0)).sizes() == IntArrayRef({0, 3}));
  CHECK(x.amax({2}).sizes() == IntArrayRef({2, 0}));
}

TEST_CASE("A largest element of nothing is an error that names op and sizes", "[reduce]") {
  const Tensor x = zeros({2, 0, 3});
  CHECK_THROWS_WITH(x.max(), ContainsSubstring("max") && ContainsSubstring("[2, 0, 3]"));
  CHECK_THROWS_WITH(x.max(1), ContainsSubstring("max") && ContainsSubstring("dimension 1"));
  CHECK_THROWS_WITH(x.argmin(1), ContainsSubstring("argmin"));
  CHECK_THROWS_AS(x.amax({1}), IndexError);
  CHECK_THROWS_WITH(x.norm(kInf), ContainsSubstring("norm"));
}

TEST_CASE("Tensors without dimensions are reduced to themselves", "[reduce]") {
  const Tensor x = made_of({2.5}, {});
  CHECK(x.sum().item<double>() == 2.5);
  CHECK(x.sum(0).item<double>() == 2.5);
  CHECK(x.sum(-1, true).dim() == 0);
  CHECK(std::get<0>(x.max(0)).item<double>() == 2.5);
  CHECK(std::get<1>(x.max(-1)).item<int64_t>() == 0);
  CHECK(x.argmax().item<int64_t>() == 0);
  CHECK(x.var(false).item<double>() == 0);
  CHECK(std::isnan(x.var().item<double>()));
}

TEST_CASE("Wrong dimensions and dtypes are errors that name op and sizes", "[reduce]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_AS(x.sum(2), IndexError);
  CHECK_THROWS_WITH(x.sum(-3), ContainsSubstring("sum") && ContainsSubstring("-3"));
  CHECK_THROWS_WITH(x.sum({0, -2}), ContainsSubstring("more than once"));
  CHECK_THROWS_WITH(zeros({2, 3}, kLong).mean(),
                    ContainsSubstring("mean") && ContainsSubstring("Long"));
  CHECK_THROWS_WITH(zeros({2}, kInt).var(), ContainsSubstring("var") && ContainsSubstring("Int"));
  CHECK_THROWS_WITH(zeros({2}, kInt).norm(), ContainsSubstring("norm"));
  CHECK_THROWS_AS(Tensor().sum(), Error);
}

TEST_CASE("A long float32 sum keeps its accuracy", "[reduce]") {
  const int64_t n = 1 << 24;
  const Tensor ones = full({n}, 1, kFloat);
  CHECK(ones.sum().item<double>() == static_cast<double>(n));
  CHECK(ones.view({n, 1}).sum(0).item<double>() == static_cast<double>(n));
  CHECK(ones.view({n / 4, 4}).sum(0)[1].item<double>() == static_cast<double>(n / 4));
  const Tensor tenths = full({n}, 0.1, kFloat);
  const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
  CHECK(std::fabs(tenths.sum().item<double>() / exact - 1) < 1e-6);
  CHECK(std::fabs(tenths.mean().item<double>() / static_cast<double>(0.1f) - 1) < 1e-6);
}

TEST_CASE("The variance of numbers far from zero keeps its accuracy", "[reduce]") {
  Values elements = numbers(100000);
  const double expected = var_of(elements, 1);
  for (double& x : elements) x += 1e6;
  CHECK(made_of(elements, {100000}).var().item<double>() == Approx(expected).epsilon(1e-9));
  const Tensor constant = full({1000}, 1e4 + 0.1, kFloat);
  CHECK(constant.var().item<double>() == Approx(0).margin(1e-6));
}

TEST_CASE("Reductions give the same bits for any number of threads", "[reduce]") {
  const std::vector<Dims> shapes = {{1000003},   {300, 4000}, {4000, 300},
                                    {100000, 3}, {3, 100000}, {32, 50, 400}};
  for (const Dims& shape : shapes) {
    const Tensor x = random_tensor(shape, kFloat);
    check_same_for_any_threads([&] { return x.sum(); });
    check_same_for_any_threads([&] { return x.norm(); });
    check_same_for_any_threads([&] { return x.var(); });
    for (int64_t d = 0; d < x.dim(); ++d) {
      check_same_for_any_threads([&] { return x.sum(d); });
      check_same_for_any_threads([&] { return x.std(d, true, false); });
      check_same_for_any_threads([&] { return x.logsumexp({d}); });
      check_same_for_any_threads([&] { return std::get<1>(x.max(d)); });
      check_same_for_any_threads([&] { return x.to(kHalf).mean(d); });
    }
  }
}

TEST_CASE("A reduction allocates its result and little scratch", "[reduce]") {
  const Tensor x = random_tensor({1000, 1000}, kFloat);
  CHECK(measure([&] { return x.sum(1); }).net_bytes == 4096);
  CHECK(measure([&] { return x.sum(1); }).peak_bytes == 4096);
  CHECK(measure([&] { return x.t().var(0, true, false); }).peak_bytes == 4096);
  const Measurement all = measure([&] { return x.std(); });
  CHECK(all.net_bytes == 512);
  // The CPU cuts an output into 32 pieces at most, a device into 1024.
  const int64_t pieces = get_default_device().is_cpu() ? 32 : 1024;
  CHECK(all.peak_bytes <= 512 + pieces * 24 + 512);
}

TEST_CASE("Sums and means have gradients", "[reduce][grad]") {
  const Tensor x = random_tensor({3, 4, 2}).requires_grad_();
  CHECK(check_gradients([](auto& in) { return in[0].sum(); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].sum(1); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].sum({0, 2}, true); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].mean(); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].mean({-1, 0}); }, {x}));
  const Tensor scalar = made_of({1.5}, {}).requires_grad_();
  CHECK(check_gradients([](auto& in) { return in[0].sum(0); }, {scalar}));
}

TEST_CASE("Products have gradients, with zeros too", "[reduce][grad]") {
  for (const int zeros_in_first_row : {0, 1, 2}) {
    Values elements = numbers(12, 0.5, 1.5);
    for (int i = 0; i < zeros_in_first_row; ++i) elements[static_cast<size_t>(i)] = 0;
    const Tensor x = made_of(elements, {3, 4}).requires_grad_();
    CHECK(check_gradients([](auto& in) { return in[0].prod(); }, {x}));
    CHECK(check_gradients([](auto& in) { return in[0].prod(1); }, {x}));
    CHECK(check_gradients([](auto& in) { return in[0].prod(0, true); }, {x}));
  }
}

TEST_CASE("Largest and least elements have gradients", "[reduce][grad]") {
  const Tensor x = random_tensor({3, 4, 2}).requires_grad_();
  CHECK(check_gradients([](auto& in) { return in[0].max(); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].min(); }, {x}));
  CHECK(check_gradients([](auto& in) { return std::get<0>(in[0].max(1)); }, {x}));
  CHECK(check_gradients([](auto& in) { return std::get<0>(in[0].min(-1, true)); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].amax({0, 2}); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].amin({1}, true); }, {x}));
}

TEST_CASE("Equal largest elements share the gradient", "[reduce][grad]") {
  const Tensor x = made_of({2, 5, 5, 1}, {4}).requires_grad_();
  x.max().backward();
  check_close(x.grad(), {0, 0.5, 0.5, 0});
  const Tensor y = made_of({2, 5, 5, 1}, {4}).requires_grad_();
  std::get<0>(y.max(0)).backward();
  check_close(y.grad(), {0, 1, 0, 0});
  const Tensor z = made_of({3, 3, 3, 7}, {2, 2}).requires_grad_();
  z.amin({0, 1}).backward();
  check_close(z.grad(), {1.0 / 3, 1.0 / 3, 1.0 / 3, 0});
}

TEST_CASE("Variance, norm and logsumexp have gradients", "[reduce][grad]") {
  const Tensor x = random_tensor({3, 4, 2}).requires_grad_();
  for (const bool unbiased : {true, false}) {
    CHECK(check_gradients([&](auto& in) { return in[0].var(unbiased); }, {x}));
    CHECK(check_gradients([&](auto& in) { return in[0].var({0, 1}, unbiased, true); }, {x}));
    CHECK(check_gradients([&](auto& in) { return in[0].std(1, unbiased, false); }, {x}));
  }
  for (const double p : {1.0, 2.0, 3.0, 2.5, 1.5, 0.5, kInf, -kInf}) {
    INFO("p " << p);
    CHECK(check_gradients([&](auto& in) { return in[0].norm(p); }, {x}));
    CHECK(check_gradients([&](auto& in) { return in[0].norm(p, {1}, true); }, {x}));
  }
  CHECK(check_gradients([](auto& in) { return in[0].logsumexp({1}); }, {x}));
  CHECK(check_gradients([](auto& in) { return in[0].logsumexp({0, 2}, true); }, {x}));
}

TEST_CASE("Gradients at the edges are zero, not NaN", "[reduce][grad]") {
  for (const double p : {0.0, 1.0, 2.0, 3.0, 1.5}) {
    const Tensor x = zeros({3}, kDouble).requires_grad_();
    x.norm(p).backward();
    check_close(x.grad(), {0, 0, 0});
  }
  const Tensor constant = full({4}, 2, kDouble).requires_grad_();
  constant.std().backward();
  check_close(constant.grad(), {0, 0, 0, 0});
  const Tensor nothing = full({3}, -kInf, kDouble).requires_grad_();
  nothing.logsumexp({0}).backward();
  check_close(nothing.grad(), {0, 0, 0});
}

TEST_CASE("A reduced half tensor gets a half gradient", "[reduce][grad]") {
  const Tensor x = full({4}, 2, kHalf).requires_grad_();
  x.sum(std::optional<ScalarType>(kFloat)).backward();
  CHECK(x.grad().dtype() == kHalf);
  check_close(x.grad(), {1, 1, 1, 1});
}
