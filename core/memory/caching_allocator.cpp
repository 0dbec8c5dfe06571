#include <ebb/core/memory/caching_allocator.h>

#include <algorithm>
#include <utility>

#include <ebb/core/memory/event_log.h>
#include <ebb/core/memory/observer.h>
#include <ebb/core/memory/pool.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

using detail::BlockRecord;
using detail::PeakTracker;
using detail::PoolRecord;
using detail::SubPool;
using State = BlockRecord::State;

CachingAllocator::CachingAllocator(Device device, MemorySource& source,
                                   const AllocatorOptions& options)
    : device_(device),
      source_(source),
      streams_(options.streams),
      hooks_(options.hooks),
      caching_(options.caching),
      fill_(options.fill && options.hooks.fill != nullptr),
      trim_(options.trim),
      default_pool_(this, &source) {
  set_config(options.config);
}

Block* CachingAllocator::allocate(size_t bytes, Purpose purpose) {
  if (bytes == 0) {
    auto* empty = new detail::Record(detail::Record::Kind::empty);
    empty->device = device_;
    return empty;
  }
  BlockRecord* block = nullptr;
  const StreamId stream = streams_ == nullptr ? 0 : streams_->current();
  {
    Lock lock(mutex_);
    const size_t counted = rounded(bytes);
    const Request request{bytes, counted,
                          config_.divides_powers_of_two ? block_size(bytes, config_) : counted,
                          stream, pool_of_thread()};
    if (++requests_ == fail_at_ || bytes >= kMaxRequest) [[unlikely]] {
      const bool injected = requests_ == fail_at_;
      if (injected) fail_at_ = 0;
      fail(lock, request, injected);
    }
    if (pending_bytes_ > 0) process_events(false);
    if (request.pool == &default_pool_) block = front_.take(request.size, stream);
    if (block == nullptr) block = allocate_slow(lock, request);
    hand_out(block, bytes, counted, purpose);
  }
  if (hooks_.unpoison != nullptr) hooks_.unpoison(block->data, bytes, device_, stream);
  if (fill_) hooks_.fill(block->data, bytes, device_, stream);
  return block;
}

PoolRecord* CachingAllocator::pool_of_thread() const noexcept {
  for (const PoolGuard* guard = thread_state().pool_guard; guard != nullptr;
       guard = guard->outer()) {
    if (guard->record()->allocator == this) return guard->record();
  }
  return const_cast<PoolRecord*>(&default_pool_);
}

BlockRecord* CachingAllocator::allocate_slow(Lock& lock, const Request& request) {
  flush_front();
  BlockRecord* block = find_or_take(lock, request);
  split(block, request);
  return block;
}

BlockRecord* CachingAllocator::find_or_take(Lock& lock, const Request& request) {
  const auto search = [&] { return caching_ ? find_free(request, request.half()) : nullptr; };
  if (BlockRecord* found = search()) return found;

  ThreadState& thread = thread_state();
  if (!thread.in_memory_callback) {
    lock.unlock();
    thread.in_memory_callback = true;
    struct Leave {
      ThreadState& state;
      ~Leave() { state.in_memory_callback = false; }
    };
    {
      const Leave leave{thread};
      detail::run_free_memory_callbacks(device_);
    }
    lock.lock();
    flush_front();
    if (BlockRecord* found = search()) return found;
  }

  if (growth_forbidden_ > 0) {
    if (BlockRecord* found = find_helping_pool(request)) return found;
    process_events(true);
    flush_front();
    if (BlockRecord* found = search()) return found;
    fail(lock, request, false);
  }

  const size_t whole = caching_ ? segment_size(request.size, config_) : request.counted;
  collect_garbage();
  trim(whole);
  if (BlockRecord* taken = take_segment(request, whole)) return taken;
  if (BlockRecord* found = find_helping_pool(request)) return found;
  if (config_.max_split_size != Config::kUnlimited && release_available(request)) {
    if (BlockRecord* taken = take_segment(request, whole)) return taken;
  }
  ++statistics_.num_alloc_retries;
  if (request.pool->limit != 0 && request.pool->reserved + static_cast<int64_t>(request.counted) >
                                      static_cast<int64_t>(request.pool->limit)) {
    release_own(*request.pool);  // the pool's own limit: what others have cached would not help
  } else {
    release_all(request.pool);
  }
  // Blocks that waited for other streams are back, in segments that cannot be released.
  if (BlockRecord* found = search()) return found;
  if (BlockRecord* taken = take_segment(request, whole)) return taken;
  if (request.counted < whole) {
    if (BlockRecord* taken = take_segment(request, request.counted)) return taken;
  }
  fail(lock, request, false);
}

