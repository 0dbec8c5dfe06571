#include "reduce_reference.h"

#include <limits>

#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The plain formula in double; the mask is added, -inf where a key is not met.
Tensor plain(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask = {},
             std::optional<double> scale = {}) {
  const Tensor q = query.to(kDouble);
  Tensor scores = matmul(q, key.to(kDouble).transpose(-2, -1)) *
                  scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  if (mask.defined()) scores = scores + mask;
  return matmul(softmax(scores, -1), value.to(kDouble));
}

/// A mask to add that stands for is_causal.
Tensor causal_mask(int64_t queries, int64_t keys) {
  return masked_fill(zeros({queries, keys}, kDouble),
                     logical_not(tril(ones({queries, keys}, kBool))), -kInf);
}

double tolerance_of(ScalarType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 2e-6 : dtype == kHalf ? 1e-3 : 8e-3;
}

Tensor inputs(IntArrayRef sizes, ScalarType dtype, uint32_t seed) {
  return random_tensor(sizes, dtype, -2, 2, seed);
}

struct Shape {
  int64_t batch;
  int64_t heads;
  int64_t queries;
  int64_t keys;
  int64_t width;
  int64_t value_width;
};

/// Around the sizes of the tiles of the CPU (64 queries, 128 keys) and of CUDA (64 and 32).
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {1, 1, 1, 1, 1, 1},       {2, 3, 5, 7, 4, 4},     {1, 2, 64, 64, 32, 32},
      {1, 1, 65, 129, 16, 8},   {1, 2, 33, 70, 64, 65}, {1, 1, 3, 200, 100, 128},
      {1, 1, 40, 20, 200, 256},
  };
  return all;
}

Values gradient_of(const Tensor& leaf) { return values(leaf.grad()); }

}  // namespace

TEST_CASE("Attention and its gradients are those of softmax and two products", "[attention]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const double tolerance = tolerance_of(dtype);
    for (const Shape& s : shapes()) {
      for (const bool is_causal : {false, true}) {
        CAPTURE(dtype, s.queries, s.keys, s.width, s.value_width, is_causal);
        Tensor q = inputs({s.batch, s.heads, s.queries, s.width}, dtype, 1).requires_grad_();
        Tensor k = inputs({s.batch, s.heads, s.keys, s.width}, dtype, 2).requires_grad_();
        Tensor v = inputs({s.batch, s.heads, s.keys, s.value_width}, dtype, 3).requires_grad_();
        const Tensor grad = inputs({s.batch, s.heads, s.queries, s.value_width}, dtype, 4);
        const Tensor result = scaled_dot_product_attention(q, k, v, {}, 0.0, is_causal);
        CHECK(result.scalar_type() == dtype);
        result.backward(grad);

        Tensor q2 = q.detach().to(kDouble).requires_grad_();
        Tensor k2 = k.detach().to(kDouble).requires_grad_();
        Tensor v2 = v.detach().to(kDouble).requires_grad_();
        const Tensor mask = is_causal ? causal_mask(s.queries, s.keys) : Tensor();
        const Tensor expected = plain(q2, k2, v2, mask);
        expected.backward(grad.to(kDouble));
        check_close(result, values(expected), tolerance);
        // Sums over up to 200 rounded terms.
        check_close(q.grad(), gradient_of(q2), 8 * tolerance);
        check_close(k.grad(), gradient_of(k2), 8 * tolerance);
        check_close(v.grad(), gradient_of(v2), 8 * tolerance);
      }
    }
  }
}

TEST_CASE("Attention reads queries, keys, values and gradients in any layout", "[attention]") {
  const Tensor q = inputs({2, 3, 6, 8}, kFloat, 1);
  const Tensor k = inputs({2, 3, 9, 8}, kFloat, 2);
  const Tensor v = inputs({2, 3, 9, 5}, kFloat, 3);
  const Tensor grad = inputs({2, 3, 6, 5}, kFloat, 4);
  const auto run = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& g) {
    Tensor leaves[] = {a.detach().requires_grad_(), b.detach().requires_grad_(),
                       c.detach().requires_grad_()};
    const Tensor result = scaled_dot_product_attention(leaves[0], leaves[1], leaves[2]);
    result.backward(g);
    std::vector<Values> all = {values(result)};
    for (const Tensor& leaf : leaves) all.push_back(gradient_of(leaf));
    return all;
  };
  const std::vector<Values> expected = run(q, k, v, grad);
  for (size_t i = 0; i < 4; ++i) {
    const auto actual =
        run(layouts(q)[i], layouts(k)[3 - i], layouts(v)[(i + 1) % 4], layouts(grad)[(i + 2) % 4]);
    for (size_t t = 0; t < 4; ++t) CHECK(actual[t] == expected[t]);
  }
  // Heads as a transposed view, as a transformer has them.
  const Tensor packed = inputs({2, 6, 3, 8}, kFloat, 5);
  const Tensor heads = packed.transpose(1, 2);
  check_close(scaled_dot_product_attention(heads, heads, heads), values(plain(heads, heads, heads)),
              2e-6);
}

