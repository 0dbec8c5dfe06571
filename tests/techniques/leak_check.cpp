// LeakCheck: what outlived a piece of code.

#include <ebb/ebb.h>
#include <ebb/core/memory/leak_check.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "catch.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::memory::Category;
using ebb::memory::Leak;
using ebb::memory::LeakCheck;

int64_t bytes_of(const std::vector<Leak>& leaks) {
  int64_t bytes = 0;
  for (const Leak& leak : leaks) bytes += leak.bytes;
  return bytes;
}

bool same_device(ebb::Device a, ebb::Device b) { return a.type() == b.type(); }

}  // namespace

TEST_CASE("Code that leaves nothing passes a LeakCheck") {
  const Tensor before = ebb::randn({64, 64});
  const LeakCheck check;
  {
    const Tensor w = ebb::randn({64, 64}).requires_grad_();
    ebb::matmul(before, w).tanh().sum().backward();
  }
  CHECK(check.leaks().empty());
  CHECK_NOTHROW(check.expect_none());
}

TEST_CASE("A leak is reported with bytes, sizes, dtype, category, scope and op") {
  const Tensor a = ebb::randn({100, 50});
  const LeakCheck check;
  Tensor kept;
  {
    const ebb::memory::Scope step("step");
    const ebb::memory::Scope forward("forward");
    kept = ebb::matmul(a, a.t());
  }
  const auto leaks = check.leaks();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].bytes == ebb::memory::rounded(100 * 100 * 4));
  CHECK(same_device(leaks[0].device, ebb::get_default_device()));
  CHECK(leaks[0].is_tensor);
  CHECK(leaks[0].sizes == std::vector<int64_t>{100, 100});
  CHECK(leaks[0].dtype == ebb::kFloat);
  CHECK(leaks[0].category == Category::temporary);
  CHECK(leaks[0].scope == "step/forward");
  CHECK(leaks[0].op == "matmul");
  CHECK_THROWS_WITH(check.expect_none(),
                    ContainsSubstring("1 block of 40448 bytes outlived the check") &&
                        ContainsSubstring("Float [100, 100]") &&
                        ContainsSubstring("by matmul  in step/forward"));
}

TEST_CASE("A list of losses keeps a graph for each, which the check shows as saved tensors") {
  const Tensor x = ebb::randn({32, 16});
  const Tensor w = ebb::randn({16, 16}).requires_grad_();
  const LeakCheck check;
  std::vector<Tensor> losses;
  for (int step = 0; step < 3; ++step) losses.push_back(ebb::matmul(x, w).tanh().sum());
  const auto leaks = check.leaks();
  // Three losses, and three results of tanh that their graphs need.
  CHECK(leaks.size() == 6);
  CHECK(std::count_if(leaks.begin(), leaks.end(), [](const Leak& leak) {
          return leak.category == Category::saved &&
                 leak.sizes == std::vector<int64_t>{32, 16};
        }) == 3);
  CHECK(bytes_of(leaks) == 3 * (512 + 32 * 16 * 4));
  CHECK_THROWS_WITH(check.expect_none(), ContainsSubstring("3 x  ") && ContainsSubstring("saved"));
  losses.clear();
  CHECK(check.leaks().empty());
}

TEST_CASE("A tensor in a cycle through its own hook is found, though no name is left for it") {
  const Tensor w = ebb::randn({32, 32}).requires_grad_();
  LeakCheck check;
  auto held = std::make_shared<Tensor>();
  std::weak_ptr<Tensor> inside;
  {
    Tensor y = w * 2;
    *held = y;
    y.register_hook([held](const Tensor& grad) { return held->defined() ? grad * 2 : grad; });
    inside = held;
    held.reset();
  }
  const auto leaks = check.leaks();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].sizes == std::vector<int64_t>{32, 32});
  CHECK(leaks[0].bytes == 4096);
  { const Tensor last = std::move(*inside.lock()); }  // opens the cycle
  CHECK(check.leaks().empty());
}

TEST_CASE("Tensors that share memory are one leak, with the sizes of the first") {
  const LeakCheck check;
  const Tensor rows = ebb::zeros({8, 128});
  const Tensor row = rows[3];
  const Tensor flat = rows.view({-1});
  REQUIRE(check.leaks().size() == 1);
  CHECK(check.leaks()[0].sizes == std::vector<int64_t>{8, 128});
}

TEST_CASE("A view that outlives its base is a leak of the whole base") {
  const LeakCheck check;
  Tensor row;
  {
    const Tensor rows = ebb::zeros({8, 128});
    row = rows[3];
  }
  REQUIRE(check.leaks().size() == 1);
  CHECK(check.leaks()[0].bytes == 8 * 128 * 4);
}

TEST_CASE("Checks nest, and each sees what was allocated since it was made") {
  const LeakCheck outer;
  const Tensor a = ebb::zeros({16});
  auto inner = std::make_unique<LeakCheck>();
  const Tensor b = ebb::zeros({32});
  CHECK(outer.leaks().size() == 2);
  REQUIRE(inner->leaks().size() == 1);
  CHECK(inner->leaks()[0].sizes == std::vector<int64_t>{32});
  const LeakCheck later;
  inner.reset();  // not the last one that was made
  const Tensor c = ebb::zeros({64});
  CHECK(outer.leaks().size() == 3);
  CHECK(later.leaks().size() == 1);
}

TEST_CASE("Memory that was there before the check is not its leak, even when it is used again") {
  Tensor before = ebb::zeros({256});
  const LeakCheck check;
  const Tensor view = before.view({16, 16});
  CHECK(check.leaks().empty());
  before = ebb::zeros({256});  // another block
  CHECK(check.leaks().size() == 1);
}

TEST_CASE("A storage without a tensor, and the scratch of an op, are reported as such") {
  const ebb::Device device = ebb::get_default_device();
  const LeakCheck check;
  const ebb::Storage storage = ebb::Storage::allocate(3000, device);
  const ebb::memory::Workspace scratch(700, device);
  const auto leaks = check.leaks();
  REQUIRE(leaks.size() == 2);
  CHECK_FALSE(leaks[0].is_tensor);
  CHECK(leaks[0].bytes == 3072);
  CHECK(leaks[1].category == Category::workspace);
  CHECK_THROWS_WITH(check.expect_none(), ContainsSubstring("no tensor  workspace"));
}

TEST_CASE("What other threads allocate during a check counts", "[threads]") {
  const LeakCheck check;
  constexpr int kThreads = 4;
  std::vector<std::vector<Tensor>> kept(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&kept, i] {
      const LeakCheck own;
      for (int k = 0; k < 50; ++k) {
        const Tensor t = ebb::zeros({8 + k});
        if (k % 10 == 0) kept[static_cast<size_t>(i)].push_back(t);
      }
      CHECK_NOTHROW(static_cast<void>(own.leaks()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(check.leaks().size() == kThreads * 5);
  kept.clear();
  CHECK(check.leaks().empty());
}

TEST_CASE("Leaks that look alike share a line, and a long table is cut") {
  const LeakCheck check;
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i) kept.push_back(ebb::zeros({1000}));
  CHECK_THAT(ebb::memory::describe(check.leaks()),
             ContainsSubstring("20480 bytes     5 x") && ContainsSubstring("Float [1000]"));
  for (int i = 1; i <= 40; ++i) kept.push_back(ebb::zeros({i}));
  CHECK_THAT(ebb::memory::describe(check.leaks()), ContainsSubstring("and 21 lines more"));
}
