// Running out of memory at every point of a training step.

#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>

#include <memory>
#include <vector>

#include "catch.h"

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

/// A small network of every kind of layer that trains, its optimizer and one batch.
struct Training {
  explicit Training(bool adam) {
    ebb::manual_seed(7);
    net = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(1)), nn::BatchNorm2d(4),
                         nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(64, 16),
                         nn::LayerNorm(nn::LayerNormOptions({16})), nn::GELU(), nn::Linear(16, 5));
    if (adam) {
      optimizer =
          std::make_unique<ebb::optim::Adam>(net->parameters(), ebb::optim::AdamOptions(1e-2));
    } else {
      optimizer = std::make_unique<ebb::optim::SGD>(net->parameters(),
                                                    ebb::optim::SGDOptions(0.1).momentum(0.9));
    }
    x = ebb::randn({3, 2, 8, 8});
    y = ebb::tensor({1, 0, 4});
  }

  void forward_backward() { ebb::cross_entropy_loss(net->forward(x), y).backward(); }
  void step() {
    optimizer->zero_grad();
    forward_backward();
    optimizer->step();
  }
  std::vector<Tensor> parameter_values() const {
    std::vector<Tensor> values;
    for (const auto& p : net->parameters()) values.push_back(p.detach().clone());
    return values;
  }

  nn::Sequential net{nullptr};
  std::unique_ptr<ebb::optim::Optimizer> optimizer;
  Tensor x, y;
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ebb::equal(a[i], b[i])) return false;
  }
  return a.size() == b.size();
}

/// Each gradient must be undefined or what an undisturbed backward gives.
void check_gradients_are_whole(const Training& training, const std::vector<Tensor>& expected) {
  const auto parameters = training.net->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].grad().defined()) CHECK(ebb::allclose(parameters[i].grad(), expected[i]));
  }
}

std::vector<Tensor> undisturbed_gradients(bool adam) {
  Training training(adam);
  training.forward_backward();
  std::vector<Tensor> gradients;
  for (const auto& p : training.net->parameters()) gradients.push_back(p.grad().clone());
  return gradients;
}

std::vector<Tensor> undisturbed_parameters(bool adam, int steps) {
  Training training(adam);
  for (int i = 0; i < steps; ++i) training.step();
  return training.parameter_values();
}

/// Fails the n-th request of the first step, for every n, then takes the step again.
void sweep(bool adam, bool cold) {
  const auto gradients = undisturbed_gradients(adam);
  const auto after_one = undisturbed_parameters(adam, 1);
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    INFO("request " << n << (adam ? " of a step of Adam" : " of a step of SGD"));
    const auto before = ebb::memory::memory_allocated();
    {
      Training training(adam);
      const auto start = training.parameter_values();
      const auto at_start = ebb::memory::memory_allocated();
      if (cold) ebb::memory::empty_cache();
      bool stepped = false;
      bool failed = false;
      {
        ebb::testing::FailAllocation failing(n);
        try {
          training.optimizer->zero_grad();
          training.forward_backward();
          stepped = true;
          training.optimizer->step();
        } catch (const ebb::OutOfMemoryError& error) {
          failed = true;
          CHECK(std::string(error.what()).find("out of memory") != std::string::npos);
        }
      }
      if (!failed) {
        CHECK(failures > 20);
        CHECK(same(training.parameter_values(), after_one));
        break;
      }
      ++failures;
      // An optimizer step that failed has changed no parameter.
      CHECK(same(training.parameter_values(), start));
      if (!stepped) check_gradients_are_whole(training, gradients);
      training.optimizer->zero_grad();
      CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) == 0);
      CHECK(ebb::memory::category_bytes(ebb::memory::Category::gradient) == 0);
      if (!stepped) CHECK(ebb::memory::memory_allocated() == at_start);
      // The running statistics may have moved, which no later step reads in training mode.
      training.step();
      CHECK(same(training.parameter_values(), after_one));
    }
    REQUIRE(ebb::memory::memory_allocated() == before);
    REQUIRE(n < 1000);
  }
}

}  // namespace

TEST_CASE("Whichever request of a step of SGD fails, nothing leaks and the next step is right") {
  sweep(false, false);
}

TEST_CASE("Whichever request of a step of Adam fails, nothing leaks and the next step is right") {
  sweep(true, false);
}

TEST_CASE("The same with an empty cache") { sweep(true, true); }

TEST_CASE("Module::to converts all parameters or none") {
  for (int64_t n = 1;; ++n) {
    INFO("request " << n);
    Training training(false);
    training.forward_backward();
    const auto before = ebb::memory::memory_allocated();
    const ebb::testing::FailAllocation failing(n);
    bool failed = false;
    try {
      training.net->to(ebb::kDouble);
    } catch (const ebb::OutOfMemoryError&) {
      failed = true;
    }
    const auto expected = failed ? ebb::kFloat : ebb::kDouble;
    for (const auto& p : training.net->parameters()) {
      CHECK(p.scalar_type() == expected);
      CHECK(p.grad().scalar_type() == expected);
    }
    for (const auto& b : training.net->buffers()) {
      if (b.is_floating_point()) CHECK(b.scalar_type() == expected);
    }
    if (!failed) break;
    CHECK(ebb::memory::memory_allocated() == before);
    REQUIRE(n < 1000);
  }
}

TEST_CASE("An op in place that runs out of memory has changed nothing") {
  auto x = ebb::ones({4, 4}).requires_grad_(true);
  auto y = x * 2;
  const auto version = y._version();
  for (int64_t n = 1;; ++n) {
    const ebb::testing::FailAllocation failing(n);
    try {
      y.mul_(x);  // must keep a copy of y for the gradient of x
    } catch (const ebb::OutOfMemoryError&) {
      CHECK(ebb::equal(y.detach(), ebb::full({4, 4}, 2.0)));
      CHECK(y._version() == version);
      continue;
    }
    CHECK(n > 1);
    break;
  }
  y.sum().backward();
  CHECK(ebb::equal(x.grad(), ebb::full({4, 4}, 4.0)));
}

TEST_CASE("After running out of memory the next request that fits succeeds") {
  const ebb::Device device = ebb::get_default_device();
  const auto reserved = ebb::memory::memory_reserved();
  ebb::memory::set_memory_limit(device, static_cast<size_t>(reserved) + (64u << 20));
  CHECK_THROWS_AS(ebb::empty({int64_t{1} << 30}), ebb::OutOfMemoryError);
  CHECK_NOTHROW(ebb::empty({1 << 20}));
  ebb::memory::set_memory_limit(device, 0);
}
