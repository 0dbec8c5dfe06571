// Parameters that are no tensors: dimensions, sizes, counts, probabilities, names.

#include <functional>
#include <limits>

#include "support.h"

namespace {

struct Call {
  std::string op;
  std::function<void()> run;
};

/// Each call must throw an ebb::Error that names its op and says `text`.
void check_refused(const std::vector<Call>& calls, const std::string& text) {
  for (const auto& [op, run] : calls) {
    INFO(op);
    const auto error = error_of(run);
    REQUIRE(error);
    INFO(*error);
    CHECK(error->rfind(op, 0) == 0);
    CHECK(contains(*error, text));
  }
}

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 4;

}  // namespace

TEST_CASE("A dimension out of range is an IndexError that names the op, and the range") {
  const auto x = ebb::ones({2, 3});
  const auto index = ebb::zeros({2, 3}, ebb::kLong);
  const auto row = ebb::zeros({2}, ebb::kLong);
  const std::vector<std::pair<std::string, std::function<void(int64_t)>>> calls = {
      {"sum", [&](int64_t d) { (void)x.sum(d); }},
      {"mean", [&](int64_t d) { (void)x.mean(d); }},
      {"prod", [&](int64_t d) { (void)x.prod(d); }},
      {"max", [&](int64_t d) { (void)x.max(d); }},
      {"min", [&](int64_t d) { (void)x.min(d); }},
      {"amax", [&](int64_t d) { (void)x.amax(d); }},
      {"amin", [&](int64_t d) { (void)x.amin(d); }},
      {"argmax", [&](int64_t d) { (void)x.argmax(d); }},
      {"argmin", [&](int64_t d) { (void)x.argmin(d); }},
      {"all", [&](int64_t d) { (void)x.all(d); }},
      {"any", [&](int64_t d) { (void)x.any(d); }},
      {"var", [&](int64_t d) { (void)x.var(ebb::IntArrayRef(d)); }},
      {"std", [&](int64_t d) { (void)x.std(ebb::IntArrayRef(d)); }},
      {"norm", [&](int64_t d) { (void)x.norm(2, d); }},
      {"logsumexp", [&](int64_t d) { (void)x.logsumexp(d); }},
      {"cumsum", [&](int64_t d) { (void)x.cumsum(d); }},
      {"cumprod", [&](int64_t d) { (void)x.cumprod(d); }},
      {"topk", [&](int64_t d) { (void)x.topk(1, d); }},
      {"sort", [&](int64_t d) { (void)x.sort(d); }},
      {"argsort", [&](int64_t d) { (void)x.argsort(d); }},
      {"softmax", [&](int64_t d) { (void)x.softmax(d); }},
      {"log_softmax", [&](int64_t d) { (void)x.log_softmax(d); }},
      {"permute",
       [&](int64_t d) {
         (void)x.permute({0, d});
       }},
      {"transpose", [&](int64_t d) { (void)x.transpose(0, d); }},
      {"narrow", [&](int64_t d) { (void)x.narrow(d, 0, 1); }},
      {"slice", [&](int64_t d) { (void)x.slice(d, 0, 1); }},
      {"select", [&](int64_t d) { (void)x.select(d, 0); }},
      {"squeeze", [&](int64_t d) { (void)x.squeeze(d); }},
      {"flatten", [&](int64_t d) { (void)x.flatten(d); }},
      {"diagonal", [&](int64_t d) { (void)x.diagonal(0, 0, d); }},
      {"unbind", [&](int64_t d) { (void)x.unbind(d); }},
      {"split", [&](int64_t d) { (void)x.split(1, d); }},
      {"chunk", [&](int64_t d) { (void)x.chunk(2, d); }},
      {"cat",
       [&](int64_t d) {
         (void)ebb::cat({x, x}, d);
       }},
      {"roll", [&](int64_t d) { (void)x.roll(1, d); }},
      {"flip", [&](int64_t d) { (void)x.flip(d); }},
      {"index_select", [&](int64_t d) { (void)x.index_select(d, row); }},
      {"index_add", [&](int64_t d) { (void)x.index_add(d, row, x); }},
      {"gather", [&](int64_t d) { (void)x.gather(d, index); }},
      {"scatter", [&](int64_t d) { (void)x.scatter(d, index, 1); }},
      {"scatter_add", [&](int64_t d) { (void)x.scatter_add(d, index, x); }},
  };
  for (const auto& [op, run] : calls) {
    for (const int64_t dim : {int64_t{2}, int64_t{-3}, kHuge, -kHuge}) {
      INFO(op << ", dimension " << dim);
      const auto error = error_of([&, &f = run] { f(dim); });
      REQUIRE(error);
      INFO(*error);
      CHECK(error->rfind(op, 0) == 0);
      CHECK(contains(*error, std::to_string(dim)));
      CHECK(contains(*error, "[-2, 1]"));
      CHECK_THROWS_AS(run(dim), ebb::IndexError);
    }
  }
  // One more dimension is in range where the result has one more.
  CHECK(x.unsqueeze(2).sizes() == ebb::IntArrayRef({2, 3, 1}));
  CHECK(ebb::stack({x, x}, -3).sizes() == ebb::IntArrayRef({2, 2, 3}));
  check_refused({{"unsqueeze", [&] { (void)x.unsqueeze(3); }},
                 {"unsqueeze", [&] { (void)x.unsqueeze(-4); }},
                 {"stack",
                  [&] {
                    (void)ebb::stack({x, x}, 3);
                  }}},
                "out of range");
}

