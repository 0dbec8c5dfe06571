// What ops give for tensors without elements and without dimensions.

#include <cmath>

#include "support.h"

namespace {

/// One float from a tensor of one element.
float value(const Tensor& tensor) { return tensor.to(ebb::kFloat).item<float>(); }

bool has_sizes(const Tensor& tensor, ebb::IntArrayRef sizes) { return tensor.sizes() == sizes; }

}  // namespace

TEST_CASE("Elementwise ops of empty tensors give empty tensors, broadcast") {
  int checked = 0;
  for (const auto& described : op_cases::described()) {
    const auto& family = described.family;
    if (family != "unary" && family != "activation" && family != "binary" && family != "compare") {
      continue;
    }
    if (described.name == "prelu") continue;  // whose weight belongs to channels
    for (const auto& op_case : op_cases::all()) {
      if (op_case.op() != described.name || op_case.op() == "equal" || op_case.op() == "allclose") {
        continue;
      }
      INFO(op_case.name);
      auto arguments = make_arguments(op_case);
      for (auto& argument : arguments) {
        if (argument.dim() > 0) argument = ebb::ones({0, 3}, argument.scalar_type());
      }
      CHECK(has_sizes(call(op_case, arguments)[0], {0, 3}));
      if (arguments.size() > 1 && arguments[1].dim() > 0) {
        arguments[1] = ebb::ones({2, 1, 1}, arguments[1].scalar_type());
        CHECK(has_sizes(call(op_case, arguments)[0], {2, 0, 3}));
      }
      ++checked;
    }
  }
  CHECK(checked > 90);
}

TEST_CASE("Elementwise ops of tensors without dimensions give what one element gives") {
  for (const auto& op_case : op_cases::all()) {
    for (const auto& described : op_cases::described()) {
      if (described.name != op_case.op()) continue;
      const auto& family = described.family;
      if (family != "unary" && family != "activation" && family != "binary" &&
          family != "compare") {
        continue;
      }
      INFO(op_case.name);
      auto arguments = make_arguments(op_case);
      Tensors vectors;
      for (auto& argument : arguments) {
        argument = argument.reshape(-1)[0].clone();
        vectors.push_back(argument.dim() == 0 ? argument.clone().view({1}) : argument);
        if (op_case.arguments[&argument - arguments.data()].sizes.empty()) {
          vectors.back() = argument;
        }
      }
      const auto result = call(op_case, arguments)[0];
      CHECK(has_sizes(result, {}));
      CHECK(same(result.reshape(-1), call(op_case, vectors)[0].reshape(-1)));
    }
  }
}

TEST_CASE("Sums, products and means over nothing are 0, 1 and NaN") {
  const auto x = ebb::zeros({0, 3}).requires_grad_();
  CHECK(value(x.sum()) == 0);
  CHECK(value(x.prod()) == 1);
  CHECK(std::isnan(value(x.mean())));
  CHECK(std::isnan(value(x.var())));
  CHECK(std::isnan(value(x.std())));
  CHECK(value(x.norm()) == 0);
  CHECK(value(x.all()) == 1);
  CHECK(value(x.any()) == 0);
  CHECK(same(x.sum(0), ebb::zeros({3})));
  CHECK(has_sizes(x.sum(1), {0}));
  CHECK(same(x.prod(0), ebb::ones({3})));
  CHECK(same(x.mean(0).isnan(), ebb::ones({3}, ebb::kBool)));
  CHECK(same(x.logsumexp(0), ebb::full({3}, -INFINITY)));
  CHECK(value(ebb::mse_loss(x, x, ebb::Reduction::Sum)) == 0);
  CHECK(std::isnan(value(ebb::mse_loss(x, x))));
  CHECK(std::isnan(value(ebb::cross_entropy_loss(x, ebb::zeros({0}, ebb::kLong)))));
  (x.sum() + x.prod() + x.mean()).backward();
  CHECK(has_sizes(x.grad(), {0, 3}));
}

TEST_CASE("The largest and the least of nothing are Errors, unless nothing is asked") {
  const auto x = ebb::zeros({0, 3});
  for (const auto& op_case : op_cases::all()) {
    const auto op = op_case.op();
    if (op != "max" && op != "min" && op != "amax" && op != "amin" && op != "argmax" &&
        op != "argmin") {
      continue;
    }
    if (op_case.arguments.size() > 1) continue;
    INFO(op_case.name);
    // The cases reduce dimension 1, or all.
    const auto error = error_of([&] { (void)call(op_case, {ebb::zeros({3, 0})}); });
    REQUIRE(error);
    CHECK(error->rfind(op, 0) == 0);
  }
  CHECK(has_sizes(x.amax(1), {0}));
  CHECK(has_sizes(std::get<1>(x.max(1)), {0}));
  CHECK(has_sizes(x.argmin(1), {0}));
}

