#include <ebb/core/memory/pool.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("a pool has memory of its own, which goes back as a whole") {
  Fixture f;
  Held outside = f.get(1000);
  {
    const Pool pool(f.allocator);
    {
      const PoolGuard guard(pool);
      const Held a = f.get(1000);
      const Held b = f.get(3 * kMiB);
      CHECK(pool.allocated_bytes() == 1024 + 3 * kMiB);
      CHECK(pool.reserved_bytes() == 22 * kMiB);
      CHECK(f.allocated() == 2048 + 3 * kMiB);
    }
    CHECK(pool.allocated_bytes() == 0);
    CHECK(pool.reserved_bytes() == 22 * kMiB);
    const Held after = f.get(3 * kMiB);  // not from the pool
    CHECK(f.reserved() == 44 * kMiB);
    f.allocator.check_invariants();
  }
  CHECK(f.reserved() == 22 * kMiB);
  f.allocator.check_invariants();
}

TEST_CASE("blocks that outlive their pool give their segment back when they are freed") {
  Fixture f;
  Held a;
  Held b;
  {
    const Pool pool(f.allocator);
    const PoolGuard guard(pool);
    a = f.get(3 * kMiB);
    b = f.get(40 * kMiB);
  }
  CHECK(f.reserved() == 60 * kMiB);
  b.reset();
  CHECK(f.reserved() == 20 * kMiB);
  f.allocator.check_invariants();
  a.reset();
  CHECK(f.reserved() == 0);
  CHECK(f.addresses.pieces() == 0);
}

TEST_CASE("of several pools the innermost counts, and blocks return to their own") {
  Fixture f;
  const Pool outer(f.allocator);
  const Pool inner(f.allocator);
  Held a;
  {
    const PoolGuard first(outer);
    {
      const PoolGuard second(inner);
      a = f.get(1000);
    }
    const Held b = f.get(1000);
    CHECK(outer.allocated_bytes() == 1024);
    CHECK(inner.allocated_bytes() == 1024);
  }
  a.reset();
  CHECK(inner.allocated_bytes() == 0);
}

TEST_CASE("a guard does not divert requests of another allocator") {
  Fixture f;
  Fixture other;
  const Pool pool(f.allocator);
  const PoolGuard guard(pool);
  const Held a = other.get(1000);
  CHECK(pool.allocated_bytes() == 0);
  CHECK(other.allocated() == 1024);
}

TEST_CASE("a pool may have a source of its own and may forbid splits") {
  Fixture f;
  test::AddressSource own;
  {
    const Pool pool(f.allocator, {.source = &own, .no_split = true});
    const PoolGuard guard(pool);
    const Held a = f.get(1000);
    CHECK(own.pieces() == 1);
    CHECK(f.trace.events().empty());
    CHECK(test::block_size_of(a) == 2 * kMiB);
    CHECK(f.stat("unsplit_bytes") == 2 * kMiB - 1024);
  }
  CHECK(own.pieces() == 0);
  CHECK_FALSE(own.wrong());
}

TEST_CASE("a pool may help out before a request fails") {
  Fixture f;
  f.limited.set_capacity(40 * kMiB);
  const bool helps = GENERATE(true, false);
  const Pool pool(f.allocator, {.use_on_oom = helps});
  {
    const PoolGuard guard(pool);
    const Held a = f.get(40 * kMiB);
  }
  if (helps) {
    const Held b = f.get(30 * kMiB);
    CHECK(pool.allocated_bytes() == 30 * kMiB);
    CHECK(f.stat("num_alloc_retries") == 0);
  } else {
    CHECK_THROWS_WITH(f.get(30 * kMiB),
                      Catch::Matchers::ContainsSubstring("40.00 MiB is free in private pools"));
  }
}

TEST_CASE("a pool on the host's allocator serves the tensors of its guard") {
  const Pool pool;
  const PoolGuard guard(pool);
  const Held a(allocate(5000, ebb::kCPU));
  CHECK(pool.allocated_bytes() == 5120);
}