TEST_CASE("A dimension named twice is an Error") {
  const auto x = ebb::ones({2, 3});
  check_refused({{"sum",
                  [&] {
                    (void)x.sum({1, -1});
                  }},
                 {"amax",
                  [&] {
                    (void)x.amax({0, 0});
                  }},
                 {"var",
                  [&] {
                    (void)x.var({0, 0});
                  }},
                 {"logsumexp",
                  [&] {
                    (void)x.logsumexp({0, -2});
                  }},
                 {"flip",
                  [&] {
                    (void)x.flip({0, 0});
                  }},
                 {"permute",
                  [&] {
                    (void)x.permute({1, 1});
                  }},
                 {"diagonal", [&] { (void)x.diagonal(0, 1, 1); }}},
                "dim");
}

TEST_CASE("Sizes whose product overflows are Errors, not allocations") {
  const auto x = ebb::ones({1});
  const auto requests = ebb::memory::memory_stats(ebb::get_default_device());
  for (const auto& run : std::vector<std::function<void()>>{
           [] {
             (void)ebb::empty({kHuge, kHuge});
           },
           [] {
             (void)ebb::zeros({kHuge, 16});
           },
           [] {
             (void)ebb::ones({int64_t{1} << 31, int64_t{1} << 31, 4});
           },
           [] {
             (void)ebb::full({kHuge, kHuge, 0, -1}, 1);
           },
           [] { (void)ebb::rand({int64_t{1} << 62}); },
           [] {
             (void)ebb::empty_strided({2, 2}, {kHuge * 2, 1});
           },
           [&] {
             (void)x.repeat({kHuge, kHuge});
           },
           [&] {
             (void)x.expand({kHuge, kHuge}).contiguous();
           },
           [&] {
             (void)x.as_strided({2, 2}, {kHuge * 2, kHuge * 2});
           },
           [&] { (void)x.as_strided({1}, {1}, kHuge * 4); },
           [&] {
             (void)x.view({kHuge, kHuge, -1});
           },
       }) {
    const auto error = error_of(run);
    REQUIRE(error);
    INFO(*error);
    CHECK(contains(*error, ": "));
  }
  CHECK(ebb::memory::memory_stats(ebb::get_default_device()).at("allocation.all.current") ==
        requests.at("allocation.all.current"));
}

TEST_CASE("Negative sizes are Errors that name them") {
  const auto x = ebb::ones({2, 3});
  check_refused({{"empty",
                  [] {
                    (void)ebb::empty({2, -1});
                  }},
                 {"zeros",
                  [] {
                    (void)ebb::zeros({2, -1});
                  }},
                 {"rand",
                  [] {
                    (void)ebb::rand({2, -1});
                  }},
                 {"repeat",
                  [&] {
                    (void)x.repeat({2, -1});
                  }},
                 {"expand",
                  [&] {
                    (void)x.expand({-2, 3});
                  }},
                 {"view",
                  [&] {
                    (void)x.view({-2, -3});
                  }},
                 {"as_strided", [&] { (void)x.as_strided({-1}, {1}); }},
                 {"narrow", [&] { (void)x.narrow(0, 0, -1); }},
                 {"split", [&] { (void)x.split(-1); }},
                 {"chunk", [&] { (void)x.chunk(0); }},
                 {"topk", [&] { (void)x.topk(-1); }},
                 {"eye", [&] { (void)ebb::eye(-1); }}},
                "");
}

TEST_CASE("Parameters of shape ops that do not fit are Errors") {
  const auto x = ebb::ones({2, 3});
  check_refused({{"view",
                  [&] {
                    (void)x.view({4, -1});
                  }},
                 {"view",
                  [&] {
                    (void)x.view({-1, -1});
                  }},
                 {"reshape", [&] { (void)x.reshape({5}); }},
                 {"permute", [&] { (void)x.permute({0}); }},
                 {"expand", [&] { (void)x.expand({3}); }},
                 {"expand",
                  [&] {
                    (void)x.expand({4, 3});
                  }},
                 {"repeat", [&] { (void)x.repeat({2}); }},
                 {"narrow", [&] { (void)x.narrow(1, 2, 2); }},
                 {"narrow", [&] { (void)x.narrow(1, 4, 0); }},
                 {"select", [&] { (void)x.select(1, 3); }},
                 {"slice", [&] { (void)x.slice(1, 0, 3, 0); }},
                 {"slice", [&] { (void)x.slice(1, 0, 3, -1); }},
                 {"split",
                  [&] {
                    (void)x.split({1, 1}, 1);
                  }},
                 {"roll",
                  [&] {
                    (void)x.roll({1, 2}, {0});
                  }},
                 {"topk", [&] { (void)x.topk(4, 1); }},
                 {"cat", [&] { (void)ebb::cat({}); }},
                 {"stack", [&] { (void)ebb::stack({}); }},
                 {"one_hot", [&] { (void)ebb::one_hot(x.to(ebb::kLong), -2); }}},
                "");
  CHECK(x.slice(1, -100, 100).sizes() == ebb::IntArrayRef({2, 3}));
  CHECK(x.slice(1, 2, 1).sizes() == ebb::IntArrayRef({2, 0}));
}