TEST_CASE("Products over no elements are zero, and products of no rows are empty") {
  const auto a = ebb::ones({2, 0}).requires_grad_();
  const auto b = ebb::ones({0, 3}).requires_grad_();
  CHECK(same(a.mm(b), ebb::zeros({2, 3})));
  CHECK(has_sizes(b.t().mm(a.t()), {3, 2}));
  CHECK(has_sizes(ebb::ones({0, 2}).mm(ebb::ones({2, 3})), {0, 3}));
  CHECK(same(ebb::addmm(ebb::ones({3}), a, b, 2), ebb::full({2, 3}, 2.0)));
  CHECK(same(ebb::linear(a, ebb::ones({3, 0}), ebb::ones({3})), ebb::ones({2, 3})));
  CHECK(value(ebb::dot(ebb::ones({0}), ebb::ones({0}))) == 0);
  CHECK(has_sizes(ebb::bmm(ebb::ones({0, 2, 3}), ebb::ones({0, 3, 4})), {0, 2, 4}));
  a.mm(b).sum().backward();
  CHECK(has_sizes(a.grad(), {2, 0}));
  CHECK(has_sizes(b.grad(), {0, 3}));
}

TEST_CASE("A batch of nothing passes through every layer, and gives zero gradients") {
  const auto x = ebb::ones({0, 2, 6, 6}).requires_grad_();
  const auto w = ebb::ones({4, 2, 3, 3}).requires_grad_();
  const auto y = ebb::conv2d(x, w, ebb::ones({4}), 1, 1);
  CHECK(has_sizes(y, {0, 4, 6, 6}));
  CHECK(has_sizes(ebb::max_pool2d(y, 2), {0, 4, 3, 3}));
  CHECK(has_sizes(ebb::avg_pool2d(y, 2), {0, 4, 3, 3}));
  CHECK(has_sizes(ebb::layer_norm(y, {6}), {0, 4, 6, 6}));
  CHECK(has_sizes(ebb::softmax(y, 1), {0, 4, 6, 6}));
  CHECK(has_sizes(ebb::dropout(y, 0.5, true), {0, 4, 6, 6}));
  CHECK(has_sizes(ebb::embedding(ebb::ones({5, 2}), ebb::zeros({0, 3}, ebb::kLong)), {0, 3, 2}));
  (ebb::max_pool2d(y, 2).sum() + ebb::avg_pool2d(y, 2).sum()).backward();
  CHECK(has_sizes(x.grad(), {0, 2, 6, 6}));
  CHECK(same(w.grad(), ebb::zeros({4, 2, 3, 3})));
}

TEST_CASE("Shape ops of empty tensors keep their sizes") {
  const auto x = ebb::zeros({0, 3});
  CHECK(has_sizes(ebb::cat({x, ebb::ones({2, 3})}), {2, 3}));
  CHECK(has_sizes(ebb::stack({x, x}), {2, 0, 3}));
  CHECK(has_sizes(x.t(), {3, 0}));
  CHECK(has_sizes(x.view({3, 0, 7}), {3, 0, 7}));
  CHECK(has_sizes(x.flatten(), {0}));
  CHECK(has_sizes(x.repeat({2, 2}), {0, 6}));
  CHECK(has_sizes(x.expand({4, 0, 3}), {4, 0, 3}));
  CHECK(x.unbind(0).empty());
  CHECK(has_sizes(x.nonzero(), {0, 2}));
  CHECK(has_sizes(std::get<0>(x.sort(0)), {0, 3}));
  CHECK(has_sizes(std::get<0>(x.topk(0, 0)), {0, 3}));
  CHECK(has_sizes(x.cumsum(0), {0, 3}));
  CHECK(has_sizes(x.index_select(0, ebb::zeros({0}, ebb::kLong)), {0, 3}));
  CHECK(has_sizes(x.masked_select(x == 0), {0}));
  CHECK(error_of([&] { (void)x.view({-1, 0}); }));  // any size would do
}
