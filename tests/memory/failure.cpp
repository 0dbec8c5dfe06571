#include <ebb/testing/fail_allocation.h>
#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("cached segments are released and the device is asked again before a request fails") {
  Fixture f;
  f.limited.set_capacity(60 * kMiB);
  Held a = f.get(40 * kMiB);
  a.reset();
  const Held b = f.get(50 * kMiB);
  CHECK(f.stat("num_alloc_retries") == 1);
  CHECK(f.stat("num_ooms") == 0);
  CHECK(f.stat("num_sync_all_streams") == 1);
  CHECK(f.reserved() == 50 * kMiB);
}

TEST_CASE("a full device is an OutOfMemoryError with the figures, and the next fit succeeds") {
  Fixture f;
  f.limited.set_capacity(64 * kMiB);
  const Held a = f.get(40 * kMiB);
  try {
    (void)f.get(30 * kMiB);
    FAIL("there is no room for it");
  } catch (const ebb::OutOfMemoryError& error) {
    const OutOfMemoryInfo& info = error.info();
    CHECK(info.requested == 30 * kMiB);
    CHECK(info.capacity == 64 * kMiB);
    CHECK(info.available == 24 * kMiB);
    CHECK(info.reserved == 40 * kMiB);
    CHECK(info.allocated == 40 * kMiB);
    CHECK(info.largest_free_block == 0);
    CHECK_THAT(error.what(), ContainsSubstring("CPU out of memory") &&
                                 ContainsSubstring("Tried to allocate 30.00 MiB") &&
                                 ContainsSubstring("capacity of 64.00 MiB") &&
                                 ContainsSubstring("24.00 MiB is free"));
  }
  CHECK(f.stat("num_ooms") == 1);
  f.allocator.check_invariants();
  const Held b = f.get(24 * kMiB);
  CHECK(f.allocated() == 64 * kMiB);
}

TEST_CASE("the error says when reserved but free memory is in pieces") {
  Fixture f;
  f.limited.set_capacity(40 * kMiB);
  std::vector<Held> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(f.get(4 * kMiB));
  for (size_t i = 0; i < 10; i += 2) blocks[i].reset();
  CHECK_THROWS_WITH(f.get(8 * kMiB), ContainsSubstring("fragmentation") &&
                                         ContainsSubstring("largest free block has 4.00 MiB"));
}

TEST_CASE("where a full segment does not fit, the smallest that holds the request is tried") {
  Fixture f;
  f.limited.set_capacity(3 * kMiB);
  const Held a = f.get(3 * kMiB - 1024);  // a full segment would be 20 MiB
  CHECK(f.reserved() == 3 * kMiB - 1024);
  const Held b = f.get(700);
  CHECK(f.reserved() == 3 * kMiB);
  CHECK_THROWS_AS(f.get(1), ebb::OutOfMemoryError);
}

TEST_CASE("the limit counts reserved bytes, and lowering it gives cached segments back") {
  Fixture f;
  Held a = f.get(30 * kMiB);
  const Held b = f.get(16 * kMiB);
  a.reset();
  CHECK(f.reserved() == 46 * kMiB);
  f.allocator.set_limit(40 * kMiB);
  CHECK(f.reserved() == 16 * kMiB);
  CHECK(f.allocator.limit() == 40 * kMiB);
  CHECK_THROWS_WITH(f.get(26 * kMiB), ContainsSubstring("40.00 MiB allowed"));
  const Held c = f.get(24 * kMiB);
  f.allocator.set_limit(0);
  const Held d = f.get(100 * kMiB);
}

TEST_CASE("reserve beyond the limit fails and leaves nothing") {
  Fixture f;
  f.allocator.set_limit(40 * kMiB);
  CHECK_THROWS_AS(f.allocator.reserve(50 * kMiB), ebb::OutOfMemoryError);
  CHECK_THROWS_AS(f.allocator.reserve(~size_t{0}), ebb::OutOfMemoryError);
  CHECK(f.reserved() == 0);
}

TEST_CASE("a memory fraction is a limit, and 1 is none") {
  Fixture f;
  f.limited.set_capacity(100 * kMiB);
  f.allocator.set_config(parse_config("per_process_memory_fraction:0.5").config);
  CHECK(f.allocator.limit() == 50 * kMiB);
  f.allocator.set_config(parse_config("per_process_memory_fraction:1").config);
  CHECK(f.allocator.limit() == 0);
}

TEST_CASE("with max_split_size a cached oversize segment is released before all others") {
  Fixture f("max_split_size_mb:32");
  f.limited.set_capacity(200 * kMiB);
  Held small = f.get(20 * kMiB);
  Held big = f.get(100 * kMiB);
  Held bigger = f.get(60 * kMiB);
  small.reset();
  big.reset();
  bigger.reset();
  const Held a = f.get(140 * kMiB);  // frees 100 and 60 MiB, the largest first
  CHECK(f.stat("num_alloc_retries") == 0);
  CHECK(f.reserved() == 160 * kMiB);
  const auto& events = f.trace.events();
  std::vector<size_t> freed;
  for (const auto& event : events) {
    if (event.action == TracingSource::Action::free) freed.push_back(event.bytes);
  }
  CHECK(freed == std::vector<size_t>{100 * kMiB, 60 * kMiB});
}

