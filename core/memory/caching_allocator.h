#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/memory/block_record.h>
#include <ebb/core/memory/config.h>
#include <ebb/core/memory/front_cache.h>
#include <ebb/core/memory/history.h>
#include <ebb/core/memory/lock.h>
#include <ebb/core/memory/out_of_memory.h>
#include <ebb/core/memory/peak_tracker.h>
#include <ebb/core/memory/size_policy.h>
#include <ebb/core/memory/source.h>
#include <ebb/core/memory/statistics.h>
#include <ebb/core/memory/stream.h>
#include <ebb/core/memory/sub_pool.h>

namespace ebb::memory {

namespace detail {
class EventLog;
}

/// How an allocator behaves beyond its source.
struct AllocatorOptions {
  Config config{};
  /// Null: one stream, no events, as on the host.
  Streams* streams = nullptr;
  MemoryHooks hooks{};
  /// False: every request goes to the source and back (EBB_NO_CACHING=1).
  bool caching = true;
  /// Fill with 0xff on allocate and on free (EBB_FILL=nan).
  bool fill = false;
  /// Give back idle segments as sizes change, and collect garbage against the source's capacity:
  /// for memory that others need too, such as the host's.
  bool trim = false;
};

struct PoolOptions;

/// A block in use, as it is now.
struct BlockInUse {
  const Block* block = nullptr;  ///< to compare, not to follow: its owner may free it any time
  int64_t number = 0;            ///< of its request
  int64_t bytes = 0;             ///< as counted
  Category category = Category::temporary;
};

/// What a request is for.
enum class Purpose : uint8_t { tensor, workspace };

/// From segments of a source to blocks, with the semantics of PyTorch's CUDA caching allocator:
/// sizes rounded to 512 bytes, best fit by size and address among the blocks of one stream, blocks
/// split and merged. Everything is exact at any time and may be called on any thread; one lock
/// guards all.
class EBB_API CachingAllocator {
 public:
  /// `source`, `options.streams` and what the hooks point to outlive the allocator.
  CachingAllocator(Device device, MemorySource& source, const AllocatorOptions& options = {});
  /// Gives all segments back. No block may be in use.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// As memory::allocate.
  [[nodiscard]] Block* allocate(size_t bytes, Purpose purpose = Purpose::tensor);
  /// Work on `stream` uses the block: once freed, it is not used again before that stream has
  /// passed the point it had reached at the free. The block's own stream is ignored.
  void record_stream(Block* block, StreamId stream);

  /// Waits for pending blocks, then gives every segment that is one free block to the source.
  void empty_cache();
  /// Takes a segment of `bytes` bytes, rounded up to 2 MiB, ahead of the requests that will need
  /// it. Until empty_cache, or until there is no other memory, it stays. Throws OutOfMemoryError.
  void reserve(size_t bytes);
  /// A limit on reserved bytes; 0: none. Cached segments beyond it are given back at once.
  void set_limit(size_t bytes);
  [[nodiscard]] size_t limit() const;
  /// Until as many calls with false, every request that no cached block can serve throws
  /// OutOfMemoryError.
  void forbid_growth(bool forbid) noexcept;
  /// Settings from now on.
  void set_config(const Config& config);
  [[nodiscard]] Config config() const;

  [[nodiscard]] Statistics statistics() const;
  void reset_peak();
  void reset_accumulated();
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] MemorySource& source() const noexcept { return source_; }

  /// The n-th request from now throws OutOfMemoryError, cached memory or not; 0: none does.
  void fail_request(int64_t n);
  /// Requests to go until one fails; 0: none will.
  [[nodiscard]] int64_t requests_until_failure() const;

  /// How many requests of more than zero bytes there were.
  [[nodiscard]] int64_t requests() const;
  /// The blocks in use from requests after the first `after` ones, oldest first.
  [[nodiscard]] std::vector<BlockInUse> in_use(int64_t after) const;

  /// Throws an Error that says what is wrong if the segments, the trees and the statistics do not
  /// agree with each other. For tests: takes time in proportion to the number of blocks.
  void check_invariants() const;

  void set_category(detail::BlockRecord* block, Category category) noexcept;
  [[nodiscard]] Category category(const detail::BlockRecord* block) const noexcept;
  /// The tags changed: counts the block where it belongs now.
  void update_category(detail::BlockRecord* block) noexcept;
  /// The last owner let go.
  void release(detail::BlockRecord* block) noexcept;

  [[nodiscard]] detail::PoolRecord* create_pool(const PoolOptions& options);
  /// Gives the pool's free segments back; the rest follow as their blocks are freed.
  void retire_pool(detail::PoolRecord* pool) noexcept;
  [[nodiscard]] int64_t pool_bytes(const detail::PoolRecord* pool, bool of_segments) const;

  void open(detail::PeakTracker& tracker) noexcept;
  void close(detail::PeakTracker& tracker) noexcept;
  [[nodiscard]] detail::PeakTracker::Reading read(detail::PeakTracker& tracker) noexcept;

