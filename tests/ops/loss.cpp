#include "reduce_reference.h"

#include <limits>
#include <optional>

#include <ebb/autograd/grad_mode.h>
#include <ebb/testing/measure.h>

using namespace ebb;
using namespace ebb::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The losses of rows and the weights of their classes, by plain loops over [N, C, inner].
struct Rows {
  Values losses;
  double total_weight = 0;

  [[nodiscard]] Values reduced(int64_t reduction) const {
    if (reduction == Reduction::None) return losses;
    double sum = 0;
    for (const double loss : losses) sum += loss;
    return {reduction == Reduction::Sum ? sum : sum / total_weight};
  }
};

struct Setup {
  Values weight;
  int64_t ignore_index = -100;
  double smoothing = 0;
};

int64_t classes_of(const Tensor& x) { return x.size(x.dim() == 1 ? 0 : 1); }

Rows reference(const Tensor& x, const Tensor& target, const Setup& setup, bool log_softmax_first) {
  const int64_t classes = classes_of(x);
  const auto c_count = static_cast<double>(classes);
  const bool probabilities = target.is_floating_point();
  const auto lines = groups(x, {x.dim() == 1 ? 0 : 1});
  const auto target_lines =
      probabilities ? groups(target, {x.dim() == 1 ? 0 : 1}) : std::vector<Values>();
  const Values target_classes = probabilities ? Values() : values(target);
  Rows rows;
  for (size_t row = 0; row < lines.size(); ++row) {
    double lse = 0;
    for (const double v : lines[row]) lse += std::exp(v);
    lse = log_softmax_first ? std::log(lse) : 0;
    if (!probabilities && target_classes[row] == static_cast<double>(setup.ignore_index)) {
      rows.losses.push_back(0);
      continue;
    }
    double loss = 0;
    for (size_t c = 0; c < static_cast<size_t>(classes); ++c) {
      const double w = setup.weight.empty() ? 1 : setup.weight[c];
      const double y = probabilities ? target_lines[row][c]
                                     : (target_classes[row] == static_cast<double>(c) ? 1 : 0);
      const double t = (1 - setup.smoothing) * y + setup.smoothing / c_count;
      loss += w * t * (lse - lines[row][c]);
      if (!probabilities && y == 1) rows.total_weight += w;
    }
    if (probabilities) rows.total_weight += 1;
    rows.losses.push_back(loss);
  }
  return rows;
}

std::optional<Tensor> weight_tensor(const Setup& setup, ScalarType dtype) {
  if (setup.weight.empty()) return std::nullopt;
  return made_of(setup.weight, {static_cast<int64_t>(setup.weight.size())}, dtype);
}

const std::vector<std::vector<int64_t>> kShapes = {{5}, {6, 5}, {3, 5, 7}, {2, 5, 3, 70}};

Tensor classes_for(IntArrayRef sizes, uint32_t seed = 3) {
  std::vector<int64_t> rows(sizes.begin(), sizes.end());
  rows.erase(rows.begin() + (sizes.size() == 1 ? 0 : 1));
  return random_indices(rows, 5, seed);
}

Tensor probabilities_for(IntArrayRef sizes) {
  return random_tensor(sizes, kDouble, -1, 1, 9).softmax(sizes.size() == 1 ? 0 : 1);
}

const Values kWeight = {0.5, 1, 2, 0.25, 3};
constexpr int64_t kReductions[] = {Reduction::None, Reduction::Mean, Reduction::Sum};

}  // namespace

