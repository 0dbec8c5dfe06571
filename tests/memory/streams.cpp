#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("a block goes only to requests of its own stream") {
  Fixture f;
  Held a = f.get(3 * kMiB);
  void* data = a->data;
  a.reset();
  f.streams.stream = 7;
  const Held other = f.get(3 * kMiB);
  CHECK(other->data != data);
  f.streams.stream = 0;
  const Held same = f.get(3 * kMiB);
  CHECK(same->data == data);
}

TEST_CASE("a block that another stream uses is not used again before that stream has passed") {
  Fixture f;
  Held a = f.get(1000);
  void* data = a->data;
  f.allocator.record_stream(a.get(), 5);
  CHECK(f.streams.alive() == 0);  // the event comes with the free
  a.reset();
  CHECK(f.streams.alive() == 1);
  CHECK(f.allocated() == 0);
  CHECK(f.stat("active_bytes.all.current") == 1024);
  CHECK(f.stat("requested_bytes.all.current") == 1000);
  f.allocator.check_invariants();

  const Held b = f.get(1000);
  CHECK(b->data != data);
  f.streams.pass(5);
  const Held c = f.get(1000);
  CHECK(c->data == data);
  CHECK(f.streams.alive() == 0);
  CHECK(f.stat("active_bytes.all.current") == 2048);
}

TEST_CASE("the block's own stream, zero bytes and foreign memory are ignored by record_stream") {
  Fixture f;
  Held a = f.get(1000);
  f.allocator.record_stream(a.get(), 0);
  f.allocator.record_stream(nullptr, 5);
  const Held empty = f.get(0);
  f.allocator.record_stream(empty.get(), 5);
  const Held foreign(adopt(nullptr, 8, ebb::kCPU, nullptr, nullptr));
  f.allocator.record_stream(foreign.get(), 5);
  record_stream(foreign.get(), 5);
  a.reset();
  CHECK(f.streams.alive() == 0);
  CHECK(f.stat("active.all.current") == 0);
}

TEST_CASE("a block waits for all streams that use it, each recorded once") {
  Fixture f;
  Held a = f.get(2 * kMiB);
  for (const StreamId stream : {5, 6, 5, 6}) f.allocator.record_stream(a.get(), stream);
  a.reset();
  CHECK(f.streams.alive() == 2);
  f.streams.pass(5);
  const Held b = f.get(600);
  CHECK(f.stat("active.all.current") == 2);
  f.streams.pass(6);
  const Held c = f.get(600);
  CHECK(f.stat("active.all.current") == 2);
}

TEST_CASE("an event is not looked at before older ones of its stream have passed") {
  Fixture f;
  Held a = f.get(1000);
  Held b = f.get(2000);
  f.allocator.record_stream(a.get(), 5);
  f.allocator.record_stream(b.get(), 5);
  a.reset();
  b.reset();
  f.streams.pass_event(2);
  f.streams.queries.clear();
  const Held c = f.get(100'000);
  CHECK(f.streams.queries == std::vector<size_t>{1});
  CHECK(f.stat("active.all.current") == 3);
}

TEST_CASE("pending blocks are waited for before a request fails, and the pool is searched again") {
  Fixture f;
  f.limited.set_capacity(20 * kMiB);
  const Held keeps = f.get(2 * kMiB);  // so that the segment cannot be released
  Held a = f.get(9 * kMiB);
  void* data = a->data;
  const Held rest = f.get(9 * kMiB);
  f.allocator.record_stream(a.get(), 5);
  a.reset();
  const Held b = f.get(9 * kMiB);
  CHECK(b->data == data);
  CHECK(f.streams.waits == 1);
  CHECK(f.stat("num_alloc_retries") == 1);
}

TEST_CASE("emptying the cache waits for pending blocks") {
  Fixture f;
  Held a = f.get(30 * kMiB);
  f.allocator.record_stream(a.get(), 5);
  a.reset();
  f.allocator.empty_cache();
  CHECK(f.reserved() == 0);
  CHECK(f.streams.alive() == 0);
  CHECK(f.stat("num_sync_all_streams") == 1);
}

TEST_CASE("a pending block does not merge with its neighbours") {
  Fixture f;
  Held a = f.get(4 * kMiB);
  Held b = f.get(4 * kMiB);
  Held c = f.get(4 * kMiB);
  f.allocator.record_stream(b.get(), 5);
  a.reset();
  b.reset();
  c.reset();
  f.allocator.check_invariants();
  CHECK(f.stat("inactive_split.all.current") == 2);
  f.streams.pass(5);
  const Held other = f.get(512);  // a request looks at the events
  CHECK(f.stat("inactive_split.large_pool.current") == 0);
  f.allocator.check_invariants();
}
