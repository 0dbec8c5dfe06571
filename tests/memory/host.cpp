#include <cmath>
#include <random>

#include <unistd.h>

#include <ebb/core/memory/host_source.h>

#include "catch.h"
#include "memory/helpers.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define TEST_ASAN 1
#endif

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

AllocatorOptions trimming() {
  AllocatorOptions options;
  options.trim = true;
  return options;
}

}  // namespace

TEST_CASE("the host's capacity is not more than the machine's memory") {
  const size_t capacity = host_capacity();
  CHECK(capacity > 16 * kMiB);
  const auto ram =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  CHECK(capacity <= ram);
  HostSource source;
  CHECK(source.capacity() == capacity);
  CHECK(source.available() <= capacity);
  CHECK(source.allocate(capacity + 512) == nullptr);
}

TEST_CASE(
    "pieces of the host are zero at first, writable to the end, and large ones lie on 2 MiB") {
  HostSource source;
  for (const size_t bytes : {size_t{512}, 2 * kMiB, 20 * kMiB, 40 * kMiB, 34 * kMiB + 512}) {
    auto* data = static_cast<char*>(source.allocate(bytes));
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(data) % (bytes >= 32 * kMiB ? 2 * kMiB : 512) == 0);
    CHECK(data[0] == 0);
    data[0] = data[bytes - 1] = 1;
    source.free(data, bytes);
  }
}

TEST_CASE("ever-changing sizes do not make the cache grow without bound") {
  Fixture f("", trimming());
  std::mt19937 random(1);
  int64_t highest = 0;
  int64_t most_active = 0;
  for (int step = 0; step < 4000; ++step) {
    std::vector<Held> activations;
    for (int i = 0; i < 6; ++i) activations.push_back(f.get(random() % (24 * kMiB) + 1));
    const Statistics statistics = f.allocator.statistics();
    highest = std::max(highest, statistics.get(Metric::reserved_bytes).current);
    most_active = std::max(most_active, statistics.get(Metric::active_bytes).current);
  }
  CHECK(highest <= 2 * most_active + static_cast<int64_t>(64 * kMiB));
}

TEST_CASE("sizes that grow from step to step leave no trail of idle segments") {
  Fixture f("", trimming());
  for (size_t step = 0; step < 400; ++step) {
    const Held a = f.get(11 * kMiB + step * 2 * kMiB);
    CHECK(f.reserved() <= static_cast<int64_t>(2 * a->nbytes + 80 * kMiB));
  }
  CHECK(f.stat("num_alloc_retries") == 0);
}

TEST_CASE("trimming leaves what a steady program needs") {
  Fixture f("", trimming());
  const auto step = [&] {
    std::vector<Held> held;
    for (const size_t mib : {30, 70, 50, 12}) held.push_back(f.get(mib * kMiB));
  };
  step();
  const size_t events = f.trace.events().size();
  for (int i = 0; i < 200; ++i) step();
  CHECK(f.trace.events().size() == events);
}

TEST_CASE("near the host's capacity idle segments are collected before the system is pressed") {
  Fixture f("", trimming());
  f.limited.set_capacity(1000 * kMiB);
  { const Held a = f.get(500 * kMiB); }
  const Held b = f.get(600 * kMiB);
  CHECK(f.reserved() <= 1000 * static_cast<int64_t>(kMiB));
  CHECK(f.stat("num_ooms") == 0);
}

TEST_CASE("filling makes every float of fresh and of freed memory NaN") {
  AllocatorOptions options;
  options.hooks.fill = host_hooks().fill;
  options.fill = true;
  HostSource source;
  CachingAllocator allocator(ebb::kCPU, source, options);
  Held a(allocator.allocate(40));
  auto* floats = static_cast<float*>(a->data);
  for (int i = 0; i < 10; ++i) CHECK(std::isnan(floats[i]));
  floats[3] = 1;
  a.reset();
  CHECK(std::isnan(floats[3]));  // no poisoning here: only the fill hook is set
}

TEST_CASE("free blocks and the tail of a block are poisoned through the hooks") {
  static std::vector<std::tuple<char, uintptr_t, size_t>> calls;
  calls.clear();
  AllocatorOptions options;
  options.hooks.poison = [](const void* data, size_t bytes, ebb::Device, StreamId) {
    calls.emplace_back('p', reinterpret_cast<uintptr_t>(data), bytes);
  };
  options.hooks.unpoison = [](const void* data, size_t bytes, ebb::Device, StreamId) {
    calls.emplace_back('u', reinterpret_cast<uintptr_t>(data), bytes);
  };
  Fixture f("", options);
  Held a = f.get(700);
  const auto data = reinterpret_cast<uintptr_t>(a->data);
  a.reset();
  f.allocator.empty_cache();
  CHECK(calls ==
        decltype(calls){
            {'p', data, 2 * kMiB}, {'u', data, 700}, {'p', data, 1024}, {'u', data, 2 * kMiB}});
}

#if defined(TEST_ASAN)
TEST_CASE("AddressSanitizer sees a use beyond the bytes asked for and after the free") {
  Held a(allocate(100, ebb::kCPU));
  auto* bytes = static_cast<char*>(a->data);
  CHECK(__asan_address_is_poisoned(bytes + 99) == 0);
  CHECK(__asan_address_is_poisoned(bytes + 100) == 1);
  CHECK(__asan_address_is_poisoned(bytes + 511) == 1);
  a.reset();
  CHECK(__asan_address_is_poisoned(bytes) == 1);
}
#endif

TEST_CASE("settings can be changed while the program runs") {
  set_allocator_settings("max_split_size_mb:32");
  CHECK(memory_stats().at("max_split_size") == 32 * static_cast<int64_t>(kMiB));
  CHECK_THROWS_AS(set_allocator_settings("nonsense:1"), ebb::ValueError);
  set_allocator_settings("");
  CHECK(memory_stats().at("max_split_size") == -1);
}
