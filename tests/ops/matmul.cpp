#include "reduce_reference.h"

#include <limits>

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The product of two matrices, or of two batches of equal size, by a plain loop.
Values reference(const Tensor& a, const Tensor& b) {
  const Values x = values(a);
  const Values y = values(b);
  const auto m = static_cast<size_t>(a.size(-2));
  const auto k = static_cast<size_t>(a.size(-1));
  const auto n = static_cast<size_t>(b.size(-1));
  const size_t batch = a.dim() == 2 ? 1 : static_cast<size_t>(a.numel()) / (m * k);
  Values result(batch * m * n, 0.0);
  for (size_t t = 0; t < batch; ++t) {
    for (size_t i = 0; i < m; ++i) {
      for (size_t p = 0; p < k; ++p) {
        for (size_t j = 0; j < n; ++j) {
          result[(t * m + i) * n + j] += x[(t * m + i) * k + p] * y[(t * k + p) * n + j];
        }
      }
    }
  }
  return result;
}

double tolerance_of(ScalarType dtype) {
  return dtype == kDouble ? 1e-13 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 2e-3 : 1e-2;
}

Tensor wanting(Tensor tensor) { return tensor.requires_grad_(); }

int64_t rounded_bytes(int64_t elements) { return (elements * 4 + 511) / 512 * 512; }

}  // namespace

TEST_CASE("mm agrees with a plain loop for any shape, dtype and layout", "[matmul]") {
  const std::vector<std::vector<int64_t>> shapes = {
      {1, 1, 1},    {4, 4, 4},    {1, 7, 33},   {33, 7, 1},    {13, 300, 31},
      {100, 5, 3},  {3, 5, 100},  {65, 64, 63}, {12, 256, 32}, {400, 9, 35},
      {2, 2500, 2}, {1, 3000, 1}, {300, 600, 1}};
  for (const auto& s : shapes) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor a = random_tensor({s[0], s[1]}, dtype);
      const Tensor b = random_tensor({s[1], s[2]}, dtype, -1, 1, 2);
      const Values expected = reference(a, b);
      INFO(s[0] << " x " << s[1] << " x " << s[2] << " " << dtype);
      const double tolerance =
          tolerance_of(dtype) * (is_reduced_floating_point(dtype) ? 1 : std::sqrt(s[1]));
      for (const Tensor& left : layouts(a)) {
        for (const Tensor& right : layouts(b)) check_close(mm(left, right), expected, tolerance);
      }
    }
  }
}

TEST_CASE("mm of integers wraps around and is exact", "[matmul]") {
  for (const ScalarType dtype : {kLong, kInt, kShort, kChar, kByte}) {
    const Tensor a = random_tensor({21, 17}, dtype, 0, 4);
    const Tensor b = random_tensor({17, 37}, dtype, 0, 3, 5);
    check_close(mm(a, b), reference(a, b), 0);
  }
  const Tensor large = full({1, 2}, 100, kChar);
  CHECK(mm(large, large.t()).item<int64_t>() == 32);  // 20000 modulo 256
  CHECK_THROWS_AS(mm(full({2, 2}, true, kBool), full({2, 2}, true, kBool)), Error);
}

TEST_CASE("Products without elements are empty or zero", "[matmul]") {
  CHECK(mm(zeros({0, 3}), zeros({3, 2})).sizes() == std::vector<int64_t>{0, 2});
  check_close(mm(zeros({2, 0}), zeros({0, 3})), Values(6, 0.0));
  check_close(matmul(zeros({4, 0}), zeros(0)), Values(4, 0.0));
  const Tensor self = random_tensor({2, 3});
  check_close(addmm(self, zeros({2, 0}, kDouble), zeros({0, 3}, kDouble), 2), values(self * 2));
  check_close(linear(zeros({2, 0}), zeros({3, 0}), ones(3)), Values(6, 1.0));
}

TEST_CASE("NaN and infinity pass through products", "[matmul]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = made_of({nan, 0, 0, 1}, {2, 2});
  check_close(mm(a, zeros({2, 2}, kDouble)), {nan, nan, 0, 0});
  const Tensor inf = full({1, 2}, std::numeric_limits<double>::infinity(), kDouble);
  check_close(mm(inf, zeros({2, 1}, kDouble)), {nan});
}

