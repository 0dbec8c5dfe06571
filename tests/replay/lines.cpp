#include <sstream>
#include <string>

#include "catch.h"
#include "memory/helpers.h"
#include "replay/replay.h"

using Catch::Matchers::ContainsSubstring;
using replay::Setup;
using replay::Trace;
using replay::TraceError;
using test::kMiB;

namespace {

Trace lines(const std::string& text) {
  std::istringstream in(text);
  return replay::read_lines(in, "history.txt");
}

replay::Result result_of(const Trace& trace, const char* settings = "") {
  return replay::run(trace, {ebb::memory::parse_config(settings).config});
}

constexpr auto kBytes = static_cast<int64_t>(kMiB);

}  // namespace

TEST_CASE("a trace of lines is replayed to figures that can be worked out by hand") {
  // 1,000 bytes count as 1,024 and come from a segment of 2 MiB. 30 MiB and 31 MiB need segments of
  // their own, of 30 and 32 MiB, although they are never in use together.
  const Trace trace = lines(
      "# a small block, then two large ones in turn\n"
      "a weights 1000\n"
      "\n"
      "a x 31457280   # 30 MiB\n"
      "f x\r\n"
      "a x 32505856\n"
      "f x\n");
  CHECK(trace.requests() == 3);
  CHECK(trace.device.empty());
  const replay::Result result = result_of(trace);
  CHECK(result.peak_allocated == 31 * kBytes + 1024);
  CHECK(result.peak_reserved == (2 + 30 + 32) * kBytes);
  CHECK(result.segments_taken == 3);
  CHECK(result.ratio() == 64.0 * kMiB / (31.0 * kMiB + 1024));
  CHECK_FALSE(result.failure);

  SECTION("settings change what is reserved, and never what is allocated") {
    // Rounded up to a quarter of a power of two, both are 32 MiB and share a segment.
    const replay::Result rounded = result_of(trace, "roundup_power2_divisions:4");
    CHECK(rounded.peak_reserved == (2 + 32) * kBytes);
    CHECK(rounded.peak_allocated == result.peak_allocated);
    CHECK(rounded.segments_taken == 2);
  }
  SECTION("with a capacity, what is cached goes back before a request fails") {
    const replay::Result tight = replay::run(trace, {.capacity = 34 * kMiB});
    CHECK(tight.peak_reserved == (2 + 32) * kBytes);
    CHECK(tight.segments_taken == 3);
    CHECK_FALSE(tight.failure);
  }
  SECTION("a request that finds no memory ends the replay") {
    const replay::Result none = replay::run(trace, {.capacity = 32 * kMiB});
    REQUIRE(none.failure);
    CHECK(none.failure->request == 3);
    CHECK(none.failure->bytes == 31 * kMiB);
    CHECK_THAT(none.failure->message, ContainsSubstring("Tried to allocate 31.00 MiB"));
    CHECK(none.peak_reserved == (2 + 30) * kBytes);
  }
}

TEST_CASE("the host's allocator gives idle segments back as sizes change") {
  std::string text;
  for (int mib = 100; mib < 200; ++mib) {
    text += "a x " + std::to_string(mib * kBytes) + "\nf x\n";
  }
  // Segments are multiples of 2 MiB, so that 101 and 102 MiB share one of 102 MiB, and so on; the
  // device's allocator keeps them all.
  const Trace trace = lines(text);
  const replay::Result device = result_of(trace);
  const replay::Result host = replay::run(trace, {.trims = true});
  int64_t every_even = 0;
  for (int mib = 100; mib <= 200; mib += 2) every_even += mib * kBytes;
  CHECK(device.peak_reserved == every_even);
  CHECK(host.peak_allocated == device.peak_allocated);
  // At most one and a half times what was in use lately, with the new segment, and 64 MiB.
  CHECK(host.peak_reserved <= 200 * kBytes * 3 / 2 + 64 * kBytes);
}

TEST_CASE("a hundred gigabytes are replayed without memory") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "a " + std::to_string(i) + " 1073741824\n";
  const replay::Result result = result_of(lines(text));
  CHECK(result.peak_allocated == int64_t{100} << 30);
  CHECK(result.peak_reserved == int64_t{100} << 30);
}

TEST_CASE("a line that is not in order is named with its number") {
  const auto error = [](const std::string& text) {
    try {
      static_cast<void>(lines(text));
    } catch (const TraceError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(error("a x 1\n\nb x 1\n") ==
        "history.txt:3: a line is `a ID BYTES` or `f ID`, not `b x 1`");
  CHECK_THAT(error("a x\n"), ContainsSubstring("history.txt:1: a line is"));
  CHECK_THAT(error("a x 1 2\n"), ContainsSubstring("history.txt:1: a line is"));
  CHECK_THAT(error("a x 1\nf x x\n"), ContainsSubstring("history.txt:2: a line is"));
  CHECK(error("a x 12MB\n") == "history.txt:1: `12MB` is not a number of bytes");
  CHECK(error("a x -1\n") == "history.txt:1: `-1` is not a number of bytes");
  CHECK_THAT(error("a x 99999999999999999999\n"), ContainsSubstring("is not a number of bytes"));
  CHECK(error("a x 1\na x 2\n") == "history.txt:2: `x` is in use already");
  CHECK(error("a x 1\nf x\nf x\n") == "history.txt:3: `x` is not in use");
  CHECK(error("# nothing\n") == "history.txt: nothing is allocated in it");
  CHECK(error("a x 0\nf x\n") == "none");
}
