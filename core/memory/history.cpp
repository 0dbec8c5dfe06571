#include <ebb/core/memory/history.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/event_log.h>
#include <ebb/core/memory/scope.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

using detail::BlockRecord;
using detail::EventLog;
using detail::Segment;

namespace {

/// The number of the calling thread.
uint32_t thread_number() noexcept {
  static constinit std::atomic<uint32_t> threads{0};
  static thread_local const uint32_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

SegmentState state_of(const Segment& segment) {
  SegmentState state;
  state.address = reinterpret_cast<uintptr_t>(segment.base);
  state.size = static_cast<int64_t>(segment.size);
  state.stream = segment.first->stream;
  state.pool = segment.pool->owner->number;
  state.is_small = segment.pool->is_small();
  for (const BlockRecord* block = segment.first; block != nullptr; block = block->next) {
    BlockState& out = state.blocks.emplace_back();
    out.address = reinterpret_cast<uintptr_t>(block->data);
    out.size = static_cast<int64_t>(block->size);
    if (block->state == BlockRecord::State::free || block->state == BlockRecord::State::front) {
      continue;
    }
    out.state = block->state == BlockRecord::State::allocated
                    ? BlockState::State::active_allocated
                    : BlockState::State::active_pending_free;
    out.requested = static_cast<int64_t>(block->nbytes);
    out.category = block->counted_as;
  }
  return state;
}

}  // namespace

const char* name(Action action) {
  constexpr const char* kNames[] = {
      "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
      "oom",   "snapshot",       "category",       "scope_open",    "scope_close"};
  return kNames[static_cast<int>(action)];
}

void EventLog::add(Event event) noexcept {
  if (lost_ > 0) {
    ++lost_;
    return;
  }
  try {
    const ThreadState& state = thread_state();
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    event.time_us = last_time_ = std::max<int64_t>(last_time_, now.count());
    event.thread = thread_number();
    event.op = op_index(state.op_name);
    event.scope = scope_index(state.scope == nullptr ? nullptr : state.scope->node());
    const size_t i = max_entries_ == 0 ? count_ : count_ % max_entries_;
    if (i / kChunk == chunks_.size()) {
      chunks_.push_back(std::make_unique_for_overwrite<Event[]>(kChunk));
    }
    slot(i) = event;
    ++count_;
  } catch (const std::bad_alloc&) {
    ++lost_;
  }
}

/// Names may be made at run time, so that one address can have two in the course of time.
uint32_t EventLog::op_index(const char* op) {
  if (op == nullptr) return 0;
  const auto [at, is_new] = op_indices_.try_emplace(op, 0);
  if (is_new || ops_[at->second] != op) {
    const auto known = std::find(ops_.begin(), ops_.end(), op);
    at->second = static_cast<uint32_t>(known - ops_.begin());
    if (known == ops_.end()) ops_.emplace_back(op);
  }
  return at->second;
}

uint32_t EventLog::scope_index(const ScopeNode* scope) {
  if (scope == nullptr) return 0;
  const auto [at, is_new] =
      scope_indices_.try_emplace(scope, static_cast<uint32_t>(scopes_.size()));
  if (is_new) scopes_.push_back(scope);
  return at->second;
}

void EventLog::copy_to(DeviceRecording& out) const {
  const size_t kept = max_entries_ == 0 ? count_ : std::min(count_, max_entries_);
  out.dropped = count_ - kept + lost_;
  out.events.reserve(kept);
  for (size_t i = count_ - kept; i < count_; ++i) {
    out.events.push_back(slot(max_entries_ == 0 ? i : i % max_entries_));
  }
  out.ops = ops_;
  out.scopes.clear();
  for (const ScopeNode* scope : scopes_) out.scopes.push_back(scope_path(scope));
}

void CachingAllocator::start_history(size_t max_entries) {
  auto log = std::make_unique<EventLog>(max_entries);
  Lock lock(mutex_);
  std::swap(log_, log);
}

DeviceRecording CachingAllocator::history(bool stop) {
  DeviceRecording out;
  out.device = device_;
  std::unique_ptr<EventLog> ended;  // freed without the lock
  Lock lock(mutex_);
  flush_front();
  if (log_ != nullptr) {
    log_->copy_to(out);
  } else {
    out.ops.emplace_back();
    out.scopes.emplace_back();
  }
  for (const Segment* s = segments_; s != nullptr; s = s->next)
    out.segments.push_back(state_of(*s));
  if (stop) ended = std::move(log_);
  lock.unlock();
  std::sort(out.segments.begin(), out.segments.end(),
            [](const SegmentState& a, const SegmentState& b) { return a.address < b.address; });
  return out;
}

void CachingAllocator::mark(Action action) noexcept {
  Lock lock(mutex_);
  if (log_ == nullptr) return;
  Event event;
  event.action = action;
  if (action == Action::snapshot) event.bytes = statistics_.get(Metric::active_bytes).current;
  log_->add(event);
}

void CachingAllocator::record_block(Action action, const BlockRecord* block,
                                    Category before) noexcept {
  Event event;
  event.action = action;
  event.address = reinterpret_cast<uintptr_t>(block->data);
  event.bytes = static_cast<int64_t>(block->nbytes);
  event.stream = block->stream;
  event.category = block->counted_as;
  event.before = before;
  log_->add(event);
}

void CachingAllocator::record_segment(Action action, const Segment& segment) noexcept {
  Event event;
  event.action = action;
  event.address = reinterpret_cast<uintptr_t>(segment.base);
  event.bytes = static_cast<int64_t>(segment.size);
  event.stream = segment.first->stream;
  log_->add(event);
}

void CachingAllocator::record_out_of_memory(const OutOfMemoryInfo& info) noexcept {
  Event event;
  event.action = Action::oom;
  event.address = info.available;
  event.bytes = static_cast<int64_t>(rounded(info.requested));
  log_->add(event);
}

}  // namespace ebb::memory
