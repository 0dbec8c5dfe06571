#include <sstream>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("all 122 keys of torch.cuda.memory_stats are there, and unsplit_bytes") {
  const Fixture f;
  const auto stats = f.allocator.statistics().flatten();
  CHECK(stats.size() == 123);
  for (const char* metric :
       {"allocation", "allocated_bytes", "segment", "reserved_bytes", "active", "active_bytes",
        "inactive_split", "inactive_split_bytes", "requested_bytes"}) {
    for (const char* pool : {"all", "large_pool", "small_pool"}) {
      for (const char* kind : {"current", "peak", "allocated", "freed"}) {
        const std::string key = std::string(metric) + "." + pool + "." + kind;
        CAPTURE(key);
        CHECK(stats.count(key) == 1);
      }
    }
  }
  for (const char* key :
       {"oversize_allocations.current", "oversize_allocations.freed", "oversize_segments.peak",
        "oversize_segments.allocated", "num_alloc_retries", "num_ooms", "num_sync_all_streams",
        "num_device_alloc", "num_device_free", "max_split_size", "unsplit_bytes"}) {
    CAPTURE(key);
    CHECK(stats.count(key) == 1);
  }
}

TEST_CASE("allocated and freed are totals, current their difference, peak the highest") {
  Fixture f;
  Held a = f.get(1000);
  Held b = f.get(3 * kMiB);
  a.reset();
  Held c = f.get(500);
  CHECK(f.stat("allocation.all.current") == 2);
  CHECK(f.stat("allocation.all.allocated") == 3);
  CHECK(f.stat("allocation.all.freed") == 1);
  CHECK(f.stat("allocated_bytes.small_pool.current") == 512);
  CHECK(f.stat("allocated_bytes.small_pool.peak") == 1024);
  CHECK(f.stat("allocated_bytes.small_pool.freed") == 1024);
  CHECK(f.stat("allocated_bytes.all.peak") == 3 * kMiB + 1024);
  CHECK(f.stat("requested_bytes.all.current") == 3 * kMiB + 500);
  CHECK(f.stat("requested_bytes.all.allocated") == 3 * kMiB + 1500);
  CHECK(f.stat("num_device_alloc") == 2);
}

TEST_CASE("resets start peaks and totals anew and leave the present") {
  Fixture f;
  const Held a = f.get(1000);
  { const Held b = f.get(5000); }
  f.allocator.reset_peak();
  f.allocator.reset_accumulated();
  CHECK(f.stat("allocated_bytes.all.current") == 1024);
  CHECK(f.stat("allocated_bytes.all.peak") == 1024);
  CHECK(f.stat("allocated_bytes.all.allocated") == 0);
  CHECK(f.stat("allocated_bytes.all.freed") == 0);
  CHECK(f.stat("num_device_alloc") == 0);
  { const Held b = f.get(600); }
  CHECK(f.stat("allocated_bytes.all.allocated") == 1024);
  CHECK(f.stat("allocated_bytes.all.freed") == 1024);
}

TEST_CASE("inactive split blocks follow splits and merges") {
  Fixture f;
  Held a = f.get(4 * kMiB);  // splits an unsplit block: adds the tail
  CHECK(f.stat("inactive_split.all.current") == 1);
  CHECK(f.stat("inactive_split_bytes.all.current") == 16 * kMiB);
  Held b = f.get(4 * kMiB);  // shrinks the tail
  CHECK(f.stat("inactive_split_bytes.all.current") == 12 * kMiB);
  CHECK(f.stat("inactive_split_bytes.all.freed") == 4 * kMiB);
  Held c = f.get(12 * kMiB);  // takes the rest whole
  CHECK(f.stat("inactive_split.all.current") == 0);
  b.reset();
  CHECK(f.stat("inactive_split_bytes.all.current") == 4 * kMiB);
  a.reset();  // merges
  CHECK(f.stat("inactive_split.all.current") == 1);
  CHECK(f.stat("inactive_split_bytes.all.current") == 8 * kMiB);
  c.reset();  // the segment is one block again
  CHECK(f.stat("inactive_split_bytes.all.current") == 0);
}

TEST_CASE("the statistics of the host go through one device by default") {
  const int64_t before = memory_allocated();
  const Held a(allocate(1'000'000, ebb::kCPU));
  CHECK(memory_allocated() == before + 1'000'448);
  CHECK(memory_allocated(ebb::Device("cpu")) == memory_allocated());
  CHECK(max_memory_allocated() >= memory_allocated());
  CHECK(memory_reserved() >= memory_allocated());
  CHECK(max_memory_reserved() >= memory_reserved());
  CHECK(memory_stats().at("allocated_bytes.all.current") == memory_allocated());
  CHECK(unsplit_bytes() >= 0);
  CHECK(memory_capacity() > 0);
  CHECK(a->device == ebb::Device(ebb::kCPU));
  reset_peak_memory_stats();
  CHECK(max_memory_allocated() == memory_allocated());
  reset_accumulated_memory_stats();
  CHECK(memory_stats().at("allocation.all.allocated") == 0);
  int64_t sum = 0;
  for (const int64_t bytes : categories_at_peak()) sum += bytes;
  CHECK(sum == max_memory_allocated());
  set_memory_limit(ebb::kCPU, size_t{1} << 40);
  CHECK(memory_limit() == size_t{1} << 40);
  set_memory_limit(ebb::kCPU, 0);
  empty_cache();
  allocator(ebb::kCPU).check_invariants();
}

TEST_CASE("a device that is not there has zeros and refuses requests") {
  const ebb::Device missing(ebb::kCUDA, 13);
  CHECK(memory_allocated(missing) == 0);
  CHECK(memory_limit(missing) == 0);
  CHECK_THROWS_WITH(allocate(1, missing),
                    Catch::Matchers::ContainsSubstring("no CUDA device") ||
                        Catch::Matchers::ContainsSubstring("no device cuda:13"));
  empty_cache(missing);
}

TEST_CASE("the source of a device is set before its first use or not at all") {
  release(allocate(1, ebb::kCPU));
  test::AddressSource source;
  CHECK_THROWS_WITH(set_source(ebb::kCPU, source),
                    Catch::Matchers::ContainsSubstring("before the first tensor"));
}

TEST_CASE("the host program's own source serves a device from its first use") {
  static test::AddressSource arena;  // outlives the device's allocator
  const ebb::Device device(ebb::kCUDA, 12);
  set_source(device, arena);
  static test::AddressSource fake;
  register_device(device, {&fake, nullptr, {}});
  const Held a(allocate(1000, device));
  CHECK(arena.pieces() == 1);
  CHECK(a->device == device);
  CHECK(memory_allocated(device) == 1024);
  CHECK_THROWS_AS(set_source(device, arena), ebb::Error);
  CHECK_THROWS_AS(register_device(device, {}), ebb::Error);
}

TEST_CASE("the summary is a table of one width with a row per figure") {
  const std::string full = memory_summary();
  std::istringstream lines(full);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    CAPTURE(line);
    CHECK(line.size() == 77);
    CHECK(line.front() == '|');
    CHECK(line.back() == '|');
  }
  CHECK(rows == 6 + 9 * 4 + 2 * 2 + 1);
  for (const char* label :
       {"Cur Usage", "Allocated memory", "Requested memory", "CPU reserved memory",
        "Non-releasable allocs", "from large pool", "Oversize allocations"}) {
    CHECK_THAT(full, Catch::Matchers::ContainsSubstring(label));
  }
  CHECK(memory_summary(ebb::kCPU, true).find("from large pool") == std::string::npos);
}
