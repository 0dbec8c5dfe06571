// What a CachingAllocator tells about itself, and its settings.

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/caching_allocator.h>

namespace ebb::memory {

using detail::BlockRecord;
using detail::PoolRecord;
using detail::Segment;
using detail::SubPool;
using State = BlockRecord::State;

void CachingAllocator::set_config(const Config& config) {
  Lock lock(mutex_);
  if (config.per_process_memory_fraction != config_.per_process_memory_fraction) {
    const double share = config.per_process_memory_fraction;
    // A limit of 0 bytes would mean none; 1 byte lets nothing through.
    limit_ = share < 1
                 ? std::max<size_t>(
                       1, static_cast<size_t>(share * static_cast<double>(source_.capacity())))
                 : 0;
  }
  flush_front();
  config_ = config;
  statistics_.max_split_size = config.max_split_size == Config::kUnlimited
                                   ? -1
                                   : static_cast<int64_t>(config.max_split_size);
}

Config CachingAllocator::config() const {
  Lock lock(mutex_);
  return config_;
}

Statistics CachingAllocator::statistics() const {
  Lock lock(mutex_);
  // Only moves blocks from the front cache to where they belong.
  const_cast<CachingAllocator*>(this)->flush_front();
  return statistics_;
}

void CachingAllocator::reset_peak() {
  Lock lock(mutex_);
  flush_front();
  statistics_.reset_peak();
}

void CachingAllocator::reset_accumulated() {
  Lock lock(mutex_);
  flush_front();
  statistics_.reset_accumulated();
}

void CachingAllocator::fail_request(int64_t n) {
  Lock lock(mutex_);
  fail_at_ = n > 0 ? requests_ + n : 0;
}

int64_t CachingAllocator::requests() const {
  Lock lock(mutex_);
  return requests_;
}

std::vector<BlockInUse> CachingAllocator::in_use(int64_t after) const {
  std::vector<BlockInUse> blocks;
  Lock lock(mutex_);
  for (const Segment* segment = segments_; segment != nullptr; segment = segment->next) {
    for (const BlockRecord* b = segment->first; b != nullptr; b = b->next) {
      if (b->state != State::allocated || b->number <= after) continue;
      blocks.push_back({b, b->number, static_cast<int64_t>(b->counted), b->counted_as});
    }
  }
  lock.unlock();
  std::sort(blocks.begin(), blocks.end(),
            [](const BlockInUse& a, const BlockInUse& b) { return a.number < b.number; });
  return blocks;
}

int64_t CachingAllocator::requests_until_failure() const {
  Lock lock(mutex_);
  return fail_at_ == 0 ? 0 : fail_at_ - requests_;
}

namespace {

/// What the blocks add up to.
struct Sums {
  int64_t segments = 0;
  int64_t reserved = 0;
  int64_t allocations = 0;
  int64_t allocated = 0;
  int64_t requested = 0;
  int64_t active = 0;
  int64_t active_bytes = 0;
  int64_t inactive_split = 0;
  int64_t inactive_split_bytes = 0;
  int64_t unsplit = 0;
  size_t free_blocks = 0;
  size_t free_bytes = 0;
  int64_t categories[kCategories] = {};
};

void add_block(const BlockRecord& block, Sums& sums) {
  const auto size = static_cast<int64_t>(block.size);
  const auto counted = static_cast<int64_t>(block.counted);
  if (block.state == State::allocated) {
    sums.allocations += 1;
    sums.allocated += counted;
    sums.unsplit += size - counted;
    sums.categories[static_cast<int>(block.counted_as)] += counted;
  }
  if (block.state == State::allocated || block.state == State::pending) {
    sums.active += 1;
    sums.active_bytes += size;
    sums.requested += static_cast<int64_t>(block.nbytes);
  }
  if (block.state == State::free) {
    sums.free_blocks += 1;
    sums.free_bytes += block.size;
    if (block.is_split()) {
      sums.inactive_split += 1;
      sums.inactive_split_bytes += size;
    }
  }
}

void add_segment(const Segment& segment, Sums& sums) {
  sums.segments += 1;
  sums.reserved += static_cast<int64_t>(segment.size);
  const char* at = segment.base;
  const BlockRecord* previous = nullptr;
  for (const BlockRecord* block = segment.first; block != nullptr; block = block->next) {
    EBB_CHECK(block->data == at, "a block does not start where the one before it ends");
    EBB_CHECK(block->previous == previous, "a block's neighbours do not know each other");
    EBB_CHECK(block->segment == &segment, "a block is in two segments");
    EBB_CHECK(previous == nullptr || block->state != State::free || previous->state != State::free,
              "two free neighbours are not merged");
    EBB_CHECK(block->size % kMinBlockSize == 0, "a block's size is not a multiple of 512");
    add_block(*block, sums);
    at += block->size;
    previous = block;
  }
  EBB_CHECK(at == segment.base + segment.size, "the blocks do not fill their segment");
}

void check_order(const SubPool& pool) {
  size_t count = 0;
  for (const BlockRecord* block = pool.free.first(); block != nullptr;
       block = pool.free.after(block)) {
    EBB_CHECK(block->state == State::free, "a block in a tree is not free");
    EBB_CHECK(block->segment->pool == &pool, "a block is in the tree of another pool");
    ++count;
  }
  EBB_CHECK(count == pool.free.count(), "a tree has ", count, " blocks but counts ",
            pool.free.count());
}

void check_equal(const char* what, int64_t blocks, int64_t counted) {
  EBB_CHECK(blocks == counted, what, ": the blocks add up to ", blocks, ", the statistics say ",
            counted);
}

}  // namespace

void CachingAllocator::check_invariants() const {
  Lock lock(mutex_);
  const_cast<CachingAllocator*>(this)->flush_front();
  Sums sums;
  for (const Segment* s = segments_; s != nullptr; s = s->next) add_segment(*s, sums);

  size_t free_blocks = 0;
  size_t free_bytes = 0;
  const auto check_pool = [&](const PoolRecord& pool) {
    for (const SubPool* half : {&pool.small, &pool.large}) {
      check_order(*half);
      free_blocks += half->free.count();
      free_bytes += half->free.bytes();
    }
  };
  check_pool(default_pool_);
  for (const PoolRecord* pool = pools_; pool != nullptr; pool = pool->next) check_pool(*pool);
  EBB_CHECK(free_blocks == sums.free_blocks && free_bytes == sums.free_bytes,
            "free blocks are missing from the trees");

  for (const Statistics::PoolType pool :
       {Statistics::all}) {  // the halves add up by construction of Statistics::add
    const auto current = [&](Metric m) { return statistics_.get(m, pool).current; };
    check_equal("segment", sums.segments, current(Metric::segment));
    check_equal("reserved_bytes", sums.reserved, current(Metric::reserved_bytes));
    check_equal("allocation", sums.allocations, current(Metric::allocation));
    check_equal("allocated_bytes", sums.allocated, current(Metric::allocated_bytes));
    check_equal("requested_bytes", sums.requested, current(Metric::requested_bytes));
    check_equal("active", sums.active, current(Metric::active));
    check_equal("active_bytes", sums.active_bytes, current(Metric::active_bytes));
    check_equal("inactive_split", sums.inactive_split, current(Metric::inactive_split));
    check_equal("inactive_split_bytes", sums.inactive_split_bytes,
                current(Metric::inactive_split_bytes));
  }
  check_equal("unsplit_bytes", sums.unsplit, statistics_.unsplit_bytes);
  for (size_t i = 0; i < kCategories; ++i) {
    check_equal(name(static_cast<Category>(i)), sums.categories[i],
                statistics_.categories[i].current);
  }
}

}  // namespace ebb::memory
