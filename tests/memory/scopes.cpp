#include <optional>

#include <ebb/testing/measure.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using ebb::testing::measure;
using ebb::testing::Measurement;
using test::Held;

namespace {

Held get(size_t bytes) { return Held(allocate(bytes, ebb::kCPU)); }

const ScopeReport* find(const std::vector<ScopeReport>& reports, const std::string& name) {
  for (const ScopeReport& report : reports) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a scope keeps its own peak and net bytes") {
  const Held before = get(5000);
  Scope scope("own");
  Held a = get(1000);
  CHECK(scope.peak_bytes() == 1024);
  Held b = get(2000);
  a.reset();
  CHECK(scope.net_bytes() == 2048);
  CHECK(scope.peak_bytes() == 3072);
  CHECK(scope.requests() == 2);
}

TEST_CASE("scopes and resets inside do not disturb a scope") {
  Scope outer("outer");
  { const Held a = get(10'000); }
  {
    Scope inner("inner");
    const Held b = get(1000);
    reset_peak_memory_stats();
    CHECK(inner.peak_bytes() == 1024);
    CHECK(outer.peak_bytes() == 10'240);
  }
  const Held c = get(600);
  CHECK(outer.peak_bytes() == 10'240);
  CHECK(outer.net_bytes() == 1024);
}

TEST_CASE("memory that a scope frees but did not allocate makes its net bytes negative") {
  Held a = get(1000);
  Scope scope("frees");
  a.reset();
  CHECK(scope.net_bytes() == -1024);
  CHECK(scope.peak_bytes() == 0);
}

TEST_CASE("reports add up the calls of each place in the tree") {
  reset_scopes();
  for (int i = 1; i <= 3; ++i) {
    Scope step("step");
    {
      Scope forward("forward");
      const Held a = get(static_cast<size_t>(i) * 1024);
    }
    Scope backward("backward");
    const Held b = get(512);
  }
  const std::vector<ScopeReport> reports = scope_reports();
  const ScopeReport* step = find(reports, "step");
  REQUIRE(step != nullptr);
  CHECK(step->calls == 3);
  CHECK(step->peak_bytes == 3072);
  CHECK(step->net_bytes == 0);
  CHECK(step->requests == 6);
  REQUIRE(step->children.size() == 2);
  CHECK(step->children[0].name == "forward");
  CHECK(step->children[0].peak_bytes == 3072);
  CHECK(step->children[1].peak_bytes == 512);
  CHECK_THAT(scope_summary(), Catch::Matchers::ContainsSubstring("  backward"));
  reset_scopes();
  CHECK(scope_reports().empty());
}

TEST_CASE("module scopes are off until switched on") {
  CHECK_FALSE(scopes_enabled());
  set_scopes_enabled(true);
  CHECK(scopes_enabled());
  set_scopes_enabled(false);
}

TEST_CASE("measure tells peak, net and requests, nested or not") {
  const Held before = get(100'000);
  Measurement inner;
  Held left;
  const Measurement outer = measure([&] {
    { const Held a = get(8192); }
    inner = measure([&] {
      reset_peak_memory_stats();
      left = get(512);
      const Held b = get(1024);
      const Held none = get(0);
    });
  });
  CHECK(inner.peak_bytes == 1536);
  CHECK(inner.net_bytes == 512);
  CHECK(inner.requests == 2);
  CHECK(outer.peak_bytes == 8192);
  CHECK(outer.net_bytes == 512);
  CHECK(outer.requests == 3);
}

TEST_CASE("what a measured callable returns counts as left") {
  const Measurement m = measure([] { return get(1000); });
  CHECK(m.net_bytes == 1024);
}

TEST_CASE("a callable that throws ends its measurement") {
  CHECK_THROWS_AS(measure([] { throw 1; }), int);
  const Measurement m = measure([] { const Held a = get(1); });
  CHECK(m.peak_bytes == 512);
}

TEST_CASE("scopes that end in another order than they began keep their figures") {
  std::optional<ebb::memory::detail::PeakTracker> a(std::in_place, allocator(ebb::kCPU));
  std::optional<ebb::memory::detail::PeakTracker> b(std::in_place, allocator(ebb::kCPU));
  std::optional<ebb::memory::detail::PeakTracker> c(std::in_place, allocator(ebb::kCPU));
  { const Held x = get(1024); }
  b.reset();
  { const Held x = get(2048); }
  CHECK(c->read().peak_bytes == 2048);
  c.reset();
  CHECK(a->read().peak_bytes == 2048);
}
