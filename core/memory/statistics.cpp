#include <ebb/core/memory/statistics.h>

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/registry.h>

namespace ebb::memory {
namespace {

constexpr const char* kMetricNames[kMetrics] = {
    "allocation",     "allocated_bytes", "segment",        "reserved_bytes",
    "active",         "active_bytes",    "inactive_split", "inactive_split_bytes",
    "requested_bytes"};
constexpr const char* kPoolNames[] = {"all", "large_pool", "small_pool"};

void put(std::map<std::string, int64_t>& flat, const std::string& name, const Counter& counter) {
  flat[name + ".current"] = counter.current;
  flat[name + ".peak"] = counter.peak;
  flat[name + ".allocated"] = counter.allocated;
  flat[name + ".freed"] = counter.freed();
}

/// The statistics of a device; all zero while it has no allocator.
Statistics statistics_of(Device device) {
  const CachingAllocator* allocator = find_allocator(device);
  return allocator == nullptr ? Statistics{} : allocator->statistics();
}

template <typename F>
void for_each_counter(Statistics& statistics, F&& f) {
  for (auto& counters : statistics.metrics) {
    for (Counter& counter : counters) f(counter);
  }
  f(statistics.oversize_allocations);
  f(statistics.oversize_segments);
}

}  // namespace

void Statistics::reset_peak() noexcept {
  for_each_counter(*this, [](Counter& counter) { counter.peak = counter.current; });
  for (size_t i = 0; i < categories.size(); ++i) {
    categories[i].peak = categories[i].current;
    categories_at_peak[i] = categories[i].current;
  }
}

void Statistics::reset_accumulated() noexcept {
  for_each_counter(*this, [](Counter& counter) {
    counter.allocated = 0;
    counter.at_reset = counter.current;
  });
  num_alloc_retries = num_ooms = num_sync_all_streams = num_device_alloc = num_device_free = 0;
}

std::map<std::string, int64_t> Statistics::flatten() const {
  std::map<std::string, int64_t> flat;
  for (size_t m = 0; m < metrics.size(); ++m) {
    for (size_t p = 0; p < metrics[m].size(); ++p) {
      put(flat, std::string(kMetricNames[m]) + "." + kPoolNames[p], metrics[m][p]);
    }
  }
  put(flat, "oversize_allocations", oversize_allocations);
  put(flat, "oversize_segments", oversize_segments);
  flat["num_alloc_retries"] = num_alloc_retries;
  flat["num_ooms"] = num_ooms;
  flat["num_sync_all_streams"] = num_sync_all_streams;
  flat["num_device_alloc"] = num_device_alloc;
  flat["num_device_free"] = num_device_free;
  flat["max_split_size"] = max_split_size;
  flat["unsplit_bytes"] = unsplit_bytes;
  return flat;
}

int64_t memory_allocated(Device device) {
  return statistics_of(device).get(Metric::allocated_bytes).current;
}

int64_t max_memory_allocated(Device device) {
  return statistics_of(device).get(Metric::allocated_bytes).peak;
}

int64_t memory_reserved(Device device) {
  return statistics_of(device).get(Metric::reserved_bytes).current;
}

int64_t max_memory_reserved(Device device) {
  return statistics_of(device).get(Metric::reserved_bytes).peak;
}

int64_t unsplit_bytes(Device device) { return statistics_of(device).unsplit_bytes; }

std::map<std::string, int64_t> memory_stats(Device device) {
  return statistics_of(device).flatten();
}

void reset_peak_memory_stats(Device device) {
  if (CachingAllocator* allocator = find_allocator(device)) allocator->reset_peak();
}

void reset_accumulated_memory_stats(Device device) {
  if (CachingAllocator* allocator = find_allocator(device)) allocator->reset_accumulated();
}

int64_t category_bytes(Category category, Device device) {
  return statistics_of(device).categories[static_cast<size_t>(category)].current;
}

int64_t max_category_bytes(Category category, Device device) {
  return statistics_of(device).categories[static_cast<size_t>(category)].peak;
}

std::array<int64_t, kCategories> categories_at_peak(Device device) {
  return statistics_of(device).categories_at_peak;
}

}  // namespace ebb::memory
