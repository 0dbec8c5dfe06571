#include <ebb/core/memory/limits.h>

#include <algorithm>

#include <ebb/core/memory/registry.h>

namespace ebb::memory {

MemoryLimitGuard::MemoryLimitGuard(Device device, size_t bytes)
    : allocator_(allocator(device)), outer_(allocator_.limit()) {
  if (bytes != 0) allocator_.set_limit(outer_ == 0 ? bytes : std::min(bytes, outer_));
}

MemoryLimitGuard::~MemoryLimitGuard() { allocator_.set_limit(outer_); }

NoGrowthGuard::NoGrowthGuard(Device device) : allocator_(allocator(device)) {
  allocator_.forbid_growth(true);
}

NoGrowthGuard::~NoGrowthGuard() { allocator_.forbid_growth(false); }

}  // namespace ebb::memory