TEST_CASE("Parameters of layers that make no sense are Errors") {
  const auto x = ebb::ones({1, 2, 5, 5});
  const auto w = ebb::ones({4, 2, 3, 3});
  const auto rows = ebb::ones({2, 3});
  const auto target = ebb::zeros({2}, ebb::kLong);
  const auto none = std::optional<Tensor>();
  check_refused(
      {{"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 0); }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 1, -1); }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 1, 0, 0); }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 1, 0, 1, 0); }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 1, 0, 1, 3); }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, {}, 1, 0, 4); }},
       {"conv2d",
        [&] {
          (void)ebb::conv2d(x, w, {}, {1, 1, 1});
        }},
       {"conv2d",
        [&] {
          (void)ebb::conv2d(x, ebb::ones({4, 3, 3, 3}));
        }},
       {"conv2d", [&] { (void)ebb::conv2d(x, w, ebb::ones({3})); }},
       {"max_pool2d", [&] { (void)ebb::max_pool2d(x, 0); }},
       {"max_pool2d", [&] { (void)ebb::max_pool2d(x, 6); }},
       {"max_pool2d", [&] { (void)ebb::max_pool2d(x, 2, 2, 2); }},
       {"max_pool2d", [&] { (void)ebb::max_pool2d(x, 2, 2, 0, 0); }},
       {"avg_pool2d", [&] { (void)ebb::avg_pool2d(x, 2, 2, 2); }},
       {"avg_pool2d", [&] { (void)ebb::avg_pool2d(x, 2, 2, 0, false, true, 0); }},
       {"layer_norm", [&] { (void)ebb::layer_norm(rows, {}); }},
       {"layer_norm", [&] { (void)ebb::layer_norm(rows, {2}); }},
       {"layer_norm", [&] { (void)ebb::layer_norm(rows, {3}, ebb::ones({2})); }},
       {"batch_norm",
        [&] {
          (void)ebb::batch_norm(ebb::ones({1, 3}), none, none, none, none, true, 0.1, 1e-5);
        }},
       {"dropout", [&] { (void)ebb::dropout(rows, 1.5, true); }},
       {"dropout", [&] { (void)ebb::dropout(rows, -0.1, true); }},
       {"gelu", [&] { (void)ebb::gelu(rows, "quick"); }},
       {"div", [&] { (void)ebb::div(rows, rows, "up"); }},
       {"nll_loss", [&] { (void)ebb::nll_loss(rows, target, {}, 7); }},
       {"mse_loss", [&] { (void)ebb::mse_loss(rows, rows, -1); }},
       {"cross_entropy_loss",
        [&] { (void)ebb::cross_entropy_loss(rows, target, {}, ebb::Reduction::Mean, -100, 1.5); }},
       {"embedding", [&] { (void)ebb::embedding(rows, target, 2); }},
       {"embedding_backward", [&] { (void)ebb::embedding_backward(rows, target, 2, 2, false); }}},
      "");
}

TEST_CASE("Indices out of range are IndexErrors that name the index and the size") {
  if (!ebb::get_default_device().is_cpu()) return;  // a device does not read its indices back
  const auto x = ebb::ones({2, 3});
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, kHuge, -kHuge}) {
    const auto at = ebb::full({1}, bad, ebb::kLong);
    const auto column = ebb::full({2, 1}, bad, ebb::kLong);
    check_refused(
        {{"index_select", [&] { (void)x.index_select(1, at); }},
         {"index_add",
          [&] {
            (void)x.index_add(1, at, ebb::ones({2, 1}));
          }},
         {"gather", [&] { (void)x.gather(1, column); }},
         {"scatter", [&] { (void)x.scatter(1, column, 1); }},
         {"scatter_add",
          [&] {
            (void)x.scatter_add(1, column, ebb::ones({2, 1}));
          }},
         {"embedding",
          [&] {
            (void)ebb::embedding(ebb::ones({3, 2}), at);
          }},
         {"nll_loss", [&] { (void)ebb::nll_loss(x.narrow(0, 0, 1), at); }},
         {"cross_entropy_loss", [&] { (void)ebb::cross_entropy_loss(x.narrow(0, 0, 1), at); }}},
        std::to_string(bad));
  }
  CHECK_THROWS_AS(x.index_select(1, ebb::full({1}, 3, ebb::kLong)), ebb::IndexError);
}
