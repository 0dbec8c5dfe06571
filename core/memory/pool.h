#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/source.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

class CachingAllocator;
namespace detail {
struct PoolRecord;
}

struct PoolOptions {
  /// Null: the device's. Outlives the pool and all its blocks.
  MemorySource* source = nullptr;
  /// Requests of the default pool that would fail otherwise are served from the pool's free blocks.
  bool use_on_oom = false;
  /// Blocks are never split.
  bool no_split = false;
  /// The most bytes of segments that the pool may hold; 0: as many as the device has. A request
  /// beyond it gives back what the pool itself has cached, and then throws OutOfMemoryError: pools
  /// with limits keep engines of one process apart.
  size_t limit_bytes = 0;
  /// For error messages.
  std::string name{};
};

/// Memory of its own for a part of a program: what is allocated under a PoolGuard comes from
/// segments that nothing else uses, and when the Pool ends they go back to the device as a whole,
/// those with blocks in use as soon as these are freed.
class EBB_API Pool {
 public:
  explicit Pool(Device device = get_default_device(), const PoolOptions& options = {});
  explicit Pool(CachingAllocator& allocator, const PoolOptions& options = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Bytes of segments held by the pool.
  [[nodiscard]] int64_t reserved_bytes() const;
  /// Bytes in use from the pool, counted as in memory_allocated.
  [[nodiscard]] int64_t allocated_bytes() const;

 private:
  friend class PoolGuard;
  CachingAllocator& allocator_;
  detail::PoolRecord* record_;
};

/// While it lives, requests of this thread for the pool's device go to the pool. Of several, the
/// innermost for a device counts. The pool outlives the guard.
class EBB_API PoolGuard {
 public:
  explicit PoolGuard(const Pool& pool) noexcept
      : record_(pool.record_), outer_(thread_state().pool_guard) {
    thread_state().pool_guard = this;
  }
  ~PoolGuard() { thread_state().pool_guard = outer_; }
  PoolGuard(const PoolGuard&) = delete;
  PoolGuard& operator=(const PoolGuard&) = delete;

  [[nodiscard]] detail::PoolRecord* record() const noexcept { return record_; }
  [[nodiscard]] PoolGuard* outer() const noexcept { return outer_; }

 private:
  detail::PoolRecord* record_;
  PoolGuard* outer_;
};

}  // namespace ebb::memory
