#pragma once

#include <cstdint>

#include <ebb/core/export.h>

namespace ebb::memory {

class CachingAllocator;

namespace detail {

/// Peak and net bytes and the number of requests of an allocator from now on, whatever other
/// trackers do and whoever resets the statistics.
class EBB_API PeakTracker {
 public:
  explicit PeakTracker(CachingAllocator& allocator) noexcept;
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

 private:
  friend class ebb::memory::CachingAllocator;

  CachingAllocator& allocator_;
  PeakTracker* previous_ = nullptr;
  PeakTracker* next_ = nullptr;
  int64_t start_ = 0;
  int64_t peak_ = 0;
  int64_t requests_at_start_ = 0;
};

}  // namespace detail
}  // namespace ebb::memory
