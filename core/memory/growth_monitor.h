#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>

namespace ebb::memory {

/// What the last steps of a program say about its memory.
struct GrowthReport {
  enum class Verdict : uint8_t {
    undecided,  ///< fewer steps than the window holds
    flat,       ///< nothing rises
    cache,      ///< only reserved bytes rise: memory that is kept for reuse, or fragmentation
    leak,       ///< allocated bytes rise: something is held that grows with the steps
  };

  Verdict verdict = Verdict::undecided;
  int64_t steps = 0;  ///< in the window
  /// Bytes a step, from the first reading of the window to the last; may be below zero.
  double allocated_per_step = 0;
  double reserved_per_step = 0;
  /// The same of each category that rises; 0 for the others. Indexed by Category.
  std::array<double, kCategories> rising{};

  /// One line, and one more for each category that rises.
  [[nodiscard]] EBB_API std::string text() const;
};

/// Tells a leak from a cache in a training loop: call step() once a step, at the same place.
///
///     memory::GrowthMonitor monitor;
///     for (auto& batch : *loader) {
///       train(batch);
///       monitor.step();
///     }
///     if (monitor.leaks()) std::cerr << monitor.report().text();
///
/// A quantity rises if every reading of the second half of the window exceeds all of the first
/// half, and in each half the least reading of the later quarter exceeds that of the earlier one:
/// a warm-up that ends, a single jump, and batches of changing size are no growth. A leak of some
/// bytes every n steps shows in a window of 8 n steps or more.
class EBB_API GrowthMonitor {
 public:
  /// `window`: how many of the latest steps to judge by, 8 at least.
  explicit GrowthMonitor(int64_t window = 32, Device device = get_default_device());

  /// Reads the statistics of the device.
  void step();
  [[nodiscard]] GrowthReport report() const;
  [[nodiscard]] bool leaks() const { return report().verdict == GrowthReport::Verdict::leak; }
  /// Forgets the readings.
  void reset() noexcept { readings_.clear(); }

 private:
  struct Reading {
    int64_t allocated = 0;
    int64_t reserved = 0;
    std::array<int64_t, kCategories> categories{};
  };

  const size_t window_;
  const Device device_;
  std::vector<Reading> readings_;  ///< oldest first, at most `window_`
};

}  // namespace ebb::memory
