#include <array>
#include <cstdio>
#include <string>

#include <ebb/core/memory/registry.h>
#include <ebb/core/memory/statistics.h>

namespace ebb::memory {
namespace {

constexpr size_t kWidth = 75;  // between the bars
constexpr size_t kColumns = 4;

using Values = std::array<int64_t, kColumns>;

Values values_of(const Counter& counter) {
  return {counter.current, counter.peak, counter.allocated, counter.freed()};
}

/// How a column is scaled; the unit is that of the group's first row, so that rows can be compared.
using Format = std::string (*)(int64_t value, int64_t guide);

std::string scaled(int64_t value, int64_t guide, int64_t step, int64_t threshold,
                   const char* const* units, size_t unit_count, const char* pattern) {
  size_t unit = 0;
  while (unit + 1 < unit_count && guide >= threshold) {
    guide /= step;
    value /= step;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, pattern, static_cast<long long>(value), units[unit]);
  return text;
}

std::string bytes(int64_t value, int64_t guide) {
  constexpr const char* kUnits[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(value, guide, 1024, 768 * 1024, kUnits, std::size(kUnits), "%6lld %s");
}

std::string count(int64_t value, int64_t guide) {
  constexpr const char* kUnits[] = {" ", "K", "M"};
  return scaled(value, guide, 1000, 750 * 1000, kUnits, std::size(kUnits), "%7lld %s ");
}

std::string bar(char c) { return "|" + std::string(kWidth, c) + "|\n"; }

std::string centred(const std::string& text) {
  const size_t left = (kWidth - text.size()) / 2;
  return "|" + std::string(left, ' ') + text + std::string(kWidth - left - text.size(), ' ') +
         "|\n";
}

std::string row(const std::string& label, const Values& values, const Values& guide,
                Format format) {
  std::string line = "| " + label + std::string(22 - label.size(), ' ');
  for (size_t i = 0; i < kColumns; ++i) line += "| " + format(values[i], guide[i]) + " ";
  return line + "|\n";
}

struct Group {
  const char* label;
  Metric metric;
  Format format;
};

}  // namespace

std::string memory_summary(Device device, bool abbreviated) {
  const CachingAllocator* allocator = find_allocator(device);
  const Statistics statistics = allocator == nullptr ? Statistics{} : allocator->statistics();
  const bool cpu = device.is_cpu();
  const std::string reserved = cpu ? "CPU reserved memory" : "GPU reserved memory";
  const std::string segments = cpu ? "CPU reserved segments" : "GPU reserved segments";
  const Group groups[] = {
      {"Allocated memory", Metric::allocated_bytes, bytes},
      {"Active memory", Metric::active_bytes, bytes},
      {"Requested memory", Metric::requested_bytes, bytes},
      {reserved.c_str(), Metric::reserved_bytes, bytes},
      {"Non-releasable memory", Metric::inactive_split_bytes, bytes},
      {"Allocations", Metric::allocation, count},
      {"Active allocs", Metric::active, count},
      {segments.c_str(), Metric::segment, count},
      {"Non-releasable allocs", Metric::inactive_split, count},
  };

  std::string text = bar('=');
  text += centred("ebb memory summary, device " + device.str());
  text += bar('-');
  text += centred("OOMs: " + std::to_string(statistics.num_ooms) +
                  "   |   device alloc retries: " + std::to_string(statistics.num_alloc_retries));
  text += bar('=');
  text += "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  for (const Group& group : groups) {
    text += bar('-');
    const Values all = values_of(statistics.get(group.metric));
    text += row(group.label, all, all, group.format);
    if (abbreviated) continue;
    text += row("      from large pool",
                values_of(statistics.get(group.metric, Statistics::large_pool)), all, group.format);
    text += row("      from small pool",
                values_of(statistics.get(group.metric, Statistics::small_pool)), all, group.format);
  }
  const auto oversize = [&](const std::string& label, const Counter& counter) {
    const Values values = values_of(counter);
    text += bar('-');
    text += row(label, values, values, count);
  };
  oversize("Oversize allocations", statistics.oversize_allocations);
  oversize(cpu ? "Oversize CPU segments" : "Oversize GPU segments", statistics.oversize_segments);
  return text + bar('=');
}

}  // namespace ebb::memory
