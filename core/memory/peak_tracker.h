#pragma once

#include <array>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>

namespace ebb::memory {

class CachingAllocator;

namespace detail {

/// Peak and net bytes and the number of requests of an allocator from now on, whatever other
/// trackers do and whoever resets the statistics.
class EBB_API PeakTracker {
 public:
  /// `by_category`: also keeps the categories at its peak.
  explicit PeakTracker(CachingAllocator& allocator, bool by_category = false) noexcept;
  ~PeakTracker();
  PeakTracker(const PeakTracker&) = delete;
  PeakTracker& operator=(const PeakTracker&) = delete;

  struct Reading {
    int64_t peak_bytes = 0;  ///< the most above the start
    int64_t net_bytes = 0;   ///< now above the start
    int64_t requests = 0;    ///< of more than zero bytes
  };
  /// What happened since the start.
  [[nodiscard]] Reading read() noexcept;
  [[nodiscard]] CachingAllocator& allocator() const noexcept { return allocator_; }
  /// Bytes of each category at the peak, above the start. Their sum is the peak's bytes if no block
  /// changed its category in between. After read().
  [[nodiscard]] std::array<int64_t, kCategories> categories_at_peak() const noexcept;

 private:
  friend class ebb::memory::CachingAllocator;

  CachingAllocator& allocator_;
  PeakTracker* previous_ = nullptr;
  PeakTracker* next_ = nullptr;
  const bool by_category_;
  std::array<int64_t, kCategories> categories_at_start_{};
  std::array<int64_t, kCategories> categories_at_peak_{};
  int64_t start_ = 0;
  int64_t peak_ = 0;
  int64_t requests_at_start_ = 0;
};

}  // namespace detail
}  // namespace ebb::memory