TEST_CASE("with max_split_size one cached segment that is large enough is released alone") {
  Fixture f("max_split_size_mb:32");
  f.limited.set_capacity(200 * kMiB);
  Held a = f.get(60 * kMiB);
  Held b = f.get(120 * kMiB);
  a.reset();
  b.reset();
  const Held c = f.get(90 * kMiB);  // 120 MiB is too large to serve it, but makes room
  CHECK(f.reserved() == 150 * kMiB);
  CHECK(f.stat("num_alloc_retries") == 0);
}

TEST_CASE("garbage collection frees the segments that were free longest") {
  Fixture f("garbage_collection_threshold:0.5");
  f.allocator.set_limit(240 * kMiB);
  const Held clock = f.get(2 * kMiB);  // 18 MiB of a segment are left
  Held old = f.get(60 * kMiB);
  Held young = f.get(50 * kMiB);
  old.reset();
  for (int i = 0; i < 10; ++i) {  // searches of the large pool are the clock
    const Held tick = f.get(2 * kMiB);
  }
  young.reset();
  CHECK(f.reserved() == 130 * kMiB);  // above the threshold of 120 MiB
  const Held big = f.get(64 * kMiB);
  CHECK(f.reserved() == (20 + 50 + 64) * kMiB);
  CHECK(f.stat("num_alloc_retries") == 0);
}

TEST_CASE("free-memory callbacks run before the device is asked") {
  Fixture f;
  Held cached = f.get(30 * kMiB);
  int calls = 0;
  const int id = add_free_memory_callback([&](ebb::Device) {
    ++calls;
    const bool had = cached != nullptr;
    cached.reset();
    return had;
  });
  void* data = cached->data;
  const Held a = f.get(29 * kMiB);
  remove_free_memory_callback(id);
  CHECK(a->data == data);
  CHECK(calls == 1);
  const Held b = f.get(64 * kMiB);
  CHECK(calls == 1);
}

TEST_CASE("a request inside a free-memory callback calls no callbacks") {
  Fixture f;
  int calls = 0;
  const int id = add_free_memory_callback([&](ebb::Device) {
    ++calls;
    const Held inner = f.get(50 * kMiB);
    return true;
  });
  const Held a = f.get(40 * kMiB);
  remove_free_memory_callback(id);
  CHECK(calls == 1);
}

TEST_CASE("observers hear of a failure, and what they throw does not hide it") {
  Fixture f;
  f.limited.set_capacity(kMiB);
  size_t asked = 0;
  const int first = add_out_of_memory_observer([&](const OutOfMemoryInfo& info) {
    asked = info.requested;
    (void)f.allocator.statistics();  // no lock is held
  });
  const int second = add_out_of_memory_observer([](const OutOfMemoryInfo&) { throw 1; });
  CHECK_THROWS_AS(f.get(5 * kMiB), ebb::OutOfMemoryError);
  remove_out_of_memory_observer(first);
  remove_out_of_memory_observer(second);
  CHECK(asked == 5 * kMiB);
}

TEST_CASE("the message names the op that asked") {
  Fixture f;
  f.limited.set_capacity(kMiB);
  const ebb::OpName op("conv2d");
  CHECK_THROWS_WITH(f.get(5 * kMiB), ContainsSubstring("conv2d: CPU out of memory"));
}

TEST_CASE("the n-th request fails even if the cache could serve it") {
  Fixture f;
  { const Held warm = f.get(100); }
  f.allocator.fail_request(2);
  { const Held first = f.get(100); }
  CHECK(f.allocator.requests_until_failure() == 1);
  CHECK_THROWS_WITH(f.get(100), ContainsSubstring("injected"));
  CHECK(f.allocator.requests_until_failure() == 0);
  const Held again = f.get(100);
  f.allocator.check_invariants();
}

TEST_CASE("an injected failure can be taken back and says whether it came") {
  using ebb::testing::FailAllocation;
  {
    const FailAllocation failure(1);
    CHECK_FALSE(failure.fired());
    CHECK_THROWS_AS(allocate(1, ebb::kCPU), ebb::OutOfMemoryError);
    CHECK(failure.fired());
  }
  FailAllocation failure(2);
  release(allocate(0, ebb::kCPU));  // does not count
  release(allocate(1, ebb::kCPU));
  failure.clear();
  CHECK_FALSE(failure.fired());
  release(allocate(1, ebb::kCPU));
  ebb::testing::fail_allocation(1);
  CHECK(ebb::testing::fail_allocation_pending());
  CHECK_THROWS_AS(allocate(1, ebb::kCPU), ebb::OutOfMemoryError);
  CHECK_FALSE(ebb::testing::fail_allocation_pending());
}

TEST_CASE("a source that fails once is asked again") {
  test::AddressSource addresses;
  FailingSource failing(addresses, 2, 2);
  CachingAllocator allocator(ebb::kCPU, failing);
  const Held a(allocator.allocate(5 * kMiB));
  const Held b(allocator.allocate(16 * kMiB));  // the second request to the source; the third works
  CHECK(failing.requests() == 3);
  CHECK(allocator.statistics().num_alloc_retries == 1);
  failing.fail(1, 1000);
  CHECK_THROWS_AS(allocator.allocate(30 * kMiB), ebb::OutOfMemoryError);
  const Held c(allocator.allocate(5 * kMiB));  // from the cache
}
