#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("a block that is freed serves the next request of its size") {
  Fixture f;
  Held a = f.get(1000);
  void* data = a->data;
  a.reset();
  const Held b = f.get(900);
  CHECK(b->data == data);
  CHECK(b->nbytes == 900);
  CHECK(f.trace.events().size() == 1);
}

TEST_CASE("the smallest block that fits is taken, the lowest address among equals") {
  Fixture f;
  std::vector<Held> blocks;
  for (const size_t kib : {8, 1, 4, 1, 16, 1, 4, 1}) blocks.push_back(f.get(kib * 1024));
  void* first_of_four = blocks[2]->data;
  void* second_of_four = blocks[6]->data;
  blocks[0].reset();
  blocks[6].reset();
  blocks[4].reset();
  blocks[2].reset();
  (void)f.stat("segment.all.current");  // brings the blocks from the front cache to the pool
  const Held a = f.get(3 * 1024 + 1);
  const Held b = f.get(4 * 1024);
  CHECK(a->data == first_of_four);
  CHECK(b->data == second_of_four);
  f.allocator.check_invariants();
}

TEST_CASE("small and large requests use segments of their own") {
  Fixture f;
  const Held small = f.get(kMiB);
  CHECK(f.stat("reserved_bytes.small_pool.current") == 2 * kMiB);
  const Held large = f.get(kMiB + 1);
  CHECK(f.stat("reserved_bytes.large_pool.current") == 20 * kMiB);
  const Held own = f.get(30 * kMiB + 1);
  CHECK(f.stat("reserved_bytes.large_pool.current") == 52 * kMiB);
}

TEST_CASE("a small block is split if 512 bytes are left") {
  Fixture f;
  const Held a = f.get(kMiB);
  const Held b = f.get(kMiB - 512);
  CHECK(f.stat("inactive_split_bytes.all.current") == 512);
  const Held c = f.get(1);
  CHECK(f.stat("inactive_split_bytes.all.current") == 0);
  CHECK(f.stat("segment.all.current") == 1);
}

TEST_CASE("a large block is split only if more than 1 MiB is left") {
  Fixture f;
  const Held a = f.get(11 * kMiB);  // a segment of 12 MiB: exactly 1 MiB is left
  CHECK(test::block_size_of(a) == 12 * kMiB);
  CHECK(f.stat("unsplit_bytes") == kMiB);
  CHECK(f.allocated() == 11 * kMiB);
  CHECK(f.stat("active_bytes.all.current") == 12 * kMiB);
  const Held b = f.get(11 * kMiB - 512);
  CHECK(test::block_size_of(b) == 11 * kMiB - 512);
  CHECK(f.stat("inactive_split_bytes.all.current") == kMiB + 512);
}

TEST_CASE("freed neighbours merge, whatever the order") {
  Fixture f;
  const auto order = GENERATE(
      table<int, int, int>({{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
  Held blocks[3] = {f.get(4 * kMiB), f.get(6 * kMiB), f.get(5 * kMiB)};
  for (const int i : {std::get<0>(order), std::get<1>(order), std::get<2>(order)}) {
    blocks[i].reset();
    f.allocator.check_invariants();
  }
  CHECK(f.stat("inactive_split.all.current") == 0);
  f.allocator.empty_cache();
  CHECK(f.reserved() == 0);
  CHECK(f.addresses.pieces() == 0);
}

TEST_CASE("a segment with a block in use stays when the cache is emptied") {
  Fixture f;
  Held a = f.get(2 * kMiB);
  const Held b = f.get(2 * kMiB);
  Held c = f.get(40 * kMiB);
  a.reset();
  c.reset();
  f.allocator.empty_cache();
  CHECK(f.reserved() == 20 * kMiB);
  CHECK(f.stat("num_device_free") == 1);
}

TEST_CASE("blocks of max_split_size and more are never split and serve only large requests") {
  Fixture f("max_split_size_mb:32");
  Held big = f.get(60 * kMiB);
  void* data = big->data;
  CHECK(f.stat("max_split_size") == 32 * kMiB);
  CHECK(f.stat("oversize_allocations.current") == 1);
  CHECK(f.stat("oversize_segments.current") == 1);
  big.reset();
  CHECK(f.stat("oversize_allocations.current") == 0);
  const Held below = f.get(16 * kMiB);  // would have been cut off the cached block
  CHECK(below->data != data);
  Held much_less = f.get(40 * kMiB);  // 20 MiB too large: refused
  CHECK(much_less->data != data);
  const Held close = f.get(40 * kMiB + 512);
  CHECK(close->data == data);
  CHECK(test::block_size_of(close) == 60 * kMiB);
  CHECK(f.stat("unsplit_bytes") == 20 * kMiB - 512);
}

TEST_CASE("without max_split_size the statistics say -1") {
  Fixture f;
  CHECK(f.stat("max_split_size") == -1);
}

TEST_CASE("without caching every request goes to the source and back") {
  AllocatorOptions options;
  options.caching = false;
  Fixture f("", options);
  Held a = f.get(1000);
  const Held b = f.get(3 * kMiB + 1);
  CHECK(f.reserved() == 1024 + 3 * kMiB + 512);
  a.reset();
  CHECK(f.reserved() == 3 * kMiB + 512);
  f.allocator.check_invariants();
  CHECK(f.addresses.pieces() == 1);
}

TEST_CASE("what is allocated does not depend on what is cached") {
  Fixture cold;
  Fixture warm;
  std::vector<Held> odd;
  for (size_t i = 0; i < 40; ++i) odd.push_back(warm.get(i * 100'003 % 3'000'000 + 1));
  odd.clear();
  for (Fixture* f : {&cold, &warm}) f->allocator.reset_peak();
  std::vector<Held> held[2];
  for (const size_t bytes : {100, 5'000'000, 70'000, 11'000'000, 513}) {
    held[0].push_back(cold.get(bytes));
    held[1].push_back(warm.get(bytes));
  }
  CHECK(cold.allocated() == warm.allocated());
  CHECK(cold.stat("allocated_bytes.all.peak") == warm.stat("allocated_bytes.all.peak"));
}

TEST_CASE("a reserved segment serves later requests and is not given back before empty_cache") {
  Fixture f;
  f.allocator.reserve(100 * kMiB + 1);
  CHECK(f.reserved() == 102 * kMiB);
  CHECK(f.allocated() == 0);
  std::vector<Held> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(f.get(10 * kMiB));
  CHECK(f.trace.events().size() == 1);
  blocks.clear();
  f.allocator.empty_cache();
  CHECK(f.reserved() == 0);
  f.allocator.reserve(0);
  CHECK(f.reserved() == 0);
}