TEST_CASE("Batch dimensions of attention broadcast, forward and backward", "[attention]") {
  Tensor q = inputs({2, 1, 3, 4}, kDouble, 1).requires_grad_();
  Tensor k = inputs({5, 3, 4}, kDouble, 2).requires_grad_();
  Tensor v = inputs({2, 5, 3, 2}, kDouble, 3).requires_grad_();
  const Tensor result = scaled_dot_product_attention(q, k, v);
  CHECK(result.sizes() == std::vector<int64_t>{2, 5, 3, 2});
  check_close(result, values(plain(q, k, v)));
  const auto attend = [](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2]);
  };
  CHECK(gradcheck(attend, {q, k, v}));
  const Tensor matrix = inputs({3, 4}, kDouble, 4);
  CHECK(scaled_dot_product_attention(matrix, matrix, matrix).sizes() == std::vector<int64_t>{3, 4});
}

TEST_CASE("Masks of attention broadcast: bool allows, numbers are added", "[attention]") {
  const Tensor q = inputs({2, 3, 70, 8}, kFloat, 1);
  const Tensor k = inputs({2, 3, 150, 8}, kFloat, 2);
  const Tensor v = inputs({2, 3, 150, 8}, kFloat, 3);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {70, 150}, {1, 150}, {2, 1, 70, 150}, {3, 70, 1}, {2, 3, 70, 150}, {}}) {
    const Tensor bias = random_tensor(sizes, kFloat, -1, 1, 4);
    const Tensor allowed = gt(bias, -0.5);
    const Tensor as_numbers = masked_fill(zeros(sizes, kDouble), logical_not(allowed), -kInf);
    check_close(scaled_dot_product_attention(q, k, v, bias),
                values(plain(q, k, v, bias.to(kDouble))), 3e-6);
    if (sizes.empty() || sizes.back() == 1) continue;  // whole rows may be forbidden: below
    check_close(scaled_dot_product_attention(q, k, v, allowed), values(plain(q, k, v, as_numbers)),
                3e-6);
  }
}

TEST_CASE("A query that meets no key gives zeros, and gradients of zero", "[attention]") {
  Tensor q = inputs({2, 3, 4}, kDouble, 1).requires_grad_();
  Tensor k = inputs({2, 5, 4}, kDouble, 2).requires_grad_();
  Tensor v = inputs({2, 5, 4}, kDouble, 3).requires_grad_();
  const Tensor allowed = made_of({1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, {3, 5}, kBool);
  const auto attend = [&](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], allowed);
  };
  const Tensor result = attend({q, k, v});
  check_close(result.select(1, 1), Values(8, 0.0), 0);
  result.sum().backward();
  check_close(q.grad().select(1, 1), Values(8, 0.0), 0);
  check_close(v.grad().select(1, 3), Values(8, 0.0), 0);
  CHECK(gradcheck(attend, {q, k, v}));
  CHECK(gradgradcheck(attend, {q, k, v}));
  const Tensor none = inputs({2, 0, 4}, kDouble, 4);
  check_close(scaled_dot_product_attention(q, none, none), Values(24, 0.0), 0);
}

TEST_CASE("Dropout of attention drops the weights that dropout of their matrix would",
          "[attention]") {
  const Tensor q = inputs({2, 70, 8}, kDouble, 1);
  const Tensor k = inputs({2, 131, 8}, kDouble, 2);
  const Tensor v = inputs({2, 131, 8}, kDouble, 3);
  const auto weights = [](const Tensor& a, const Tensor& b) {
    return softmax(matmul(a, b.transpose(-2, -1)) / std::sqrt(8.0), -1);
  };
  Tensor q1 = q.detach().clone().requires_grad_();
  Tensor k1 = k.detach().clone().requires_grad_();
  Tensor v1 = v.detach().clone().requires_grad_();
  manual_seed(7);
  const Tensor result = scaled_dot_product_attention(q1, k1, v1, {}, 0.3);
  const Tensor next = rand({3}, get_default_device());
  result.square().sum().backward();

  Tensor q2 = q.detach().clone().requires_grad_();
  Tensor k2 = k.detach().clone().requires_grad_();
  Tensor v2 = v.detach().clone().requires_grad_();
  manual_seed(7);
  const Tensor expected = matmul(dropout(weights(q2, k2), 0.3, true), v2);
  CHECK(equal(rand({3}, get_default_device()), next));
  expected.square().sum().backward();
  check_close(result, values(expected), 1e-12);
  check_close(q1.grad(), gradient_of(q2), 1e-11);
  check_close(k1.grad(), gradient_of(k2), 1e-11);
  check_close(v1.grad(), gradient_of(v2), 1e-11);
  check_close(scaled_dot_product_attention(q, k, v, {}, 1.0), Values(2 * 70 * 8, 0.0), 0);
}