/// A free block of a pool that serves requests of the default pool before they fail, or null.
BlockRecord* CachingAllocator::find_helping_pool(const Request& request) {
  if (request.pool != &default_pool_) return nullptr;
  for (PoolRecord* pool = pools_; pool != nullptr; pool = pool->next) {
    if (!pool->use_on_oom || !pool->alive) continue;
    if (BlockRecord* found = find_free(request, request.half(*pool))) return found;
  }
  return nullptr;
}

BlockRecord* CachingAllocator::find_free(const Request& request, SubPool& pool) {
  records_.ensure(1);
  ++pool.searches;
  BlockRecord* block = pool.free.lower_bound({request.stream, request.size, nullptr});
  if (block == nullptr || block->stream != request.stream) return nullptr;
  const size_t oversize = config_.max_split_size;
  if (request.size < oversize && block->size >= oversize) return nullptr;
  if (request.size >= oversize && block->size - request.size >= config_.max_non_split_rounding) {
    return nullptr;
  }
  pool.free.remove(block);
  return block;
}

/// Cuts off what the request does not need, if the rule says so, and counts the block out of the
/// inactive ones.
void CachingAllocator::split(BlockRecord* block, const Request& request) {
  SubPool& pool = *block->segment->pool;
  const bool was_split = block->is_split();
  const size_t rest = block->size > request.size ? block->size - request.size : 0;
  const bool cut = !pool.owner->no_split &&
                   (pool.is_small() ? rest >= kMinBlockSize
                                    : request.size < config_.max_split_size && rest > kSmallSize);
  if (!cut) {
    if (was_split) {
      statistics_.subtract(Metric::inactive_split, pool.type, 1);
      statistics_.subtract(Metric::inactive_split_bytes, pool.type,
                           static_cast<int64_t>(block->size));
    }
    return;
  }
  BlockRecord* tail = records_.take();
  tail->data = block->begin() + request.size;
  tail->size = rest;
  tail->stream = block->stream;
  tail->device = block->device;
  tail->segment = block->segment;
  tail->previous = block;
  tail->next = block->next;
  if (tail->next != nullptr) tail->next->previous = tail;
  block->next = tail;
  block->size = request.size;
  tail->state = State::free;
  tail->freed_at = pool.searches;
  pool.free.insert(tail);
  if (was_split) {
    statistics_.subtract(Metric::inactive_split_bytes, pool.type,
                         static_cast<int64_t>(block->size));
  } else {
    statistics_.add(Metric::inactive_split, pool.type, 1);
    statistics_.add(Metric::inactive_split_bytes, pool.type, static_cast<int64_t>(rest));
  }
}

void CachingAllocator::hand_out(BlockRecord* block, size_t bytes, size_t counted,
                                Purpose purpose) noexcept {
  block->nbytes = bytes;
  block->number = requests_;
  block->counted = counted;
  block->state = State::allocated;
  block->use_count.store(1, std::memory_order_relaxed);
  block->saved_holders.store(0, std::memory_order_relaxed);
  block->is_workspace = purpose == Purpose::workspace;
  block->sticky = thread_state().input_guards > 0 && !block->is_workspace ? Category::input
                                                                          : Category::temporary;
  block->counted_as = block->effective_category();
  count_allocated(block);
  if (log_ != nullptr) [[unlikely]]
    record_block(Action::alloc, block);
  if (detail::observed()) [[unlikely]]
    detail::tell_allocated(*block);
}