TEST_CASE("nll_loss agrees with a plain loop", "[loss]") {
  for (const auto& sizes : kShapes) {
    for (const Setup& setup : {Setup{}, Setup{kWeight, 2, 0}, Setup{{}, 1, 0}}) {
      for (const ScalarType dtype : {kDouble, kFloat}) {
        const Tensor x = random_tensor(sizes, dtype);
        const Tensor target = classes_for(sizes);
        for (const Tensor& input : layouts(x)) {
          for (const int64_t reduction : kReductions) {
            const Tensor loss =
                nll_loss(input, target, weight_tensor(setup, dtype), reduction, setup.ignore_index);
            CHECK(loss.dtype() == dtype);
            check_close(loss, reference(x, target, setup, false).reduced(reduction),
                        dtype == kDouble ? 1e-13 : 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("Cross entropy agrees with a plain loop", "[loss]") {
  for (const auto& sizes : kShapes) {
    for (const Setup& setup :
         {Setup{}, Setup{kWeight, 2, 0}, Setup{{}, 1, 0.1}, Setup{kWeight, -100, 0.3}}) {
      const Tensor x = random_tensor(sizes, kDouble, -4, 4);
      for (const Tensor& target : {classes_for(sizes), probabilities_for(sizes)}) {
        const int64_t ignore = target.is_floating_point() ? -100 : setup.ignore_index;
        for (const Tensor& input : layouts(x)) {
          for (const int64_t reduction : kReductions) {
            const Tensor loss = cross_entropy_loss(input, target, weight_tensor(setup, kDouble),
                                                   reduction, ignore, setup.smoothing);
            check_close(loss,
                        reference(x, target, {setup.weight, ignore, setup.smoothing}, true)
                            .reduced(reduction),
                        1e-12);
          }
        }
      }
    }
  }
}

TEST_CASE("Cross entropy does not overflow and works in 16 bits", "[loss]") {
  const Tensor x = made_of({1000, -1000, 0}, {1, 3}, kFloat);
  CHECK(cross_entropy_loss(x, made_of({0}, {1}, kLong)).item<double>() == 0);
  CHECK(cross_entropy_loss(x, made_of({1}, {1}, kLong)).item<double>() == 2000);
  const Tensor half = random_tensor({40, 5}, kHalf, -4, 4);
  const Tensor target = classes_for({40, 5});
  const Tensor loss = cross_entropy_loss(half, target);
  CHECK(loss.dtype() == kHalf);
  check_close(loss, reference(half, target, {}, true).reduced(Reduction::Mean), 1e-3);
}

TEST_CASE("Rows that are all ignored have a mean of NaN and a gradient of zero", "[loss]") {
  const Tensor x = random_tensor({2, 5}).requires_grad_();
  const Tensor target = full({2}, -100, kLong);
  CHECK(std::isnan(cross_entropy_loss(x, target).item<double>()));
  cross_entropy_loss(x, target, {}, Reduction::Sum).backward();
  check_close(x.grad(), Values(10, 0));
}

TEST_CASE("mse_loss agrees with a plain loop", "[loss]") {
  const Tensor x = random_tensor({30, 40, 50});
  const Tensor y = random_tensor({30, 40, 50}, kDouble, -1, 1, 2);
  Values squares;
  double sum = 0;
  const Values a = values(x);
  const Values b = values(y);
  for (size_t i = 0; i < a.size(); ++i) {
    squares.push_back((a[i] - b[i]) * (a[i] - b[i]));
    sum += squares.back();
  }
  for (const Tensor& input : layouts(x)) {
    check_close(mse_loss(input, y, Reduction::None), squares, 1e-14);
    check_close(mse_loss(input, y, Reduction::Sum), {sum}, 1e-12);
    check_close(mse_loss(y, input), {sum / static_cast<double>(a.size())}, 1e-12);
  }
  check_close(mse_loss(made_of({1, 2, 3, 4}, {2, 2}, kFloat), made_of({1, 2}, {2}, kFloat)), {2});
  CHECK_THROWS_WITH(mse_loss(zeros({2}), zeros({3})), ContainsSubstring("mse_loss"));
  CHECK_THROWS_WITH(mse_loss(zeros({2}, kLong), zeros({2}, kLong)), ContainsSubstring("Long"));
}

TEST_CASE("Wrong targets and weights of losses are errors", "[loss]") {
  const Tensor x = zeros({2, 5});
  // A device reports a class when the host waits for it, as an index.
  CHECK_THROWS_AS(nll_loss(x, made_of({0, 5}, {2}, kLong)).cpu(), IndexError);
  CHECK_THROWS_WITH(cross_entropy_loss(x, made_of({0, -1}, {2}, kLong)).cpu(),
                    ContainsSubstring("cross_entropy_loss") && ContainsSubstring("-1") &&
                        (ContainsSubstring("5 classes") || ContainsSubstring("size 5")));
  CHECK_THROWS_WITH(nll_loss(x, zeros({3}, kLong)),
                    ContainsSubstring("[2, 5]") && ContainsSubstring("[3]"));
  CHECK_THROWS_WITH(nll_loss(x, zeros({2, 5})), ContainsSubstring("Float"));
  CHECK_THROWS_WITH(cross_entropy_loss(x, zeros({2}, kInt)), ContainsSubstring("Int"));
  CHECK_THROWS_WITH(nll_loss(x, zeros({2}, kLong), zeros({4})), ContainsSubstring("[4]"));
  CHECK_THROWS_WITH(nll_loss(x, zeros({2}, kLong), std::nullopt, 7), ContainsSubstring("7"));
  CHECK_THROWS_WITH(
      cross_entropy_loss(x, zeros({2}, kLong), std::nullopt, Reduction::Mean, -100, 1.5),
      ContainsSubstring("label_smoothing"));
  CHECK_THROWS_WITH(cross_entropy_loss(zeros({}), zeros({}, kLong)),
                    ContainsSubstring("dimension"));
  CHECK_THROWS_WITH(cross_entropy_loss(zeros({2, 5}, kLong), zeros({2}, kLong)),
                    ContainsSubstring("Long"));
}

TEST_CASE("Losses over no rows are NaN or zero", "[loss]") {
  const Tensor x = zeros({0, 5});
  const Tensor target = zeros({0}, kLong);
  CHECK(std::isnan(cross_entropy_loss(x, target).item<double>()));
  CHECK(nll_loss(x, target, {}, Reduction::Sum).item<double>() == 0);
  CHECK(cross_entropy_loss(x, target, {}, Reduction::None).sizes() == IntArrayRef({0}));
  CHECK(std::isnan(mse_loss(zeros({0}), zeros({0})).item<double>()));
}

TEST_CASE("Losses give the same bits for any number of threads", "[loss]") {
  const Tensor x = random_tensor({5000, 33}, kFloat, -3, 3);
  const Tensor target = random_indices({5000}, 33);
  const Tensor y = random_tensor({5000, 33}, kFloat, -3, 3, 8);
  check_same_for_any_threads([&] { return cross_entropy_loss(x, target); });
  check_same_for_any_threads([&] { return nll_loss(x, target); });
  check_same_for_any_threads([&] { return mse_loss(x, y); });
  check_same_for_any_threads([&] { return cross_entropy_loss(x, y, {}, Reduction::None); });
}

TEST_CASE("Cross entropy keeps one number a row beside its inputs", "[loss]") {
  const Tensor x = random_tensor({256, 100}, kFloat).requires_grad_();
  const Tensor target = random_indices({256}, 100);
  // The loss, the weights added up, and the log-sum-exp of each row.
  CHECK(measure([&] { return cross_entropy_loss(x, target); }).net_bytes == 512 + 512 + 1024);
  NoGradGuard no_grad;
  CHECK(measure([&] { return cross_entropy_loss(x, target); }).net_bytes == 512);
}

TEST_CASE("nll_loss has gradients", "[loss][grad]") {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{5}, {4, 5}, {2, 5, 3}}) {
    const Tensor x = random_tensor(sizes).requires_grad_();
    const Tensor target = classes_for(sizes);
    for (const int64_t reduction : kReductions) {
      for (const auto& weight :
           {std::optional<Tensor>(), std::optional<Tensor>(made_of(kWeight, {5}))}) {
        CHECK(check_gradients(
            [&](auto& in) { return nll_loss(in[0].square(), target, weight, reduction, 1); }, {x}));
      }
    }
  }
}

TEST_CASE("Cross entropy has first and second derivatives", "[loss][grad]") {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{5}, {4, 5}, {2, 5, 3}}) {
    const Tensor x = random_tensor(sizes).requires_grad_();
    for (const Tensor& target : {classes_for(sizes), probabilities_for(sizes)}) {
      const int64_t ignore = target.is_floating_point() ? -100 : 1;
      for (const int64_t reduction : kReductions) {
        for (const double smoothing : {0.0, 0.2}) {
          const auto weight =
              smoothing > 0 ? std::optional<Tensor>(made_of(kWeight, {5})) : std::nullopt;
          INFO("sizes " << x.sizes() << " reduction " << reduction << " smoothing " << smoothing);
          CHECK(check_gradients(
              [&](auto& in) {
                return cross_entropy_loss(in[0], target, weight, reduction, ignore, smoothing);
              },
              {x}));
        }
      }
    }
  }
}

TEST_CASE("A target of probabilities may have a gradient too", "[loss][grad]") {
  const Tensor x = random_tensor({3, 5}).requires_grad_();
  const Tensor target = probabilities_for({3, 5}).detach().requires_grad_();
  for (const int64_t reduction : kReductions) {
    const Values with_grad =
        values(cross_entropy_loss(x, target, made_of(kWeight, {5}), reduction, -100, 0.1));
    check_close(cross_entropy_loss(x, target.detach(), made_of(kWeight, {5}), reduction, -100, 0.1),
                with_grad);
    CHECK(check_gradients(
        [&](auto& in) {
          return cross_entropy_loss(in[0], in[1], made_of(kWeight, {5}), reduction, -100, 0.1);
        },
        {x, target}));
  }
}

TEST_CASE("mse_loss has first and second derivatives", "[loss][grad]") {
  const Tensor x = random_tensor({3, 4}).requires_grad_();
  const Tensor y = random_tensor({3, 4}, kDouble, -1, 1, 2).requires_grad_();
  const Tensor row = random_tensor({4}, kDouble, -1, 1, 3).requires_grad_();
  for (const int64_t reduction : kReductions) {
    CHECK(check_gradients([&](auto& in) { return mse_loss(in[0], in[1], reduction); }, {x, y}));
    CHECK(check_gradients([&](auto& in) { return mse_loss(in[0], in[1], reduction); }, {x, row}));
  }
  const Tensor g = made_of({1.5}, {}).requires_grad_();
  CHECK(check_gradients(
      [&](auto& in) { return mse_loss_backward(in[0], in[1], in[2], Reduction::Mean); },
      {g, x, y}));
}
