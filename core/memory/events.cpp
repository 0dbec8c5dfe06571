// Blocks that other streams use: they wait, after the free, until those streams have passed.

#include <ebb/core/memory/caching_allocator.h>

namespace ebb::memory {

using detail::BlockRecord;
using detail::StreamUse;
using State = BlockRecord::State;

struct CachingAllocator::EventQueue {
  EventQueue* next = nullptr;
  StreamId stream = 0;
  StreamUse* head = nullptr;
  StreamUse* tail = nullptr;
};

void CachingAllocator::drop_first_queue() noexcept {
  EventQueue* next = queues_->next;
  delete queues_;
  queues_ = next;
}

CachingAllocator::EventQueue* CachingAllocator::queue_of(StreamId stream) noexcept {
  EventQueue* queue = queues_;
  while (queue != nullptr && queue->stream != stream) queue = queue->next;
  return queue;
}

void CachingAllocator::record_stream(Block* block, StreamId stream) {
  if (block == nullptr || streams_ == nullptr) return;
  auto* record = static_cast<detail::Record*>(block);
  if (record->kind != detail::Record::Kind::device) return;
  auto* device_block = static_cast<BlockRecord*>(record);
  if (device_block->segment->allocator != this || device_block->stream == stream) return;

  Lock lock(mutex_);
  for (const StreamUse* use = device_block->uses; use != nullptr; use = use->next) {
    if (use->stream == stream) return;
  }
  if (queue_of(stream) == nullptr) queues_ = new EventQueue{queues_, stream};
  device_block->uses = new StreamUse{device_block->uses, device_block, stream};
}

/// An event on each stream that uses the freed block.
void CachingAllocator::record_events(BlockRecord* block) noexcept {
  block->state = State::pending;
  block->pending_events = 0;
  pending_bytes_ += static_cast<int64_t>(block->size);
  StreamUse* next = nullptr;
  for (StreamUse* use = block->uses; use != nullptr; use = next) {
    next = use->next;
    use->next = nullptr;
    use->event = streams_->record(use->stream);
    EventQueue* queue = queue_of(use->stream);
    (queue->head == nullptr ? queue->head : queue->tail->next) = use;
    queue->tail = use;
    ++block->pending_events;
  }
  block->uses = nullptr;
}

/// Returns the blocks whose events have passed; with `wait`, waits for all. An event is not looked
/// at before the older ones of its stream have passed.
void CachingAllocator::process_events(bool wait) noexcept {
  if (pending_bytes_ == 0) return;
  for (EventQueue* queue = queues_; queue != nullptr; queue = queue->next) {
    while (StreamUse* use = queue->head) {
      if (wait) {
        streams_->wait(use->event);
      } else if (!streams_->query(use->event)) {
        break;
      }
      streams_->destroy(use->event);
      queue->head = use->next;
      BlockRecord* block = use->block;
      delete use;
      if (--block->pending_events > 0) continue;
      pending_bytes_ -= static_cast<int64_t>(block->size);
      if (fill_) hooks_.fill(block->data, block->nbytes, device_, block->stream);
      if (hooks_.poison != nullptr) {
        hooks_.poison(block->data, block->size, device_, block->stream);
      }
      complete_free(block);
    }
  }
}

}  // namespace ebb::memory
