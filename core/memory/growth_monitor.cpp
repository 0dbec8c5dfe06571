#include <ebb/core/memory/growth_monitor.h>

#include <algorithm>
#include <cstdio>

#include <ebb/core/error.h>
#include <ebb/core/memory/registry.h>

namespace ebb::memory {

namespace {

/// The rule of GrowthMonitor.
bool rises(const std::vector<int64_t>& values) {
  const auto quarter = [&](size_t i) {
    const auto n = static_cast<std::ptrdiff_t>(values.size());
    return values.begin() + n * static_cast<std::ptrdiff_t>(i) / 4;
  };
  const auto least = [&](size_t from, size_t to) {
    return *std::min_element(quarter(from), quarter(to));
  };
  return least(2, 4) > *std::max_element(quarter(0), quarter(2)) && least(1, 2) > least(0, 1) &&
         least(3, 4) > least(2, 3);
}

double slope(const std::vector<int64_t>& values) {
  return static_cast<double>(values.back() - values.front()) /
         static_cast<double>(values.size() - 1);
}

}  // namespace

GrowthMonitor::GrowthMonitor(int64_t window, Device device)
    : window_(static_cast<size_t>(window)), device_(device) {
  EBB_CHECK_AS(ValueError, window >= 8, "GrowthMonitor: a window of ", window,
               " steps says nothing; take 8 or more");
}

void GrowthMonitor::step() {
  const Statistics now = allocator(device_).statistics();
  Reading reading;
  reading.allocated = now.get(Metric::allocated_bytes).current;
  reading.reserved = now.get(Metric::reserved_bytes).current;
  for (size_t i = 0; i < kCategories; ++i) reading.categories[i] = now.categories[i].current;
  if (readings_.size() == window_) readings_.erase(readings_.begin());
  readings_.push_back(reading);
}

GrowthReport GrowthMonitor::report() const {
  GrowthReport out;
  out.steps = static_cast<int64_t>(readings_.size());
  if (readings_.size() < window_) return out;
  const auto values = [&](auto&& of) {
    std::vector<int64_t> all;
    for (const Reading& reading : readings_) all.push_back(of(reading));
    return all;
  };
  const auto allocated = values([](const Reading& r) { return r.allocated; });
  const auto reserved = values([](const Reading& r) { return r.reserved; });
  out.allocated_per_step = slope(allocated);
  out.reserved_per_step = slope(reserved);
  for (size_t i = 0; i < kCategories; ++i) {
    const auto category = values([i](const Reading& r) { return r.categories[i]; });
    if (rises(category)) out.rising[i] = slope(category);
  }
  using Verdict = GrowthReport::Verdict;
  out.verdict = rises(allocated)  ? Verdict::leak
                : rises(reserved) ? Verdict::cache
                                  : Verdict::flat;
  return out;
}

std::string GrowthReport::text() const {
  const auto line = [this](const char* what, double bytes) {
    char out[128];
    std::snprintf(out, sizeof out, "%s: %+.0f bytes a step over the last %lld steps\n", what, bytes,
                  static_cast<long long>(steps));
    return std::string(out);
  };
  switch (verdict) {
    case Verdict::undecided:
      return "undecided after " + std::to_string(steps) + " steps\n";
    case Verdict::flat:
      return line("no growth: allocated", allocated_per_step);
    case Verdict::cache:
      return line("a cache grows, allocated memory does not: reserved", reserved_per_step);
    case Verdict::leak:
      break;
  }
  std::string text = line("a leak: allocated", allocated_per_step);
  for (size_t i = 0; i < kCategories; ++i) {
    if (rising[i] != 0) {
      text += line((std::string("  ") + name(static_cast<Category>(i))).c_str(), rising[i]);
    }
  }
  return text;
}

}  // namespace ebb::memory