void CachingAllocator::count_allocated(const BlockRecord* block) noexcept {
  const SubPool& pool = *block->segment->pool;
  const auto counted = static_cast<int64_t>(block->counted);
  const auto size = static_cast<int64_t>(block->size);

  auto& category = statistics_.categories[static_cast<size_t>(block->counted_as)];
  category.current += counted;
  category.peak = std::max(category.peak, category.current);

  const Counter& allocated = statistics_.get(Metric::allocated_bytes);
  const int64_t peak = allocated.peak;
  statistics_.add(Metric::allocation, pool.type, 1);
  statistics_.add(Metric::allocated_bytes, pool.type, counted);
  statistics_.add(Metric::active, pool.type, 1);
  statistics_.add(Metric::active_bytes, pool.type, size);
  statistics_.add(Metric::requested_bytes, pool.type, static_cast<int64_t>(block->nbytes));
  statistics_.unsplit_bytes += size - counted;
  if (allocated.current > window_peak_) {
    window_peak_ = allocated.current;
    if (category_trackers_ > 0) window_categories_ = categories_now();
  }
  if (allocated.current > peak) {
    statistics_.categories_at_peak = categories_now();
  }
  if (block->size >= config_.max_split_size) statistics_.oversize_allocations.add(1);
  if (pool.owner->is_private) pool.owner->allocated += counted;
}

void CachingAllocator::release(BlockRecord* block) noexcept {
  const bool shared = block->uses != nullptr;
  if (!shared) {  // nobody can reach the block: no need to hold the lock for this
    if (fill_) hooks_.fill(block->data, block->nbytes, device_, block->stream);
    if (hooks_.poison != nullptr) hooks_.poison(block->data, block->size, device_, block->stream);
  }
  Lock lock(mutex_);
  if (log_ != nullptr) [[unlikely]]
    record_block(Action::free_requested, block);
  if (detail::observed()) [[unlikely]]
    detail::tell_freed(*block);
  const SubPool& pool = *block->segment->pool;
  const auto counted = static_cast<int64_t>(block->counted);
  statistics_.categories[static_cast<size_t>(block->counted_as)].current -= counted;
  statistics_.subtract(Metric::allocation, pool.type, 1);
  statistics_.subtract(Metric::allocated_bytes, pool.type, counted);
  statistics_.unsplit_bytes -= static_cast<int64_t>(block->size) - counted;
  if (block->size >= config_.max_split_size) statistics_.oversize_allocations.subtract(1);
  if (pool.owner->is_private) pool.owner->allocated -= counted;
  if (shared) {
    record_events(block);
  } else {
    complete_free(block);
  }
}

/// No stream uses the block any more.
void CachingAllocator::complete_free(BlockRecord* block) noexcept {
  if (log_ != nullptr) [[unlikely]]
    record_block(Action::free_completed, block);
  SubPool& pool = *block->segment->pool;
  statistics_.subtract(Metric::active, pool.type, 1);
  statistics_.subtract(Metric::active_bytes, pool.type, static_cast<int64_t>(block->size));
  statistics_.subtract(Metric::requested_bytes, pool.type, static_cast<int64_t>(block->nbytes));
  if (!caching_) {
    release_segment(block);
    drop_if_empty(pool.owner);
    return;
  }
  if (&pool != &default_pool_.small) {
    merge_and_insert(block);
    return;
  }
  if (!front_.accepts(block)) flush_list(front_.evict_for(block));
  block->state = State::front;
  front_.put(block);
}

