// GrowthMonitor: a leak rises with the steps, a cache does not.

#include <ebb/ebb.h>
#include <ebb/core/memory/growth_monitor.h>

#include <vector>

#include "catch.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::memory::Category;
using ebb::memory::GrowthMonitor;
using ebb::memory::GrowthReport;
using Verdict = GrowthReport::Verdict;

constexpr int64_t kMiB = 1 << 20;

struct Training {
  ebb::nn::Sequential net{ebb::nn::Linear(8, 32), ebb::nn::Tanh(), ebb::nn::Linear(32, 1)};
  ebb::optim::Adam optimizer{net->parameters(), ebb::optim::AdamOptions(0.01)};

  Tensor step(int64_t batch = 64) {
    optimizer.zero_grad();
    const Tensor loss = net->forward(ebb::randn({batch, 8})).square().mean();
    loss.backward();
    optimizer.step();
    return loss;
  }
};

}  // namespace

TEST_CASE("Training does not grow, though its first steps make gradients and optimizer states") {
  Training training;
  GrowthMonitor monitor(8);
  monitor.step();
  for (int i = 0; i < 20; ++i) {
    training.step(16 + 16 * (i % 3));
    CHECK_FALSE(monitor.leaks());
    monitor.step();
  }
  CHECK(monitor.report().verdict == Verdict::flat);
  CHECK(monitor.report().allocated_per_step == 0);
  CHECK_THAT(monitor.report().text(), ContainsSubstring("no growth"));
}

TEST_CASE("Losses that are added up with their graphs are a leak, of saved and temporary bytes") {
  Training training;
  GrowthMonitor monitor(16);
  Tensor total = ebb::zeros({});
  for (int i = 0; i < 16; ++i) {
    CHECK(monitor.report().verdict == Verdict::undecided);
    total = total + training.net->forward(ebb::randn({64, 8})).square().mean();
    monitor.step();
  }
  const GrowthReport report = monitor.report();
  CHECK(report.verdict == Verdict::leak);
  CHECK(report.steps == 16);
  // The input, what tanh gave, and the output, each kept for backward.
  const int64_t saved = ebb::memory::rounded(64 * 8 * 4) + ebb::memory::rounded(64 * 32 * 4) +
                        ebb::memory::rounded(64 * 4);
  CHECK(report.allocated_per_step == static_cast<double>(saved));
  CHECK(report.rising[static_cast<size_t>(Category::saved)] == static_cast<double>(saved));
  CHECK(report.rising[static_cast<size_t>(Category::parameter)] == 0);
  CHECK_THAT(report.text(), ContainsSubstring("a leak: allocated: +") &&
                                ContainsSubstring("  saved: +") &&
                                !ContainsSubstring("parameter"));
}

TEST_CASE("Numbers taken from the losses are no leak") {
  Training training;
  GrowthMonitor monitor(16);
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    total += training.step().item<double>();
    monitor.step();
  }
  CHECK(total > 0);
  CHECK(monitor.report().verdict == Verdict::flat);
}

TEST_CASE("Reserved memory that grows while nothing is kept is a cache") {
  GrowthMonitor monitor(8);
  ebb::memory::empty_cache();
  for (int64_t i = 0; i < 8; ++i) {
    ebb::memory::reserve(ebb::get_default_device(), static_cast<size_t>(4 * kMiB));
    monitor.step();
  }
  const GrowthReport report = monitor.report();
  CHECK(report.verdict == Verdict::cache);
  CHECK(report.reserved_per_step == 4 * kMiB);
  CHECK_FALSE(monitor.leaks());
  CHECK_THAT(report.text(), ContainsSubstring("a cache grows"));
  ebb::memory::empty_cache();
}

TEST_CASE("One jump in memory is no leak, wherever the window has it") {
  for (int at = 0; at < 24; ++at) {
    GrowthMonitor monitor(8);
    std::vector<Tensor> kept;
    for (int i = 0; i < 24; ++i) {
      if (i == at || i == at + 1) kept.push_back(ebb::zeros({1000}));
      monitor.step();
      INFO("jumps at steps " << at << " and " << at + 1 << ", now at " << i);
      CHECK_FALSE(monitor.leaks());
    }
  }
}

TEST_CASE("A slow leak under batches of changing size shows in a window of eight times its period") {
  GrowthMonitor monitor(32);
  std::vector<Tensor> kept;
  for (int i = 0; i < 64; ++i) {
    const Tensor batch = ebb::zeros({256 * (1 + i % 2)});
    if (i % 4 == 0) kept.push_back(ebb::zeros({1024}));
    monitor.step();
  }
  CHECK(monitor.leaks());
  CHECK(monitor.report().allocated_per_step > 800);
  CHECK(monitor.report().allocated_per_step < 1200);
  monitor.reset();
  CHECK(monitor.report().verdict == Verdict::undecided);
}

TEST_CASE("A window of fewer than eight steps is refused") {
  CHECK_THROWS_WITH(GrowthMonitor(4), ContainsSubstring("a window of 4 steps"));
}
