#pragma once

#include <cstddef>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>

namespace ebb::memory {

class CachingAllocator;

/// Until its end, `device` may hold at most `bytes` bytes (as set_memory_limit; all threads count).
/// A guard never allows more than the one around it; 0 leaves what is in force. Cached memory
/// beyond the limit is given back at once. The former limit is in force again at the end; guards of
/// one device end in the reverse order of their making. Engines on several threads that need limits
/// of their own take a Pool with limit_bytes.
class EBB_API MemoryLimitGuard {
 public:
  MemoryLimitGuard(Device device, size_t bytes);
  ~MemoryLimitGuard();
  MemoryLimitGuard(const MemoryLimitGuard&) = delete;
  MemoryLimitGuard& operator=(const MemoryLimitGuard&) = delete;

 private:
  CachingAllocator& allocator_;
  size_t outer_;
};

/// Until its end, `device` gives ebb no further memory: a request that cached memory serves
/// succeeds, any other throws OutOfMemoryError, with op and scope in the message, and the cache
/// stays as it is. For programs that must not grow after their warm-up. It holds for the requests
/// of all threads and pools of the device; guards may overlap and end in any order.
class EBB_API NoGrowthGuard {
 public:
  explicit NoGrowthGuard(Device device = get_default_device());
  ~NoGrowthGuard();
  NoGrowthGuard(const NoGrowthGuard&) = delete;
  NoGrowthGuard& operator=(const NoGrowthGuard&) = delete;

 private:
  CachingAllocator& allocator_;
};

}  // namespace ebb::memory
