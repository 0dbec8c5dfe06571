// Limits as scopes: MemoryLimitGuard, NoGrowthGuard, pools with a limit.

#include <ebb/ebb.h>

#include <thread>

#include "catch.h"

using ebb::memory::MemoryLimitGuard;
using ebb::memory::NoGrowthGuard;
using ebb::memory::Pool;
using ebb::memory::PoolGuard;
using ebb::memory::PoolOptions;

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

ebb::Device device() { return ebb::get_default_device(); }

/// A tensor of so many MiB, in float32.
ebb::Tensor mib(int64_t n) { return ebb::empty({n * kMiB / 4}); }

std::string failure(const std::function<void()>& f) {
  try {
    f();
  } catch (const ebb::OutOfMemoryError& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A limit holds to the end of its scope, and the former one comes back") {
  ebb::memory::empty_cache();
  const size_t reserved = static_cast<size_t>(ebb::memory::memory_reserved());
  const size_t before = ebb::memory::memory_limit(device());
  {
    const MemoryLimitGuard outer(device(), reserved + 64 * kMiB);
    CHECK(mib(40).numel() == 10 * kMiB);
    {
      const MemoryLimitGuard inner(device(), reserved + 32 * kMiB);
      CHECK_THROWS_AS(mib(40), ebb::OutOfMemoryError);
      CHECK(mib(30).defined());
      const MemoryLimitGuard cannot_raise(device(), reserved + 1000 * kMiB);
      CHECK_THROWS_AS(mib(40), ebb::OutOfMemoryError);
      const MemoryLimitGuard none(device(), 0);
      CHECK_THROWS_AS(mib(40), ebb::OutOfMemoryError);
    }
    CHECK(mib(40).defined());
    CHECK_THROWS_AS(mib(80), ebb::OutOfMemoryError);
  }
  CHECK(ebb::memory::memory_limit(device()) == before);
  CHECK(mib(80).defined());
}

TEST_CASE("Under a NoGrowthGuard what is cached serves, and all else throws with op and scope") {
  ebb::memory::empty_cache();
  mib(32).reset();
  const int64_t reserved = ebb::memory::memory_reserved();
  const auto kept = mib(32);
  {
    const NoGrowthGuard guard;
    const ebb::memory::Scope scope("steady");
    CHECK_THAT(failure([&] { kept.add(1); }),
               ContainsSubstring("add: ") && ContainsSubstring("In the scope steady.") &&
                   ContainsSubstring("A NoGrowthGuard forbids"));
    CHECK_THROWS_AS(ebb::memory::reserve(device(), 1), ebb::OutOfMemoryError);
    CHECK(ebb::memory::memory_reserved() == reserved);
  }
  CHECK(kept.add(1).defined());
}

TEST_CASE("A warm training step takes nothing from the device") {
  ebb::nn::Sequential net(ebb::nn::Linear(64, 128), ebb::nn::ReLU(), ebb::nn::Linear(128, 10));
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3));
  const auto x = ebb::randn({32, 64});
  const auto y = ebb::zeros({32}, ebb::kLong);
  const auto step = [&] {
    optimizer.zero_grad();
    ebb::cross_entropy_loss(net->forward(x), y).backward();
    optimizer.step();
  };
  step();
  const NoGrowthGuard guard;
  for (int i = 0; i < 5; ++i) CHECK_NOTHROW(step());
}

TEST_CASE("NoGrowthGuards overlap, end in any order, and leave the cache as it is") {
  ebb::memory::empty_cache();
  mib(32).reset();
  const int64_t reserved = ebb::memory::memory_reserved();
  auto first = std::make_unique<NoGrowthGuard>();
  auto second = std::make_unique<NoGrowthGuard>();
  first.reset();
  CHECK_THROWS_AS(mib(40), ebb::OutOfMemoryError);
  CHECK(ebb::memory::memory_reserved() == reserved);
  CHECK(mib(32).defined());
  second.reset();
  CHECK(mib(40).defined());
}

TEST_CASE("A NoGrowthGuard holds for all threads of the device", "[threads]") {
  ebb::memory::empty_cache();
  const NoGrowthGuard guard;
  const ebb::Device where = device();
  std::string message;
  std::thread([&] {
    message = failure([&] { (void)ebb::empty({64 * kMiB / 4}, ebb::TensorOptions(where)); });
  }).join();
  CHECK_THAT(message, ContainsSubstring("NoGrowthGuard"));
}

TEST_CASE("Two engines with limits of their own do not touch each other") {
  const Pool a(device(), {.limit_bytes = 64 * kMiB, .name = "engine a"});
  const Pool b(device(), {.limit_bytes = 64 * kMiB, .name = "engine b"});
  ebb::Tensor of_a;
  ebb::Tensor of_b;
  {
    const PoolGuard guard(a);
    of_a = mib(40).fill_(3);
  }
  {
    const PoolGuard guard(b);
    of_b = mib(20).fill_(4);
    mib(30).reset();  // stays cached
  }
  const int64_t reserved_by_b = b.reserved_bytes();
  CHECK(reserved_by_b == 50 * kMiB);
  {
    const PoolGuard guard(a);
    try {
      (void)of_a.add(1);
      FAIL("the pool has 64 MiB");
    } catch (const ebb::OutOfMemoryError& error) {
      CHECK_THAT(error.what(), ContainsSubstring("the pool \"engine a\", which has reserved 40.00 "
                                                 "MiB, of which 40.00 MiB is allocated; 64.00 MiB "
                                                 "allowed in it") &&
                                   ContainsSubstring("PoolOptions::limit_bytes"));
      CHECK(error.info().pool == "engine a");
      CHECK(error.info().pool_limit == 64 * kMiB);
    }
  }
  CHECK(b.reserved_bytes() == reserved_by_b);
  CHECK(of_b.sum().item<float>() == 4.0f * 5 * kMiB);
  CHECK(of_a.sum().item<float>() == 3.0f * 10 * kMiB);
  {
    const PoolGuard guard(b);  // its own cache goes back for the larger request
    const auto large = mib(40);
    CHECK(b.reserved_bytes() == 60 * kMiB);
  }
}

TEST_CASE("A pool goes back as a whole, however fragmented the others are") {
  ebb::memory::empty_cache();
  // Every second of many tensors stays: the segments of the default pool cannot be returned.
  std::vector<ebb::Tensor> scattered;
  for (int i = 0; i < 40; ++i) scattered.push_back(mib(2));
  for (size_t i = 0; i < scattered.size(); i += 2) scattered[i].reset();
  const int64_t before = ebb::memory::memory_reserved();
  {
    const Pool pool(device());
    const PoolGuard guard(pool);
    for (int64_t n : {1, 5, 12, 30}) mib(n).fill_(1).mul(2);
    CHECK(ebb::memory::memory_reserved() > before);
  }
  CHECK(ebb::memory::memory_reserved() == before);
}

TEST_CASE("The gradients of an engine stay in its pool, also when backward runs there") {
  const Pool pool(device(), {.limit_bytes = 8 * kMiB, .name = "small engine"});
  {
    const PoolGuard guard(pool);
    ebb::nn::Linear layer(16, 4);
    layer(ebb::ones({8, 16})).sum().backward();
    CHECK(pool.allocated_bytes() >= 2 * (512 + 512));
    CHECK_THROWS_AS(mib(9), ebb::OutOfMemoryError);
  }
  CHECK(pool.allocated_bytes() == 0);
}
