#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <ebb/autograd/factories.h>

#include "catch.h"
#include "golden/golden.h"

using namespace ebb;

namespace {

using Tensors = std::vector<Tensor>;
using Op = std::function<Tensors(const Tensors&)>;

Tensors list(const Tensor& tensor) { return {tensor}; }
Tensors list(const std::tuple<Tensor, Tensor>& pair) {
  return {std::get<0>(pair), std::get<1>(pair)};
}

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

/// Ops of one or two tensors and nothing else.
template <typename F>
Op unary(F f) {
  return [f](const Tensors& x) { return list(f(x[0])); };
}
template <typename F>
Op binary(F f) {
  return [f](const Tensors& x) { return list(f(x[0], x[1])); };
}
template <typename F>
Op ternary(F f) {
  return [f](const Tensors& x) { return list(f(x[0], x[1], x[2])); };
}

using Table = GoldenTable;

Table elementwise_ops() {
  Table table;
  const std::map<std::string, Unary> unaries = {{"neg", neg},
                                                {"abs", abs},
                                                {"exp", exp},
                                                {"expm1", expm1},
                                                {"square", square},
                                                {"sin", sin},
                                                {"cos", cos},
                                                {"erf", erf},
                                                {"floor", floor},
                                                {"ceil", ceil},
                                                {"round", round},
                                                {"trunc", trunc},
                                                {"sign", sign},
                                                {"relu", relu},
                                                {"tanh", tanh},
                                                {"sigmoid", sigmoid},
                                                {"log", log},
                                                {"log2", log2},
                                                {"log10", log10},
                                                {"log1p", log1p},
                                                {"sqrt", sqrt},
                                                {"rsqrt", rsqrt},
                                                {"tan", tan},
                                                {"silu", silu},
                                                {"reciprocal", reciprocal}};
  for (const auto& [name, op] : unaries) table[name] = unary(op);
  const std::map<std::string, Binary> binaries = {{"mul", mul},
                                                  {"div", div},
                                                  {"maximum", maximum},
                                                  {"minimum", minimum},
                                                  {"remainder", remainder},
                                                  {"pow", pow},
                                                  {"eq", eq},
                                                  {"ne", ne},
                                                  {"lt", lt},
                                                  {"le", le},
                                                  {"gt", gt},
                                                  {"ge", ge},
                                                  {"floor_divide", floor_divide},
                                                  {"integer remainder", remainder},
                                                  {"integer div", div}};
  for (const auto& [name, op] : binaries) table[name] = binary(op);
  table["gelu"] = unary([](const Tensor& a) { return gelu(a); });
  table["gelu tanh"] = unary([](const Tensor& a) { return gelu(a, "tanh"); });
  table["add"] = binary([](const Tensor& a, const Tensor& b) { return add(a, b); });
  table["sub"] = binary([](const Tensor& a, const Tensor& b) { return sub(a, b); });
  table["add alpha"] = binary([](const Tensor& a, const Tensor& b) { return add(a, b, 2.5); });
  table["div trunc"] = binary([](const Tensor& a, const Tensor& b) { return div(a, b, "trunc"); });
  table["integer floor_divide"] =
      binary([](const Tensor& a, const Tensor& b) { return div(a, b, "floor"); });
  table["pow scalar"] = unary([](const Tensor& a) { return pow(a, 2.5); });
  table["pow base"] = unary([](const Tensor& a) { return pow(Scalar(2.5), a); });
  table["clamp"] = unary([](const Tensor& a) { return clamp(a, -0.5, 0.7); });
  table["clamp tensor"] =
      ternary([](const Tensor& a, const Tensor& b, const Tensor& c) { return clamp(a, b, c); });
  table["where"] =
      ternary([](const Tensor& a, const Tensor& b, const Tensor& c) { return where(a, b, c); });
  table["masked_fill"] =
      binary([](const Tensor& a, const Tensor& m) { return a.masked_fill(m, 2.5); });
  table["addcmul"] = ternary(
      [](const Tensor& a, const Tensor& b, const Tensor& c) { return addcmul(a, b, c, 0.5); });
  table["addcdiv"] = ternary(
      [](const Tensor& a, const Tensor& b, const Tensor& c) { return addcdiv(a, b, c, 0.5); });
  table["lerp"] = binary([](const Tensor& a, const Tensor& b) { return lerp(a, b, 0.3); });
  table["lerp tensor"] =
      ternary([](const Tensor& a, const Tensor& b, const Tensor& c) { return lerp(a, b, c); });
  return table;
}

Table reduce_ops() {
  return {
      {"sum", unary([](const Tensor& a) { return a.sum(); })},
      {"sum dims", unary([](const Tensor& a) {
         return a.sum({0, 2});
       })},
      {"sum keepdim", unary([](const Tensor& a) { return a.sum(1, true); })},
      {"mean", unary([](const Tensor& a) { return a.mean(); })},
      {"mean dim", unary([](const Tensor& a) { return a.mean(1); })},
      {"prod", unary([](const Tensor& a) { return a.prod(); })},
      {"prod dim", unary([](const Tensor& a) { return a.prod(int64_t{1}); })},
      {"max", unary([](const Tensor& a) { return a.max(); })},
      {"max dim", unary([](const Tensor& a) { return a.max(1); })},
      {"min dim", unary([](const Tensor& a) { return a.min(0, true); })},
      {"amax", unary([](const Tensor& a) { return a.amax(0); })},
      {"amin", unary([](const Tensor& a) {
         return a.amin({0, 1});
       })},
      {"argmax", unary([](const Tensor& a) { return a.argmax(1); })},
      {"argmin", unary([](const Tensor& a) { return a.argmin(); })},
      {"all", unary([](const Tensor& a) { return a.all(1); })},
      {"any", unary([](const Tensor& a) { return a.any(0); })},
      {"var", unary([](const Tensor& a) { return a.var(); })},
      {"var dim", unary([](const Tensor& a) { return a.var({1}, false, true); })},
      {"std dim", unary([](const Tensor& a) { return a.std({0}, true); })},
      {"norm", unary([](const Tensor& a) { return a.norm(); })},
      {"norm 1", unary([](const Tensor& a) { return a.norm(Scalar(1), 1); })},
      {"norm 3", unary([](const Tensor& a) { return a.norm(Scalar(3), 0, true); })},
      {"logsumexp", unary([](const Tensor& a) { return a.logsumexp(1); })},
      {"cumsum", unary([](const Tensor& a) { return a.cumsum(0); })},
      {"cumprod", unary([](const Tensor& a) { return a.cumprod(1); })},
      {"topk", unary([](const Tensor& a) { return a.topk(2, 1); })},
      {"topk smallest", unary([](const Tensor& a) { return a.topk(2, 0, false); })},
      {"sort", unary([](const Tensor& a) { return a.sort(1, true); })},
      {"argsort", unary([](const Tensor& a) { return a.argsort(0); })},
      {"softmax", unary([](const Tensor& a) { return a.softmax(1); })},
      {"log_softmax", unary([](const Tensor& a) { return a.log_softmax(-1); })},
  };
}

Table index_ops() {
  using T = const Tensor&;
  return {
      {"index_select", binary([](T a, T i) { return a.index_select(0, i); })},
      {"index_add", ternary([](T a, T i, T b) { return a.index_add(0, i, b, 0.5); })},
      {"gather", binary([](T a, T i) { return a.gather(1, i); })},
      {"scatter", ternary([](T a, T i, T b) { return a.scatter(1, i, b); })},
      {"scatter_add", ternary([](T a, T i, T b) { return a.scatter_add(1, i, b); })},
      {"masked_select", binary([](T a, T m) { return a.masked_select(m); })},
      {"nonzero", unary([](T a) { return a.nonzero(); })},
      {"one_hot", unary([](T a) { return one_hot(a, 5); })},
      {"embedding", binary([](T w, T i) { return embedding(w, i); })},
  };
}

Table shape_ops() {
  using T = const Tensor&;
  return {
      {"cat", [](const Tensors& x) { return list(cat(x, 0)); }},
      {"stack", [](const Tensors& x) { return list(stack(x, 1)); }},
      {"repeat", unary([](T a) {
         return a.repeat({2, 1, 2});
       })},
      {"roll", unary([](T a) {
         return a.roll({1, -2}, {0, 1});
       })},
      {"flip", unary([](T a) {
         return a.flip({0, 1});
       })},
      {"tril", unary([](T a) { return a.tril(-1); })},
      {"triu", unary([](T a) { return a.triu(1); })},
      {"diag", unary([](T a) { return a.diag(-1); })},
      {"diagonal", unary([](T a) { return a.diagonal(1, 0, 1); })},
      {"permute", unary([](T a) {
         return a.permute({2, 0, 1});
       })},
      {"slice", unary([](T a) { return a.slice(0, 1, 5, 2); })},
      {"expand", unary([](T a) {
         return a.expand({2, 3, 4});
       })},
      {"as_strided overlapping", unary([](T a) {
         return a.as_strided({3, 2}, {1, 2}, 1);
       })},
  };
}

Table layer_ops() {
  using T = const Tensor&;
  return {
      {"mm", binary([](T a, T b) { return a.mm(b); })},
      {"bmm", binary([](T a, T b) { return a.bmm(b); })},
      {"mv", binary([](T a, T b) { return a.mv(b); })},
      {"dot", binary([](T a, T b) { return a.dot(b); })},
      {"matmul broadcast", binary([](T a, T b) { return a.matmul(b); })},
      {"matmul vector", binary([](T a, T b) { return a.matmul(b); })},
      {"addmm", ternary([](T a, T b, T c) { return addmm(a, b, c, 0.5, 2); })},
      {"linear", ternary([](T x, T w, T b) { return linear(x, w, b); })},
      {"batch_norm train", ternary([](T x, T w, T b) {
         return batch_norm(x, w, b, zeros({3}, kDouble), ones({3}, kDouble), true, 0.1, 1e-5);
       })},
      {"batch_norm eval", ternary([](T x, T w, T b) {
         return batch_norm(x, w, b, full({3}, 0.25, kDouble), full({3}, 1.5, kDouble), false, 0.1,
                           1e-5);
       })},
      {"layer_norm", ternary([](T x, T w, T b) {
         return layer_norm(x, {3, 5}, w, b, 1e-5);
       })},
      {"conv2d", ternary([](T x, T w, T b) { return conv2d(x, w, b); })},
      {"conv2d strided", ternary([](T x, T w, T b) {
         return conv2d(x, w, b, {2, 1}, {1, 2});
       })},
      {"conv2d dilated", binary([](T x, T w) {
         return conv2d(x, w, {}, 1, 1, {2, 3});
       })},
      {"conv2d groups", ternary([](T x, T w, T b) { return conv2d(x, w, b, 1, 1, 1, 2); })},
      {"max_pool2d", unary([](T x) { return max_pool2d(x, 2); })},
      {"max_pool2d overlapping", unary([](T x) {
         return max_pool2d(x, {3, 2}, {2, 1}, {1, 1}, 1, true);
       })},
      {"avg_pool2d", unary([](T x) { return avg_pool2d(x, 2); })},
      {"avg_pool2d padded", unary([](T x) {
         return avg_pool2d(x, {3, 2}, {2, 1}, {1, 1}, true, false);
       })},
  };
}

Table loss_ops() {
  using T = const Tensor&;
  return {
      {"nll_loss", binary([](T x, T t) { return nll_loss(x, t); })},
      {"nll_loss weighted",
       ternary([](T x, T t, T w) { return nll_loss(x, t, w.detach(), Reduction::Mean, 1); })},
      {"cross_entropy", binary([](T x, T t) { return cross_entropy_loss(x, t); })},
      {"cross_entropy smoothed",
       binary([](T x, T t) { return cross_entropy_loss(x, t, {}, Reduction::Mean, -100, 0.1); })},
      {"cross_entropy images",
       binary([](T x, T t) { return cross_entropy_loss(x, t, {}, Reduction::Sum); })},
      {"mse_loss", binary([](T a, T b) { return mse_loss(a, b); })},
      {"mse_loss none", binary([](T a, T b) { return mse_loss(a, b, Reduction::None); })},
  };
}

const std::string kFile = EBB_SOURCE_DIR "/tests/golden/ops.txt";

}  // namespace

TEST_CASE("elementwise ops and their gradients agree with PyTorch") {
  check_golden(kFile, elementwise_ops());
}
TEST_CASE("reductions, scans and sorts and their gradients agree with PyTorch") {
  check_golden(kFile, reduce_ops());
}
TEST_CASE("indexing and its gradients agree with PyTorch") { check_golden(kFile, index_ops()); }
TEST_CASE("views and joins and their gradients agree with PyTorch") { check_golden(kFile, shape_ops()); }
TEST_CASE("products, convolution, pooling and norms and their gradients agree with PyTorch") {
  check_golden(kFile, layer_ops());
}
TEST_CASE("losses and their gradients agree with PyTorch") { check_golden(kFile, loss_ops()); }

TEST_CASE("each golden case is tried") {
  std::set<std::string> names;
  for (const Table& table :
       {elementwise_ops(), reduce_ops(), index_ops(), shape_ops(), layer_ops(), loss_ops()}) {
    for (const auto& [name, op] : table) names.insert(name);
  }
  for (const GoldenCase& golden : load_golden(kFile)) {
    INFO(golden.name);
    CHECK(names.count(golden.name) == 1);
  }
}
