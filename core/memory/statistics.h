#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>

namespace ebb::memory {

/// One counted quantity: now, at most since the last reset_peak, and totals since the last
/// reset_accumulated.
struct Counter {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t at_reset = 0;  ///< `current` at the last reset_accumulated

  void add(int64_t amount) noexcept {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void subtract(int64_t amount) noexcept { current -= amount; }
  [[nodiscard]] int64_t freed() const noexcept { return allocated - (current - at_reset); }
};

/// The arrays of torch.cuda.memory_stats.
enum class Metric : uint8_t {
  allocation,            ///< requests handed out
  allocated_bytes,       ///< their rounded sizes
  segment,               ///< pieces held from the source
  reserved_bytes,        ///< their bytes
  active,                ///< blocks in use or waiting for another stream
  active_bytes,          ///< their bytes
  inactive_split,        ///< free blocks whose segment cannot be returned, since it is split
  inactive_split_bytes,  ///< their bytes
  requested_bytes,       ///< bytes asked for by the caller
};
inline constexpr int kMetrics = 9;

/// All statistics of one allocator.
struct EBB_API Statistics {
  enum PoolType { all, large_pool, small_pool };

  std::array<std::array<Counter, 3>, kMetrics> metrics{};
  Counter oversize_allocations;
  Counter oversize_segments;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
  int64_t max_split_size = -1;
  /// Bytes of allocated blocks beyond what is counted for them.
  int64_t unsplit_bytes = 0;

  struct CategoryBytes {
    int64_t current = 0;
    int64_t peak = 0;
  };
  std::array<CategoryBytes, kCategories> categories{};
  /// The categories at the moment when allocated bytes were last higher than ever before.
  std::array<int64_t, kCategories> categories_at_peak{};

  [[nodiscard]] const Counter& get(Metric metric, PoolType pool = all) const noexcept {
    return metrics[static_cast<size_t>(metric)][pool];
  }
  void add(Metric metric, PoolType pool, int64_t amount) noexcept {
    auto& counters = metrics[static_cast<size_t>(metric)];
    counters[all].add(amount);
    counters[pool].add(amount);
  }
  void subtract(Metric metric, PoolType pool, int64_t amount) noexcept {
    auto& counters = metrics[static_cast<size_t>(metric)];
    counters[all].subtract(amount);
    counters[pool].subtract(amount);
  }
  /// A net change: counted as allocated or as freed.
  void change(Metric metric, PoolType pool, int64_t amount) noexcept {
    amount >= 0 ? add(metric, pool, amount) : subtract(metric, pool, -amount);
  }

  void reset_peak() noexcept;
  void reset_accumulated() noexcept;
  /// The flat form of torch.cuda.memory_stats, 122 keys such as `allocated_bytes.all.peak`, and
  /// `unsplit_bytes`.
  [[nodiscard]] std::map<std::string, int64_t> flatten() const;
};

/// Bytes of tensor data and scratch in use, each request counted as rounded(bytes).
[[nodiscard]] EBB_API int64_t memory_allocated(Device device = get_default_device());
/// The highest memory_allocated since the last reset_peak_memory_stats.
[[nodiscard]] EBB_API int64_t max_memory_allocated(Device device = get_default_device());
/// Bytes held from the device: in use, or cached for the next requests.
[[nodiscard]] EBB_API int64_t memory_reserved(Device device = get_default_device());
[[nodiscard]] EBB_API int64_t max_memory_reserved(Device device = get_default_device());
/// How much larger the blocks in use are than what is counted for them.
[[nodiscard]] EBB_API int64_t unsplit_bytes(Device device = get_default_device());

/// Every statistic under its name in torch.cuda.memory_stats, such as `allocated_bytes.all.peak`.
[[nodiscard]] EBB_API std::map<std::string, int64_t> memory_stats(Device device = get_default_device());
/// The statistics as a table for people. `abbreviated` leaves out the rows of the two pools.
[[nodiscard]] EBB_API std::string memory_summary(Device device = get_default_device(), bool abbreviated = false);

/// Every peak becomes the present value. Scopes and measure() keep peaks of their own.
EBB_API void reset_peak_memory_stats(Device device = get_default_device());
/// The totals of allocated and freed, and the counts of events, become 0.
EBB_API void reset_accumulated_memory_stats(Device device = get_default_device());

/// Bytes of a category now.
[[nodiscard]] EBB_API int64_t category_bytes(Category category, Device device = get_default_device());
/// The most bytes of a category since the last reset_peak_memory_stats.
[[nodiscard]] EBB_API int64_t max_category_bytes(Category category, Device device = get_default_device());
/// Bytes of each category at the moment when memory_allocated had its peak; their sum is
/// max_memory_allocated. Indexed by Category.
[[nodiscard]] EBB_API std::array<int64_t, kCategories> categories_at_peak(Device device = get_default_device());

}  // namespace ebb::memory