TEST_CASE("gradcheck and gradgradcheck of attention", "[attention]") {
  const Tensor q = inputs({2, 4, 3}, kDouble, 1).requires_grad_();
  const Tensor k = inputs({2, 5, 3}, kDouble, 2).requires_grad_();
  const Tensor v = inputs({2, 5, 2}, kDouble, 3).requires_grad_();
  for (const bool is_causal : {false, true}) {
    const auto attend = [is_causal](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.0, is_causal, 0.7);
    };
    CHECK(gradcheck(attend, {q, k, v}));
    CHECK(gradgradcheck(attend, {q, k, v}));
  }
  const auto drop = [](const std::vector<Tensor>& in) {
    const GeneratorGuard same(Generator(get_default_device(), 3));
    return scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.4);
  };
  CHECK(gradcheck(drop, {q, k, v}));
  CHECK(gradgradcheck(drop, {q, k, v}));
  const Tensor bias = inputs({4, 5}, kDouble, 4).requires_grad_();
  const auto add_bias = [](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], in[3]);
  };
  CHECK(gradcheck(add_bias, {q, k, v, bias}));
}

TEST_CASE("Rows wider than 256 elements are attended to by plain ops", "[attention]") {
  const Tensor q = inputs({2, 3, 300}, kDouble, 1);
  const Tensor k = inputs({2, 4, 300}, kDouble, 2);
  const Tensor v = inputs({2, 4, 7}, kDouble, 3);
  check_close(scaled_dot_product_attention(q, k, v), values(plain(q, k, v)));
}

TEST_CASE("Attention takes memory that is linear in the length of the sequence", "[attention]") {
  // Forward and backward of one head of width 16 in float32. The output, its gradient (one element,
  // expanded), three gradients, the log-sum-exp of each query and, in backward, one product each.
  const auto peak = [](int64_t length) {
    Tensor qkv[3];
    for (Tensor& x : qkv) x = zeros({1, length, 16}, kFloat).requires_grad_();
    return measure([&] {
             scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {}, 0.1, true).sum().backward();
           })
        .peak_bytes;
  };
  const auto rows = [](int64_t length) { return 4 * length; };
  constexpr int64_t kScalars = 2 * 512;  // the sum and its gradient
  for (const int64_t length : {128, 512}) {
    const int64_t matrices = 4 * rows(length) * 16;
    CHECK(peak(length) == matrices + 2 * rows(length) + kScalars);
  }
}

TEST_CASE("Attention of tensors that do not fit says what is wrong", "[attention]") {
  const Tensor q = zeros({2, 3, 4});
  const auto attend = [](const Tensor& a, const Tensor& b, const Tensor& c,
                         const std::optional<Tensor>& mask = {}, double p = 0,
                         bool is_causal = false) {
    return scaled_dot_product_attention(a, b, c, mask, p, is_causal);
  };
  CHECK_THROWS_WITH(attend(zeros({4}), q, q), ContainsSubstring("two dimensions"));
  CHECK_THROWS_WITH(attend(q, zeros({2, 3, 5}), q), ContainsSubstring("last dimensions"));
  CHECK_THROWS_WITH(attend(q, q, zeros({2, 4, 4})), ContainsSubstring("each key needs a value"));
  CHECK_THROWS_WITH(attend(q, q.to(kDouble), q), ContainsSubstring("convert one"));
  CHECK_THROWS_WITH(attend(q.to(kLong), q.to(kLong), q.to(kLong)),
                    ContainsSubstring("floating-point"));
  CHECK_THROWS_WITH(attend(q, zeros({3, 3, 4}), q), ContainsSubstring("2"));
  CHECK_THROWS_WITH(attend(q, q, q, zeros({2, 3})), ContainsSubstring("does not broadcast"));
  CHECK_THROWS_WITH(attend(q, q, q, zeros({3, 3}, kLong)), ContainsSubstring("Bool"));
  CHECK_THROWS_WITH(attend(q, q, q, zeros({3, 3}), 0, true), ContainsSubstring("is_causal"));
  CHECK_THROWS_WITH(attend(q, q, q, {}, 1.5), ContainsSubstring("between 0 and 1"));
  CHECK(attend(zeros({0, 3, 4}), zeros({0, 3, 4}), zeros({0, 3, 4})).numel() == 0);
}
