// Segments: from the source to the pools of a CachingAllocator and back.

#include <algorithm>
#include <memory>

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/event_log.h>
#include <ebb/core/memory/pool.h>

namespace ebb::memory {

using detail::BlockRecord;
using detail::PoolRecord;
using detail::Segment;
using detail::SubPool;
using State = BlockRecord::State;

namespace {

constexpr double kHostCollectionThreshold = 0.8;

// Trimming keeps half as much again as was in use lately, and this.
constexpr int64_t kTrimSlack = int64_t{64} << 20;
constexpr int kTrimWindow = 64;  // segment requests

bool is_idle(const BlockRecord* block) noexcept {
  return !block->is_split() && !block->segment->kept;
}

/// The idle segment that has been free longest, of two halves of a pool.
BlockRecord* oldest_idle(const SubPool& pool) noexcept {
  BlockRecord* oldest = nullptr;
  for (BlockRecord* b = pool.free.first(); b != nullptr; b = pool.free.after(b)) {
    if (is_idle(b) && (oldest == nullptr || b->freed_at < oldest->freed_at)) oldest = b;
  }
  return oldest;
}

}  // namespace

CachingAllocator::~CachingAllocator() {
  {
    Lock lock(mutex_);
    release_all(nullptr);
  }
  while (pools_ != nullptr) {
    PoolRecord* next = pools_->next;
    delete pools_;
    pools_ = next;
  }
  while (queues_ != nullptr) drop_first_queue();
}

size_t CachingAllocator::reserved() const noexcept {
  return static_cast<size_t>(statistics_.get(Metric::reserved_bytes).current);
}

/// One free block that is a new segment, or null if the limit or the source refuses.
BlockRecord* CachingAllocator::take_segment(const Request& request, size_t size) {
  const auto beyond = [size](size_t limit, size_t held) {
    return limit != 0 && (size > limit || held > limit - size);
  };
  if (growth_forbidden_ > 0 || beyond(limit_, reserved()) ||
      beyond(request.pool->limit, static_cast<size_t>(request.pool->reserved))) {
    return nullptr;
  }
  records_.ensure(2);
  auto made = std::make_unique<Segment>();  // a source may throw
  PoolRecord& owner = *request.pool;
  void* data = owner.source->allocate(size);
  if (data == nullptr) return nullptr;
  Segment* segment = made.release();
  SubPool& pool = request.half();
  BlockRecord* block = records_.take();
  block->data = data;
  block->size = size;
  block->device = device_;
  block->stream = request.stream;
  block->segment = segment;
  block->state = State::free;
  segment->base = static_cast<char*>(data);
  segment->size = size;
  segment->first = block;
  segment->pool = &pool;
  segment->source = owner.source;
  segment->allocator = this;
  segment->next = segments_;
  if (segments_ != nullptr) segments_->previous = segment;
  segments_ = segment;
  if (hooks_.poison != nullptr) hooks_.poison(data, size, device_, request.stream);

  ++owner.segments;
  owner.reserved += static_cast<int64_t>(size);
  ++statistics_.num_device_alloc;
  statistics_.add(Metric::segment, pool.type, 1);
  statistics_.add(Metric::reserved_bytes, pool.type, static_cast<int64_t>(size));
  if (size >= config_.max_split_size) statistics_.oversize_segments.add(1);
  if (log_ != nullptr) [[unlikely]]
    record_segment(Action::segment_alloc, *segment);
  return block;
}

/// Gives the segment back whose only block this is; the block is in no tree any more.
void CachingAllocator::release_segment(BlockRecord* block) noexcept {
  Segment* segment = block->segment;
  if (log_ != nullptr) [[unlikely]]
    record_segment(Action::segment_free, *segment);
  SubPool& pool = *segment->pool;
  --pool.owner->segments;
  pool.owner->reserved -= static_cast<int64_t>(segment->size);
  ++statistics_.num_device_free;
  statistics_.subtract(Metric::segment, pool.type, 1);
  statistics_.subtract(Metric::reserved_bytes, pool.type, static_cast<int64_t>(segment->size));
  if (segment->size >= config_.max_split_size) statistics_.oversize_segments.subtract(1);

  (segment->previous != nullptr ? segment->previous->next : segments_) = segment->next;
  if (segment->next != nullptr) segment->next->previous = segment->previous;
  if (hooks_.unpoison != nullptr) {
    hooks_.unpoison(segment->base, segment->size, device_, block->stream);
  }
  segment->source->free(segment->base, segment->size);
  delete segment;
  records_.give(block);
}

size_t CachingAllocator::release_free_segments(SubPool& pool) noexcept {
  size_t bytes = 0;
  BlockRecord* next = nullptr;
  for (BlockRecord* block = pool.free.first(); block != nullptr; block = next) {
    next = pool.free.after(block);
    if (block->is_split()) continue;
    bytes += block->size;
    pool.free.remove(block);
    release_segment(block);
  }
  return bytes;
}

/// Releases cached oversize segments of the request's stream: one that is large enough, or else the
/// largest ones until they are together. Whether they were enough.
bool CachingAllocator::release_available(const Request& request) noexcept {
  SubPool& pool = request.half();
  const size_t needed = std::max(request.size, config_.max_split_size);
  const auto release = [&](BlockRecord* block) {
    pool.free.remove(block);
    release_segment(block);
  };
  BlockRecord* block = pool.free.lower_bound({request.stream, needed, nullptr});
  while (block != nullptr && block->stream == request.stream && block->is_split()) {
    block = pool.free.after(block);
  }
  if (block != nullptr && block->stream == request.stream) {
    release(block);
    return true;
  }
  size_t released = 0;
  block = pool.free.before({request.stream, needed, nullptr});
  while (released < needed && block != nullptr && block->stream == request.stream &&
         block->size >= config_.max_split_size) {
    BlockRecord* smaller = pool.free.before(detail::FreeTree::key_of(block));
    if (!block->is_split()) {
      released += block->size;
      release(block);
    }
    block = smaller;
  }
  return released >= needed;
}

/// Waits for all pending blocks, then releases every free segment of the default pool, of retired
/// pools, and of `also`.
void CachingAllocator::release_all(PoolRecord* also) noexcept {
  process_events(true);
  ++statistics_.num_sync_all_streams;
  flush_front();
  release_free_segments(default_pool_.large);
  release_free_segments(default_pool_.small);
  PoolRecord* next = nullptr;
  for (PoolRecord* pool = pools_; pool != nullptr; pool = next) {
    next = pool->next;
    if (pool->alive && pool != also) continue;
    release_free_segments(pool->large);
    release_free_segments(pool->small);
    drop_if_empty(pool);
  }
}

/// Waits for all pending blocks, then releases every free segment of one pool.
void CachingAllocator::release_own(PoolRecord& pool) noexcept {
  process_events(true);
  ++statistics_.num_sync_all_streams;
  release_free_segments(pool.large);
  release_free_segments(pool.small);
}

/// Frees cached large segments, older ones first, until reserved bytes are below the threshold.
void CachingAllocator::collect_garbage() noexcept {
  const double threshold = config_.garbage_collection_threshold > 0
                               ? config_.garbage_collection_threshold
                               : (trim_ ? kHostCollectionThreshold : 0);
  const size_t base = limit_ != 0 ? limit_ : (trim_ ? source_.capacity() : 0);
  const auto allowed = static_cast<size_t>(threshold * static_cast<double>(base));
  if (allowed == 0 || reserved() <= allowed) return;

  SubPool& pool = default_pool_.large;
  size_t target = reserved() - allowed;
  bool freed = true;
  while (target > 0 && freed) {
    uint64_t ages = 0;
    uint64_t count = 0;
    for (BlockRecord* b = pool.free.first(); b != nullptr; b = pool.free.after(b)) {
      if (!is_idle(b)) continue;
      ages += pool.searches - b->freed_at;
      ++count;
    }
    freed = false;
    BlockRecord* next = nullptr;
    for (BlockRecord* b = pool.free.first(); b != nullptr && target > 0; b = next) {
      next = pool.free.after(b);
      if (!is_idle(b) || (pool.searches - b->freed_at) * count < ages) continue;
      target -= std::min(target, b->size);
      pool.free.remove(b);
      release_segment(b);
      freed = true;
    }
  }
}

/// Keeps what is cached in proportion to what was in use lately, so that sizes that never come
/// again do not pile up.
void CachingAllocator::trim(size_t incoming) noexcept {
  if (!trim_) return;
  const int64_t active =
      statistics_.get(Metric::active_bytes).current + static_cast<int64_t>(incoming);
  recent_active_[0] = std::max(recent_active_[0], active);
  const int64_t lately = std::max(recent_active_[0], recent_active_[1]);
  if (++window_misses_ >= kTrimWindow) {
    recent_active_[1] = recent_active_[0];
    recent_active_[0] = active;
    window_misses_ = 0;
  }
  const auto budget = static_cast<size_t>(lately + lately / 2 + kTrimSlack);
  while (reserved() + incoming > budget) {
    BlockRecord* block = oldest_idle(default_pool_.large);
    if (block == nullptr) block = oldest_idle(default_pool_.small);
    if (block == nullptr) return;
    block->segment->pool->free.remove(block);
    release_segment(block);
  }
}

void CachingAllocator::empty_cache() {
  Lock lock(mutex_);
  release_all(nullptr);
}

void CachingAllocator::reserve(size_t bytes) {
  if (bytes == 0) return;
  Lock lock(mutex_);
  const size_t size = bytes >= kMaxRequest ? bytes : std::max(rounded(bytes), kSmallSize + 1);
  const Request request{bytes, size, size, streams_ == nullptr ? 0 : streams_->current(),
                        &default_pool_};
  if (bytes >= kMaxRequest) fail(lock, request, false);
  const size_t whole = (size + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
  BlockRecord* block = take_segment(request, whole);
  if (block == nullptr && growth_forbidden_ == 0) {
    ++statistics_.num_alloc_retries;
    release_all(nullptr);
    block = take_segment(request, whole);
  }
  if (block == nullptr) fail(lock, request, false);
  block->segment->kept = true;
  merge_and_insert(block);
}

void CachingAllocator::set_limit(size_t bytes) {
  Lock lock(mutex_);
  limit_ = bytes;
  if (limit_ != 0 && reserved() > limit_) release_all(nullptr);
}

size_t CachingAllocator::limit() const {
  Lock lock(mutex_);
  return limit_;
}

void CachingAllocator::forbid_growth(bool forbid) noexcept {
  Lock lock(mutex_);
  growth_forbidden_ += forbid ? 1 : -1;
}

PoolRecord* CachingAllocator::create_pool(const PoolOptions& options) {
  auto made =
      std::make_unique<PoolRecord>(this, options.source == nullptr ? &source_ : options.source);
  made->name = options.name;
  PoolRecord* pool = made.release();
  pool->is_private = true;
  pool->use_on_oom = options.use_on_oom;
  pool->no_split = options.no_split;
  pool->limit = options.limit_bytes;
  Lock lock(mutex_);
  pool->number = ++pools_made_;
  pool->next = pools_;
  pools_ = pool;
  return pool;
}

void CachingAllocator::retire_pool(PoolRecord* pool) noexcept {
  Lock lock(mutex_);
  pool->alive = false;
  release_free_segments(pool->large);
  release_free_segments(pool->small);
  drop_if_empty(pool);
}

/// Forgets a retired pool that has no segment left.
void CachingAllocator::drop_if_empty(PoolRecord* pool) noexcept {
  if (pool->alive || pool->segments > 0) return;
  PoolRecord** link = &pools_;
  while (*link != pool) link = &(*link)->next;
  *link = pool->next;
  delete pool;
}

int64_t CachingAllocator::pool_bytes(const PoolRecord* pool, bool of_segments) const {
  Lock lock(mutex_);
  return of_segments ? pool->reserved : pool->allocated;
}

void CachingAllocator::fail(Lock& lock, const Request& request, bool injected) {
  ++statistics_.num_ooms;
  flush_front();
  OutOfMemoryInfo info;
  info.device = device_;
  info.requested = request.bytes;
  info.segment = request.bytes >= kMaxRequest ? 0 : segment_size(request.size, config_);
  info.capacity = source_.capacity();
  info.limit = limit_;
  info.growth_forbidden = growth_forbidden_ > 0;
  if (request.pool->is_private) {
    info.pool = request.pool->name.empty() ? "(unnamed)" : request.pool->name;
    info.pool_limit = request.pool->limit;
    info.pool_reserved = static_cast<size_t>(request.pool->reserved);
    info.pool_allocated = static_cast<size_t>(request.pool->allocated);
  }
  info.reserved = reserved();
  info.allocated = static_cast<size_t>(statistics_.get(Metric::allocated_bytes).current);
  info.pending = static_cast<size_t>(pending_bytes_);
  info.injected = injected;
  const BlockRecord* largest = request.half().free.before({request.stream, ~size_t{0}, nullptr});
  if (largest != nullptr && largest->stream == request.stream) {
    info.largest_free_block = largest->size;
  }
  for (const PoolRecord* pool = pools_; pool != nullptr; pool = pool->next) {
    info.in_private_pools += pool->small.free.bytes() + pool->large.free.bytes();
  }
  info.available = source_.available();
  if (log_ != nullptr) record_out_of_memory(info);
  lock.unlock();
  detail::raise_out_of_memory(info);
}

}  // namespace ebb::memory
