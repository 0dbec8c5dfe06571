#include <ebb/core/memory/peak_tracker.h>

#include <ebb/core/memory/caching_allocator.h>

namespace ebb::memory::detail {

PeakTracker::PeakTracker(CachingAllocator& allocator, bool by_category) noexcept
    : allocator_(allocator), by_category_(by_category) {
  allocator_.open(*this);
}

PeakTracker::~PeakTracker() { allocator_.close(*this); }

PeakTracker::Reading PeakTracker::read() noexcept { return allocator_.read(*this); }

std::array<int64_t, kCategories> PeakTracker::categories_at_peak() const noexcept {
  auto above = categories_at_peak_;
  for (size_t i = 0; i < above.size(); ++i) above[i] -= categories_at_start_[i];
  return above;
}

}  // namespace ebb::memory::detail
