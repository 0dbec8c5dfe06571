#include <ebb/core/memory/size_policy.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

TEST_CASE("a request counts as the next multiple of 512 bytes") {
  CHECK(rounded(0) == 0);
  CHECK(rounded(1) == 512);
  CHECK(rounded(512) == 512);
  CHECK(rounded(513) == 1024);
  CHECK(rounded(10 * kMiB + 1) == 10 * kMiB + 512);
}

TEST_CASE("segments are 2 MiB, 20 MiB or the next multiple of 2 MiB") {
  const Config config;
  CHECK(segment_size(512, config) == 2 * kMiB);
  CHECK(segment_size(kMiB, config) == 2 * kMiB);
  CHECK(segment_size(kMiB + 512, config) == 20 * kMiB);
  CHECK(segment_size(10 * kMiB - 512, config) == 20 * kMiB);
  CHECK(segment_size(10 * kMiB, config) == 10 * kMiB);
  CHECK(segment_size(10 * kMiB + 512, config) == 12 * kMiB);
  CHECK(segment_size(33 * kMiB, config) == 34 * kMiB);

  Config large;
  large.large_segment_size = 4 * kMiB;
  CHECK(segment_size(2 * kMiB, large) == 4 * kMiB);
  CHECK(segment_size(7 * kMiB, large) == 8 * kMiB);
}

TEST_CASE("powers of two are divided where the configuration says so") {
  const Config four = parse_config("roundup_power2_divisions:4").config;
  CHECK(block_size(1200, four) == 1536);  // 1280 by the division, then a multiple of 512
  CHECK(block_size(4096, four) == 4096);
  CHECK(block_size(4097, four) == 5120);
  CHECK(block_size(5 * kMiB + 1, four) == 6 * kMiB);
  CHECK(block_size(2000, four) == 2048);

  Fixture f("roundup_power2_divisions:4");
  const Held block = f.get(4097);
  CHECK(test::block_size_of(block) == 5120);
  CHECK(f.allocated() == 4608);  // what is counted does not depend on the configuration
  CHECK(f.stat("unsplit_bytes") == 512);
  CHECK(f.stat("active_bytes.all.current") == 5120);
}

TEST_CASE("zero bytes are a block without memory that counts nowhere") {
  Fixture f;
  const Held block = f.get(0);
  CHECK(block->data == nullptr);
  CHECK(block->nbytes == 0);
  CHECK(block->use_count == 1);
  CHECK(category(block.get()) == Category::temporary);
  set_category(block.get(), Category::parameter);
  hold_saved(block.get());
  unhold_saved(block.get());
  CHECK(f.stat("allocation.all.allocated") == 0);
  CHECK(f.reserved() == 0);
}

TEST_CASE("foreign memory counts nowhere and is given back by its deleter, once") {
  const int64_t before = memory_allocated();
  int deleted = 0;
  char bytes[16] = {};
  Block* block = adopt(
      bytes, sizeof bytes, ebb::kCPU, [](void* n) { ++*static_cast<int*>(n); }, &deleted);
  CHECK(block->data == bytes);
  CHECK(memory_allocated() == before);
  set_category(block, Category::parameter);
  CHECK(category(block) == Category::temporary);
  retain(block);
  release(block);
  CHECK(deleted == 0);
  release(block);
  CHECK(deleted == 1);
  release(adopt(bytes, sizeof bytes, ebb::kCPU, nullptr, nullptr));
}

TEST_CASE("a request of an exbibyte fails at once") {
  Fixture f;
  CHECK_THROWS_AS(f.get(size_t{1} << 60), ebb::OutOfMemoryError);
  CHECK_THROWS_WITH(f.get(~size_t{0}), Catch::Matchers::ContainsSubstring("more than 1EB"));
  CHECK(f.trace.events().empty());
  CHECK(f.stat("num_ooms") == 2);
}
