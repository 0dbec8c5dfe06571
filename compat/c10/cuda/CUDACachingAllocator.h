#pragma once

#include <array>
#include <cstdint>

#include <torch/torch.h>

// c10::cuda::CUDACachingAllocator over ebb's caching allocator of each device.

namespace ebb::cuda::CUDACachingAllocator {

enum struct StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };

struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;
};
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;

struct DeviceStats {
  StatArray allocation;
  StatArray segment;
  StatArray active;
  StatArray inactive_split;
  StatArray allocated_bytes;
  StatArray reserved_bytes;
  StatArray active_bytes;
  StatArray inactive_split_bytes;
  StatArray requested_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
  Stat oversize_allocations;
  Stat oversize_segments;
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;
  int64_t max_split_size = 0;
};

namespace detail {

inline Stat stat_of(const memory::Counter& counter) {
  return {counter.current, counter.peak, counter.allocated, counter.freed()};
}

inline StatArray stats_of(const memory::Statistics& statistics, memory::Metric metric) {
  using memory::Statistics;
  return {stat_of(statistics.get(metric, Statistics::all)),
          stat_of(statistics.get(metric, Statistics::small_pool)),
          stat_of(statistics.get(metric, Statistics::large_pool))};
}

}  // namespace detail

/// The statistics of one device; all zero while it was not used.
inline DeviceStats getDeviceStats(DeviceIndex device) {
  const memory::CachingAllocator* allocator = memory::find_allocator(Device(kCUDA, device));
  const memory::Statistics s =
      allocator == nullptr ? memory::Statistics{} : allocator->statistics();
  using memory::Metric;
  DeviceStats stats;
  stats.allocation = detail::stats_of(s, Metric::allocation);
  stats.segment = detail::stats_of(s, Metric::segment);
  stats.active = detail::stats_of(s, Metric::active);
  stats.inactive_split = detail::stats_of(s, Metric::inactive_split);
  stats.allocated_bytes = detail::stats_of(s, Metric::allocated_bytes);
  stats.reserved_bytes = detail::stats_of(s, Metric::reserved_bytes);
  stats.active_bytes = detail::stats_of(s, Metric::active_bytes);
  stats.inactive_split_bytes = detail::stats_of(s, Metric::inactive_split_bytes);
  stats.requested_bytes = detail::stats_of(s, Metric::requested_bytes);
  stats.num_alloc_retries = s.num_alloc_retries;
  stats.num_ooms = s.num_ooms;
  stats.oversize_allocations = detail::stat_of(s.oversize_allocations);
  stats.oversize_segments = detail::stat_of(s.oversize_segments);
  stats.num_sync_all_streams = s.num_sync_all_streams;
  stats.num_device_alloc = s.num_device_alloc;
  stats.num_device_free = s.num_device_free;
  stats.max_split_size = s.max_split_size;
  return stats;
}

inline void emptyCache() { empty_cache(); }
inline void resetPeakStats(DeviceIndex device) { reset_peak_memory_stats(device); }
inline void resetAccumulatedStats(DeviceIndex device) { reset_accumulated_memory_stats(device); }
inline void setMemoryFraction(double fraction, DeviceIndex device) {
  set_per_process_memory_fraction(fraction, device);
}

}  // namespace ebb::cuda::CUDACachingAllocator