TEST_CASE("matmul takes vectors, matrices and batches that broadcast", "[matmul]") {
  const auto check = [](std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> result,
                        std::vector<int64_t> wide_a, std::vector<int64_t> wide_b) {
    const Tensor x = random_tensor(a);
    const Tensor y = random_tensor(b, kDouble, -1, 1, 3);
    const Tensor left = a.size() == 1 ? x.unsqueeze(0) : x;
    const Tensor right = b.size() == 1 ? y.unsqueeze(1) : y;
    const Values expected =
        reference(left.expand(wide_a).contiguous(), right.expand(wide_b).contiguous());
    for (const Tensor& u : layouts(x)) {
      for (const Tensor& v : layouts(y)) {
        const Tensor product = matmul(u, v);
        CHECK(product.sizes() == result);
        check_close(product, expected, 1e-13);
      }
    }
  };
  check({5}, {5}, {}, {1, 5}, {5, 1});
  check({3, 5}, {5}, {3}, {3, 5}, {5, 1});
  check({5}, {5, 2}, {2}, {1, 5}, {5, 2});
  check({3, 5}, {5, 2}, {3, 2}, {3, 5}, {5, 2});
  check({4, 3, 5}, {5}, {4, 3}, {4, 3, 5}, {4, 5, 1});
  check({4, 3, 5}, {5, 2}, {4, 3, 2}, {4, 3, 5}, {4, 5, 2});
  check({2, 4, 3, 5}, {5, 2}, {2, 4, 3, 2}, {2, 4, 3, 5}, {2, 4, 5, 2});
  check({5}, {4, 5, 2}, {4, 2}, {4, 1, 5}, {4, 5, 2});
  check({3, 5}, {4, 5, 2}, {4, 3, 2}, {4, 3, 5}, {4, 5, 2});
  check({4, 3, 5}, {4, 5, 2}, {4, 3, 2}, {4, 3, 5}, {4, 5, 2});
  check({6, 1, 3, 5}, {4, 5, 2}, {6, 4, 3, 2}, {6, 4, 3, 5}, {6, 4, 5, 2});
  check({1, 3, 5}, {4, 5, 1}, {4, 3, 1}, {4, 3, 5}, {4, 5, 1});
}

TEST_CASE("A batch that is permuted is multiplied as it is", "[matmul]") {
  // Attention: [B, T, H, D] seen as [B, H, T, D].
  const Tensor qkv = random_tensor({2, 9, 3, 4, 8}, kFloat);
  const Tensor q = qkv.select(2, 0).transpose(1, 2);
  const Tensor k = qkv.select(2, 1).transpose(1, 2);
  const auto used = measure([&] { return matmul(q, k.transpose(-2, -1)); });
  // On a device also the list of where the 8 matrices of each side lie.
  const bool is_cpu = get_default_device().is_cpu();
  CHECK(used.peak_bytes == rounded_bytes(2 * 4 * 9 * 9) + (is_cpu ? 0 : 512));
  CHECK(used.requests == (is_cpu ? 1 : 2));
  check_close(matmul(q, k.transpose(-2, -1)),
              reference(q.contiguous(), k.transpose(-2, -1).contiguous()), 1e-5);
}

TEST_CASE("Vectors multiply by their own names", "[matmul]") {
  const Tensor a = random_tensor({300, 70}, kFloat);
  const Tensor x = random_tensor({70}, kFloat, -1, 1, 4);
  check_close(mv(a, x), reference(a, x.unsqueeze(1)), 1e-5);
  check_close(dot(x, x), reference(x.unsqueeze(0), x.unsqueeze(1)), 1e-5);
  check_close(bmm(a.view({3, 100, 70}), x.expand({3, 70}).unsqueeze(2)),
              reference(a, x.unsqueeze(1)), 1e-5);
  const Tensor long_ones = ones({1 << 22});
  CHECK(dot(long_ones, long_ones).item<double>() == 1 << 22);
}

