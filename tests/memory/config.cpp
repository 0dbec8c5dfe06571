#include <ebb/core/memory/config.h>

#include <ebb/core/error.h>
#include "catch.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

Config parsed(const std::string& text) { return parse_config(text).config; }

}  // namespace

TEST_CASE("a configuration string sets what it names") {
  const Config config = parsed(
      " max_split_size_mb : 64, max_non_split_rounding_mb:40,large_segment_size_mb:8,"
      "garbage_collection_threshold:0.75,per_process_memory_fraction:0.5,expandable_segments:True");
  CHECK(config.max_split_size == 64 * kMiB);
  CHECK(config.max_non_split_rounding == 40 * kMiB);
  CHECK(config.large_segment_size == 8 * kMiB);
  CHECK(config.garbage_collection_threshold == 0.75);
  CHECK(config.per_process_memory_fraction == 0.5);
  CHECK(config.expandable_segments);
}

TEST_CASE("an empty configuration string is the default") {
  const Config config = parsed("");
  CHECK(config.max_split_size == Config::kUnlimited);
  CHECK(config.large_segment_size == 20 * kMiB);
  CHECK(config.max_non_split_rounding == 20 * kMiB);
  CHECK(config.garbage_collection_threshold == 0);
  CHECK_FALSE(config.divides_powers_of_two);
}

TEST_CASE("setting the string again resets some settings and keeps the others") {
  const Config first = parsed(
      "max_split_size_mb:64,garbage_collection_threshold:0.5,roundup_power2_divisions:4,"
      "large_segment_size_mb:8,max_non_split_rounding_mb:40");
  const Config again = parse_config("", first).config;
  CHECK(again.max_split_size == Config::kUnlimited);
  CHECK(again.garbage_collection_threshold == 0);
  CHECK(again.divisions(3 * kMiB) == 0);
  CHECK(again.large_segment_size == 8 * kMiB);
  CHECK(again.max_non_split_rounding == 40 * kMiB);
}

TEST_CASE("divisions are given for all sizes or by a list of bounds") {
  CHECK(parsed("roundup_power2_divisions:8").divisions(100 * kMiB) == 8);
  const Config list = parsed("roundup_power2_divisions:[64:8,128:4,256:2,>:1]");
  CHECK(list.divisions(1000) == 8);  // the first fills all lower intervals
  CHECK(list.divisions(64 * kMiB) == 8);
  CHECK(list.divisions(128 * kMiB) == 4);
  CHECK(list.divisions(300 * kMiB) == 2);
  CHECK(list.divisions(600 * kMiB) == 1);
  CHECK(list.divisions(size_t{1} << 40) == 1);
  CHECK(parsed("roundup_power2_divisions:[256:0,>:4]").divisions(kMiB) == 0);
}

TEST_CASE("a bad value is an error that says what is allowed") {
  const auto [text, allowed] = GENERATE(table<const char*, const char*>({
      {"max_split_size_mb:19", "at least 20"},
      {"max_split_size_mb:x", "at least 20"},
      {"max_split_size_mb:64MB", "at least 20"},
      {"max_split_size_mb:99999999999999999999", "at least 20"},
      {"max_non_split_rounding_mb:1", "at least 20"},
      {"large_segment_size_mb:0", "at least 2"},
      {"garbage_collection_threshold:1", "above 0 and below 1"},
      {"garbage_collection_threshold:0", "above 0 and below 1"},
      {"garbage_collection_threshold:nan", "above 0 and below 1"},
      {"per_process_memory_fraction:1.5", "from 0 to 1"},
      {"expandable_segments:true", "True or False"},
      {"roundup_power2_divisions:3", "power of two"},
      {"roundup_power2_divisions:[3:4]", "power of two"},
      {"roundup_power2_divisions:[64:3]", "power of two"},
      {"roundup_power2_divisions:[64]", "power of two"},
  }));
  CAPTURE(text);
  CHECK_THROWS_AS(parse_config(text), ebb::ValueError);
  CHECK_THROWS_WITH(parse_config(text), ContainsSubstring(allowed));
}

TEST_CASE("an unknown key is an error that lists the keys") {
  CHECK_THROWS_AS(parse_config("max_split_size:64"), ebb::ValueError);
  CHECK_THROWS_WITH(parse_config("max_split_size:64"),
                    ContainsSubstring("Unrecognized key \"max_split_size\"") &&
                        ContainsSubstring("max_split_size_mb") &&
                        ContainsSubstring("roundup_power2_divisions"));
  CHECK_THROWS_WITH(parse_config("max_split_size_mb"), ContainsSubstring("key:value"));
}

TEST_CASE("a key of PyTorch that means nothing here gives one warning") {
  const ParsedConfig result =
      parse_config("backend:native,pinned_num_register_threads:8,max_split_size_mb:32");
  REQUIRE(result.warnings.size() == 2);
  CHECK_THAT(result.warnings[0], ContainsSubstring("backend"));
  CHECK(result.config.max_split_size == 32 * kMiB);
  CHECK(parse_config("expandable_segments:True").warnings.size() == 1);
  CHECK(parse_config("expandable_segments:False").warnings.empty());
}
