#include <ebb/autograd/autograd.h>

#include "against_cpu.h"

using namespace kernel_tests;

namespace {

/// A loss over classes, and the gradient of its input.
struct Setting {
  const char* name;
  bool nll;
  int64_t reduction;
  bool weighted;
  bool probabilities;
  double smoothing;
};

constexpr Setting kSettings[] = {
    {"nll, mean", true, Reduction::Mean, false, false, 0},
    {"nll, none, weighted", true, Reduction::None, true, false, 0},
    {"cross entropy, mean", false, Reduction::Mean, false, false, 0},
    {"cross entropy, sum, weighted", false, Reduction::Sum, true, false, 0},
    {"cross entropy, none", false, Reduction::None, false, false, 0},
    {"cross entropy, mean, weighted, smoothed", false, Reduction::Mean, true, false, 0.1},
    {"cross entropy, none, smoothed", false, Reduction::None, false, false, 0.1},
    {"cross entropy, mean, probabilities", false, Reduction::Mean, false, true, 0},
    {"cross entropy, none, probabilities, weighted", false, Reduction::None, true, true, 0.2},
};

std::vector<Tensor> loss_of(const Setting& s, const std::vector<Tensor>& in) {
  const Tensor x = in[0].detach().requires_grad_();
  const Tensor& target = s.probabilities ? in[3] : in[1];
  const auto weight = s.weighted ? std::optional<Tensor>(in[2]) : std::nullopt;
  const Tensor loss = s.nll ? ebb::nll_loss(x, target, weight, s.reduction, 2)
                            : ebb::cross_entropy_loss(x, target, weight, s.reduction,
                                                      s.probabilities ? -100 : 2, s.smoothing);
  return {loss.detach(), autograd::grad({loss.sum()}, {x})[0]};
}

void check(IntArrayRef sizes, ScalarType dtype, double tolerance) {
  std::vector<int64_t> rows(sizes.begin(), sizes.end());
  const int64_t classes = rows[1];
  rows.erase(rows.begin() + 1);
  const std::vector<Tensor> inputs = {
      host_tensor(sizes, dtype),
      host_tensor(rows, kLong, 0, static_cast<double>(classes), 2),
      host_tensor(classes, dtype, 0.5, 2, 3),
      host_tensor(sizes, dtype, 0, 1, 4),
  };
  for (const Setting& setting : kSettings) {
    INFO(setting.name << ", sizes " << sizes << ", " << dtype);
    check_against_cpu(
        inputs, [&](const std::vector<Tensor>& in) { return loss_of(setting, in); }, tolerance);
  }
}

}  // namespace

TEST_CASE("Losses over classes on the device are the CPU's, with their gradients", "[loss]") {
  check({9, 5}, kDouble, 1e-12);
  check({9, 5}, kFloat, 1e-5);
  check({9, 5}, kHalf, 1e-2);
  check({9, 5}, kBFloat16, 6e-2);
  check({4, 5, 3, 2}, kFloat, 1e-5);
}

TEST_CASE("Losses of many classes, and of many rows in several pieces", "[loss]") {
  for (const int64_t n : {3, 31, 33, 513, 1025}) check({3, n}, kDouble, 1e-11);
  check({2050, 4}, kDouble, 1e-10);
}

TEST_CASE("A class out of range is reported when the host waits, and names the op", "[loss]") {
  const Tensor x = host_tensor({3, 4}, kFloat).to(kCUDA);
  const Tensor target = made_of({0, 4, 1}, {3}, kLong).to(kCUDA);
  const Tensor loss = ebb::cross_entropy_loss(x, target);
  try {
    static_cast<void>(loss.item<float>());
    FAIL("nothing was thrown");
  } catch (const IndexError& error) {
    const std::string text = error.what();
    CHECK(text.find("cross_entropy") != std::string::npos);
    CHECK(text.find("4") != std::string::npos);
  }
  CHECK(ebb::ones(3, TensorOptions().device(kCUDA)).sum().item<float>() == 3);
}

TEST_CASE("The squared error on the device is the CPU's, for all layouts", "[loss][short]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
    for (const int64_t n : {1, 33, 1025, 20000}) {
      const std::vector<Tensor> inputs = {host_tensor({n, 2}, dtype),
                                          host_tensor({n, 2}, dtype, -1, 1, 5),
                                          host_tensor({n, 1}, dtype, -1, 1, 6)};
      check_against_cpu(
          inputs,
          [](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{ebb::mse_loss(in[0], in[1]),
                                       ebb::mse_loss(in[0], in[2], Reduction::Mean),
                                       ebb::mse_loss(in[0], in[1], Reduction::None)};
          },
          4 * tolerance_of(dtype));
    }
  }
}
