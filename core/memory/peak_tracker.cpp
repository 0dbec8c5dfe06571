#include <ebb/core/memory/peak_tracker.h>

#include <ebb/core/memory/caching_allocator.h>

namespace ebb::memory::detail {

PeakTracker::PeakTracker(CachingAllocator& allocator) noexcept : allocator_(allocator) {
  allocator_.open(*this);
}

PeakTracker::~PeakTracker() { allocator_.close(*this); }

PeakTracker::Reading PeakTracker::read() noexcept { return allocator_.read(*this); }

}  // namespace ebb::memory::detail
