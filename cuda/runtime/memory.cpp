#include <ebb/cuda/runtime/memory.h>

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/memory/statistics.h>
#include <ebb/cuda/runtime/blas_settings.h>
#include <ebb/cuda/runtime/source.h>

namespace ebb::cuda {

namespace {

/// The device that an index means, whether there is one or not.
Device named(int64_t index) {
  EBB_CHECK(index < kMaxDevices, "there is no device cuda:", index, "; device indices end at ",
            kMaxDevices - 1);
  return Device(kCUDA, index < 0 ? memory::current_device_index(kCUDA)
                                 : static_cast<DeviceIndex>(index));
}

}  // namespace

int64_t memory_allocated(int64_t device) { return memory::memory_allocated(named(device)); }

int64_t max_memory_allocated(int64_t device) { return memory::max_memory_allocated(named(device)); }

int64_t memory_reserved(int64_t device) { return memory::memory_reserved(named(device)); }

int64_t max_memory_reserved(int64_t device) { return memory::max_memory_reserved(named(device)); }

std::map<std::string, int64_t> memory_stats(int64_t device) {
  auto stats = memory::memory_stats(named(device));
  stats["blas_workspace_bytes"] = blas_workspace_bytes(device);
  return stats;
}

std::string memory_summary(int64_t device, bool abbreviated) {
  return memory::memory_summary(named(device), abbreviated);
}

void reset_peak_memory_stats(int64_t device) { memory::reset_peak_memory_stats(named(device)); }

void reset_accumulated_memory_stats(int64_t device) {
  memory::reset_accumulated_memory_stats(named(device));
}

void empty_cache() {
  for (int i = 0; i < kMaxDevices; ++i) {
    memory::empty_cache(Device(kCUDA, static_cast<DeviceIndex>(i)));
  }
}

std::pair<size_t, size_t> mem_get_info(int64_t device) {
  const DeviceMemoryInfo info = device_memory_info(resolve(named(device)).index());
  return {info.free, info.total};
}

void set_per_process_memory_fraction(double fraction, int64_t device) {
  EBB_CHECK_AS(ValueError, fraction >= 0 && fraction <= 1,
               "set_per_process_memory_fraction: the fraction must be in [0, 1], got ", fraction);
  const Device on = resolve(named(device));
  const auto bytes =
      static_cast<size_t>(fraction * static_cast<double>(memory::memory_capacity(on)));
  // A limit of 0 is none, so the least one is a byte.
  memory::set_memory_limit(on, fraction == 1 ? 0 : std::max(bytes, size_t{1}));
}

double get_per_process_memory_fraction(int64_t device) {
  const Device on = resolve(named(device));
  const size_t limit = memory::memory_limit(on);
  if (limit == 0) return 1;
  return static_cast<double>(limit) / static_cast<double>(memory::memory_capacity(on));
}

std::map<std::string, int64_t> host_memory_stats() {
  const auto* allocator = memory::find_pinned_allocator();
  return (allocator == nullptr ? memory::Statistics{} : allocator->statistics()).flatten();
}

void reset_peak_host_memory_stats() {
  if (auto* allocator = memory::find_pinned_allocator()) allocator->reset_peak();
}

void reset_accumulated_host_memory_stats() {
  if (auto* allocator = memory::find_pinned_allocator()) allocator->reset_accumulated();
}

void empty_host_cache() {
  if (auto* allocator = memory::find_pinned_allocator()) allocator->empty_cache();
}

}  // namespace ebb::cuda