TEST_CASE("addmm scales and adds, and reads no self whose factor is zero", "[matmul]") {
  const Tensor a = random_tensor({5, 300});
  const Tensor b = random_tensor({300, 40}, kDouble, -1, 1, 2);
  const Tensor product = mm(a, b);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Tensor& self : {random_tensor({5, 40}), random_tensor({40}), random_tensor({5, 1}),
                             random_tensor({}), random_tensor({40, 5}).t()}) {
    check_close(addmm(self, a, b, 0.5, -2), values(self * 0.5 + product * -2), 1e-12);
    check_close(addmm(full(self.sizes(), nan, kDouble), a, b, 0, 1), values(product), 1e-12);
  }
  Tensor self = random_tensor({5, 40});
  const Tensor expected = self * 2 + product;
  const int64_t version = self._version();
  self.addmm_(a, b, 2, 1);
  check_close(self, values(expected), 1e-12);
  CHECK(self._version() == version + 1);
  Tensor square = random_tensor({7, 7});
  const Tensor squared = square + mm(square, square);
  square.addmm_(square, square);
  check_close(square, values(squared), 1e-12);
  check_close(addmm(full({2, 2}, 1, kInt), full({2, 3}, 2, kInt), full({3, 2}, 3, kInt), 4, 5),
              Values(4, 94.0));
}

TEST_CASE("linear takes input of any dimension, and its bias costs no memory", "[matmul]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const Tensor weight = random_tensor({6, 10}, dtype, -1, 1, 2);
    const Tensor bias = random_tensor({6}, dtype, -1, 1, 3);
    for (const auto& sizes :
         std::vector<std::vector<int64_t>>{{10}, {7, 10}, {2, 3, 10}, {2, 1, 4, 10}, {0, 10}}) {
      const Tensor x = random_tensor(sizes, dtype);
      const Tensor flat = x.reshape({product(sizes) / 10, 10});
      Values expected = reference(flat, weight.t());
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += values(bias)[i % 6];
      for (const Tensor& input : layouts(x)) {
        check_close(linear(input, weight, bias), expected, tolerance_of(dtype));
      }
      CHECK(linear(x, weight).size(-1) == 6);
      CHECK(linear(x, weight).dim() == x.dim());
    }
  }
  const Tensor x = random_tensor({64, 100}, kFloat);
  const Tensor weight = random_tensor({30, 100}, kFloat);
  const Tensor bias = random_tensor({30}, kFloat);
  const auto used = measure([&] { return linear(x, weight, bias); });
  CHECK(used.peak_bytes == rounded_bytes(64 * 30));
  CHECK(used.requests == 1);
}

TEST_CASE("Products are the same bits for any number of threads", "[matmul]") {
  for (const auto& s : std::vector<std::vector<int64_t>>{
           {200, 700, 300}, {1000, 300, 5}, {5, 3000, 900}, {1500, 400, 1}}) {
    const Tensor a = random_tensor({s[0], s[1]}, kFloat);
    const Tensor b = random_tensor({s[1], s[2]}, kFloat, -1, 1, 2);
    check_same_for_any_threads([&] { return mm(a, b); });
    check_same_for_any_threads([&] { return mm(a.to(kHalf), b.to(kHalf)); });
  }
}

