// The system refuses memory at every point of a training step. The source of the CPU's memory is
// replaced, which a process can do once: hence a program of its own. It runs with the cache, where
// a step that starts with an empty one asks for segments, and with EBB_NO_CACHING=1, where every
// request goes to the source.

#include <ebb/core/memory/host_source.h>
#include <ebb/core/memory/source_decorators.h>
#include <ebb/ebb.h>

#include <cstdlib>
#include <limits>
#include <vector>

#include "catch.h"

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::memory::memory_allocated;

constexpr int64_t kEver = std::numeric_limits<int64_t>::max();

/// The source of all memory of this process; never destroyed, as the allocator is not.
ebb::memory::FailingSource& source() {
  static auto* const failing = [] {
    auto* made = new ebb::memory::FailingSource(*new ebb::memory::HostSource, kEver, kEver);
    ebb::memory::set_source(ebb::kCPU, *made);
    return made;
  }();
  return *failing;
}

bool cached() { return std::getenv("EBB_NO_CACHING") == nullptr; }

/// Wide enough that with a cache each weight, gradient and moment is a segment of its own.
int64_t width() { return cached() ? 1700 : 30; }

struct Training {
  Training()
      : net(nn::Linear(width(), width()), nn::ReLU(), nn::Linear(width(), 5)),
        optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3)) {
    ebb::manual_seed(3);
    const ebb::NoGradGuard no_grad;
    for (auto& p : net->parameters()) p.uniform_(-0.05, 0.05);
    x = ebb::randn({8, width()});
    y = ebb::randint(0, 5, {8}, ebb::kLong);
  }
  void step() {
    optimizer.zero_grad();
    ebb::cross_entropy_loss(net->forward(x), y).backward();
    optimizer.step();
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> copies;
    for (const auto& p : net->parameters()) copies.push_back(p.detach().clone());
    return copies;
  }

  nn::Sequential net;
  ebb::optim::Adam optimizer;
  Tensor x, y;
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ebb::equal(a[i], b[i])) return false;
  }
  return a.size() == b.size();
}

/// Takes a step while the source refuses `length` requests from the n-th on, for every n that the
/// step comes to, and then another. Returns how often a step failed.
int sweep(int64_t length) {
  source();  // before the first tensor
  std::vector<Tensor> expected;
  {
    Training undisturbed;
    undisturbed.step();
    expected = undisturbed.parameters();
  }
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    INFO("request " << n << " of the step to the source");
    REQUIRE(n < 500);
    const auto before = memory_allocated();
    int64_t asked = 0;
    {
      Training training;
      const auto start = training.parameters();
      const auto at_start = memory_allocated();
      ebb::memory::empty_cache();
      source().fail(n, length == kEver ? kEver : n + length - 1);
      bool failed = false;
      try {
        training.step();
      } catch (const ebb::OutOfMemoryError& error) {
        failed = true;
        CHECK(std::string(error.what()).find("out of memory") != std::string::npos);
      }
      asked = source().requests();
      source().fail(kEver, kEver);
      if (failed) {
        ++failures;
        CHECK(same(training.parameters(), start));
        training.optimizer.zero_grad();
        CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) == 0);
        CHECK(ebb::memory::category_bytes(ebb::memory::Category::gradient) == 0);
        // What Adam had allocated for its moments it may keep.
        CHECK(memory_allocated() - at_start <=
              2 * ebb::memory::category_bytes(ebb::memory::Category::parameter));
        training.step();
      }
      CHECK(same(training.parameters(), expected));
    }
    CHECK(memory_allocated() == before);
    if (asked < n) break;
  }
  expected.clear();
  ebb::memory::empty_cache();
  CHECK(memory_allocated() == 0);
  CHECK(ebb::memory::memory_reserved() == 0);
  return failures;
}

}  // namespace

TEST_CASE("Whichever request for memory the system refuses for good, the next step is right") {
  const auto failures = sweep(kEver);
  // With a cache the gradient of the wide weight and its two moments are segments of their own.
  CHECK(failures >= (cached() ? 3 : 20));
}

TEST_CASE("A request that the system refuses once is made again, and the step is right") {
  CHECK(sweep(1) == 0);
}