  /// Records events from now on, the youngest `max_entries` of them; 0: all.
  void start_history(size_t max_entries);
  /// What was recorded so far, and the segments now. `stop` ends the recording.
  [[nodiscard]] DeviceRecording history(bool stop);
  /// Records, if anything is recorded, that a snapshot was taken, or that the thread's innermost
  /// scope opened or closes.
  void mark(Action action) noexcept;

  /// Holds the lock over fork, so that the child finds the allocator in order.
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  using Lock = std::unique_lock<detail::Mutex>;
  /// A request on its way.
  struct Request {
    size_t bytes = 0;    ///< asked for
    size_t counted = 0;  ///< rounded(bytes)
    size_t size = 0;     ///< of the block to find
    StreamId stream = 0;
    detail::PoolRecord* pool = nullptr;

    [[nodiscard]] detail::SubPool& half(detail::PoolRecord& of) const noexcept {
      return is_small(size) ? of.small : of.large;
    }
    [[nodiscard]] detail::SubPool& half() const noexcept { return half(*pool); }
  };
  /// The events of one stream, oldest first.
  struct EventQueue;

  // caching_allocator.cpp: requests and frees
  [[nodiscard]] detail::BlockRecord* allocate_slow(Lock& lock, const Request& request);
  [[nodiscard]] detail::BlockRecord* find_or_take(Lock& lock, const Request& request);
  [[nodiscard]] detail::BlockRecord* find_free(const Request& request, detail::SubPool& pool);
  [[nodiscard]] detail::BlockRecord* find_helping_pool(const Request& request);
  void split(detail::BlockRecord* block, const Request& request);
  void hand_out(detail::BlockRecord* block, size_t bytes, size_t counted, Purpose purpose) noexcept;
  void complete_free(detail::BlockRecord* block) noexcept;
  void merge_and_insert(detail::BlockRecord* block) noexcept;
  void flush_front() noexcept;
  void flush_list(detail::BlockRecord* head) noexcept;
  [[nodiscard]] detail::PoolRecord* pool_of_thread() const noexcept;

  // segments.cpp: memory from the source and back
  [[nodiscard]] detail::BlockRecord* take_segment(const Request& request, size_t size);
  void release_segment(detail::BlockRecord* block) noexcept;
  size_t release_free_segments(detail::SubPool& pool) noexcept;
  bool release_available(const Request& request) noexcept;
  void release_all(detail::PoolRecord* also) noexcept;
  void release_own(detail::PoolRecord& pool) noexcept;
  void collect_garbage() noexcept;
  void trim(size_t incoming) noexcept;
  void drop_if_empty(detail::PoolRecord* pool) noexcept;
  [[noreturn]] void fail(Lock& lock, const Request& request, bool injected);
  [[nodiscard]] size_t reserved() const noexcept;

  // events.cpp: blocks that wait for other streams
  void record_events(detail::BlockRecord* block) noexcept;
  void process_events(bool wait) noexcept;
  [[nodiscard]] EventQueue* queue_of(StreamId stream) noexcept;
  void drop_first_queue() noexcept;

  // history.cpp: only while log_ is there
  void record_block(Action action, const detail::BlockRecord* block) noexcept {
    record_block(action, block, block->counted_as);
  }
  void record_block(Action action, const detail::BlockRecord* block, Category before) noexcept;
  void record_segment(Action action, const detail::Segment& segment) noexcept;
  void record_out_of_memory(const OutOfMemoryInfo& info) noexcept;

  void count_allocated(const detail::BlockRecord* block) noexcept;
  [[nodiscard]] std::array<int64_t, kCategories> categories_now() const noexcept;
  void fold_peak() noexcept;

  mutable detail::Mutex mutex_;
  const Device device_;
  MemorySource& source_;
  Streams* const streams_;
  const MemoryHooks hooks_;
  const bool caching_;
  const bool fill_;
  const bool trim_;

  Statistics statistics_;
  int64_t window_peak_ = 0;  ///< highest allocated bytes since the trackers were last brought up
  std::array<int64_t, kCategories> window_categories_{};  ///< at that moment
  int category_trackers_ = 0;                             ///< who want to know
  int64_t requests_ = 0;                                  ///< ever
  int64_t fail_at_ = 0;  ///< the number of the request to fail; 0: none
  detail::PeakTracker* trackers_ = nullptr;
  std::unique_ptr<detail::EventLog> log_;  ///< null: nothing is recorded
  int64_t pools_made_ = 0;

  detail::FrontCache front_;
  Config config_;
  size_t limit_ = 0;
  int growth_forbidden_ = 0;
  detail::PoolRecord default_pool_;
  detail::PoolRecord* pools_ = nullptr;  ///< the private ones
  detail::RecordPool records_;
  detail::Segment* segments_ = nullptr;
  EventQueue* queues_ = nullptr;
  int64_t pending_bytes_ = 0;

  // The most active bytes in this window of segment requests and in the one before.
  int64_t recent_active_[2] = {0, 0};
  int window_misses_ = 0;
};

}  // namespace ebb::memory