TEST_CASE("Gradients of products agree with differences", "[matmul]") {
  const auto pair = [](auto f, std::vector<int64_t> a, std::vector<int64_t> b) {
    CHECK(
        check_gradients([f](const std::vector<Tensor>& in) { return f(in[0], in[1]); },
                        {wanting(random_tensor(a)), wanting(random_tensor(b, kDouble, -1, 1, 2))}));
  };
  pair([](const Tensor& a, const Tensor& b) { return mm(a, b); }, {3, 4}, {4, 2});
  pair([](const Tensor& a, const Tensor& b) { return bmm(a, b); }, {2, 3, 4}, {2, 4, 2});
  pair([](const Tensor& a, const Tensor& b) { return mv(a, b); }, {3, 4}, {4});
  pair([](const Tensor& a, const Tensor& b) { return dot(a, b); }, {4}, {4});
  const auto matmul_pair = [&](std::vector<int64_t> a, std::vector<int64_t> b) {
    pair([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, a, b);
  };
  matmul_pair({4}, {4});
  matmul_pair({3, 4}, {4});
  matmul_pair({4}, {4, 2});
  matmul_pair({2, 3, 4}, {4});
  matmul_pair({2, 3, 4}, {4, 2});
  matmul_pair({4}, {2, 4, 3});
  matmul_pair({3, 4}, {2, 4, 3});
  matmul_pair({2, 1, 3, 4}, {3, 4, 2});
  matmul_pair({1}, {1});
}

TEST_CASE("Gradients of addmm and linear agree with differences", "[matmul]") {
  const auto three = [](auto f, std::vector<int64_t> a, std::vector<int64_t> b,
                        std::vector<int64_t> c) {
    CHECK(check_gradients([f](const std::vector<Tensor>& in) { return f(in[0], in[1], in[2]); },
                          {wanting(random_tensor(a)), wanting(random_tensor(b, kDouble, -1, 1, 2)),
                           wanting(random_tensor(c, kDouble, -1, 1, 3))}));
  };
  const auto added = [](const Tensor& s, const Tensor& a, const Tensor& b) {
    return addmm(s, a, b, 0.5, 3);
  };
  three(added, {3, 2}, {3, 4}, {4, 2});
  three(added, {2}, {3, 4}, {4, 2});
  three([](const Tensor& s, const Tensor& a,
           const Tensor& b) { return (s * 1.0).addmm_(a, b, 2, 0.5); },
        {3, 2}, {3, 4}, {4, 2});
  const auto lines = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return linear(x, w, b);
  };
  three(lines, {3, 4}, {2, 4}, {2});
  three(lines, {4}, {2, 4}, {2});
  three(lines, {2, 3, 4}, {2, 4}, {2});
}

TEST_CASE("Products keep only what a gradient needs", "[matmul]") {
  const Tensor x = random_tensor({64, 128}, kFloat);
  Tensor weight = wanting(random_tensor({32, 128}, kFloat));
  const auto kept = measure([&] { return linear(x, weight); });
  CHECK(kept.net_bytes == rounded_bytes(64 * 32));
  Tensor input = random_tensor({64, 128}, kFloat).requires_grad_();
  Tensor result = linear(input, random_tensor({32, 128}, kFloat));
  input.detach().add_(1);  // not saved: its weight wants no gradient
  CHECK_NOTHROW(result.sum().backward());
}

TEST_CASE("Errors of products name the op and the shapes", "[matmul]") {
  const Tensor a = zeros({2, 3});
  CHECK_THROWS_WITH(mm(a, zeros({4, 5})), ContainsSubstring("mm") && ContainsSubstring("[2, 3]") &&
                                              ContainsSubstring("[4, 5]"));
  CHECK_THROWS_WITH(mm(a, zeros(3)), ContainsSubstring("2 dimensions"));
  CHECK_THROWS_WITH(mm(a, zeros({3, 2}, kDouble)), ContainsSubstring("dtype"));
  CHECK_THROWS_WITH(bmm(zeros({2, 2, 3}), zeros({3, 3, 2})), ContainsSubstring("bmm"));
  CHECK_THROWS_WITH(matmul(a, zeros({})), ContainsSubstring("at least one dimension"));
  CHECK_THROWS_WITH(matmul(zeros({2, 2, 3}), zeros({3, 3, 3})), ContainsSubstring("matmul"));
  CHECK_THROWS_WITH(addmm(zeros(5), a, zeros({3, 4})), ContainsSubstring("[5]"));
  CHECK_THROWS_WITH(zeros(4).addmm_(a, zeros({3, 4})), ContainsSubstring("addmm_"));
  CHECK_THROWS_WITH(linear(a, zeros({4, 2})), ContainsSubstring("linear"));
  CHECK_THROWS_WITH(linear(a, zeros({4, 3}), zeros(3)), ContainsSubstring("bias"));
  CHECK_THROWS_AS(mm(Tensor(), a), Error);
}