void CachingAllocator::merge_and_insert(BlockRecord* block) noexcept {
  SubPool& pool = *block->segment->pool;
  int64_t blocks = 0;
  int64_t bytes = 0;
  const auto take_out = [&](BlockRecord* neighbour) {
    pool.free.remove(neighbour);
    blocks -= 1;
    bytes -= static_cast<int64_t>(neighbour->size);
    block->size += neighbour->size;
  };
  if (BlockRecord* low = block->previous; low != nullptr && low->state == State::free) {
    take_out(low);
    block->data = low->data;
    block->previous = low->previous;
    (low->previous != nullptr ? low->previous->next : block->segment->first) = block;
    records_.give(low);
  }
  if (BlockRecord* high = block->next; high != nullptr && high->state == State::free) {
    take_out(high);
    block->next = high->next;
    if (high->next != nullptr) high->next->previous = block;
    records_.give(high);
  }
  if (block->is_split()) {
    blocks += 1;
    bytes += static_cast<int64_t>(block->size);
  }
  statistics_.change(Metric::inactive_split, pool.type, blocks);
  statistics_.change(Metric::inactive_split_bytes, pool.type, bytes);
  if (!pool.owner->alive && !block->is_split()) {
    PoolRecord* owner = pool.owner;
    release_segment(block);
    drop_if_empty(owner);
    return;
  }
  block->state = State::free;
  block->freed_at = pool.searches;
  pool.free.insert(block);
}

void CachingAllocator::flush_list(BlockRecord* head) noexcept {
  while (head != nullptr) {
    BlockRecord* next = head->right;
    head->right = nullptr;
    merge_and_insert(head);
    head = next;
  }
}

void CachingAllocator::flush_front() noexcept {
  while (BlockRecord* head = front_.evict_any()) flush_list(head);
}

void CachingAllocator::set_category(BlockRecord* block, Category category) noexcept {
  if (category == Category::saved || category == Category::workspace) return;
  Lock lock(mutex_);
  block->sticky = category == Category::temporary ? category : std::min(category, block->sticky);
  lock.unlock();
  update_category(block);
}

Category CachingAllocator::category(const BlockRecord* block) const noexcept {
  Lock lock(mutex_);
  return block->effective_category();
}

void CachingAllocator::update_category(BlockRecord* block) noexcept {
  Lock lock(mutex_);
  const Category now = block->effective_category();
  if (now == block->counted_as) return;
  const auto counted = static_cast<int64_t>(block->counted);
  statistics_.categories[static_cast<size_t>(block->counted_as)].current -= counted;
  auto& category = statistics_.categories[static_cast<size_t>(now)];
  category.current += counted;
  category.peak = std::max(category.peak, category.current);
  const Category before = std::exchange(block->counted_as, now);
  if (log_ != nullptr) [[unlikely]]
    record_block(Action::category, block, before);
}

void CachingAllocator::fold_peak() noexcept {
  for (PeakTracker* t = trackers_; t != nullptr; t = t->next_) {
    if (window_peak_ <= t->peak_) continue;
    t->peak_ = window_peak_;
    if (t->by_category_) t->categories_at_peak_ = window_categories_;
  }
  window_peak_ = statistics_.get(Metric::allocated_bytes).current;
}

std::array<int64_t, kCategories> CachingAllocator::categories_now() const noexcept {
  std::array<int64_t, kCategories> now{};
  for (size_t i = 0; i < now.size(); ++i) now[i] = statistics_.categories[i].current;
  return now;
}

void CachingAllocator::open(PeakTracker& tracker) noexcept {
  Lock lock(mutex_);
  fold_peak();
  tracker.start_ = tracker.peak_ = window_peak_;
  if (tracker.by_category_) {
    ++category_trackers_;
    tracker.categories_at_start_ = tracker.categories_at_peak_ = categories_now();
  }
  tracker.requests_at_start_ = requests_;
  tracker.next_ = trackers_;
  if (trackers_ != nullptr) trackers_->previous_ = &tracker;
  trackers_ = &tracker;
}

void CachingAllocator::close(PeakTracker& tracker) noexcept {
  Lock lock(mutex_);
  if (tracker.by_category_) --category_trackers_;
  (tracker.previous_ != nullptr ? tracker.previous_->next_ : trackers_) = tracker.next_;
  if (tracker.next_ != nullptr) tracker.next_->previous_ = tracker.previous_;
}

PeakTracker::Reading CachingAllocator::read(PeakTracker& tracker) noexcept {
  Lock lock(mutex_);
  fold_peak();
  return {tracker.peak_ - tracker.start_, window_peak_ - tracker.start_,
          requests_ - tracker.requests_at_start_};
}

}  // namespace ebb::memory
