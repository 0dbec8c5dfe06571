#include <ebb/core/memory/playback.h>

#include <algorithm>

#include <ebb/core/memory/size_policy.h>

namespace ebb::memory::detail {

Playback::Playback(const DeviceRecording& recording) : recording_(recording) {
  for (const SegmentState& segment : recording.segments) {
    segments_[segment.address] = segment.size;
    reserved_ += segment.size;
    for (const BlockState& block : segment.blocks) {
      if (block.state == BlockState::State::inactive) continue;
      const bool pending = block.state == BlockState::State::active_pending_free;
      count(blocks_[block.address] = {block.requested, block.category, pending}, 1);
    }
  }
  for (size_t i = recording.events.size(); i > 0; --i) undo(recording.events[i - 1]);
}

void Playback::count(const PlayedBlock& block, int64_t sign) {
  if (block.pending) return;
  const int64_t bytes = sign * static_cast<int64_t>(rounded(static_cast<size_t>(block.requested)));
  allocated_ += bytes;
  categories_[static_cast<size_t>(block.category)] += bytes;
}

/// A block that is not there was lost by a recording that found no memory for its events.
void Playback::set_pending(uint64_t address, bool pending) {
  const auto at = blocks_.find(address);
  if (at == blocks_.end()) return;
  count(at->second, -1);
  at->second.pending = pending;
  count(at->second, 1);
}

void Playback::set_category(uint64_t address, Category category) {
  const auto at = blocks_.find(address);
  if (at == blocks_.end()) return;
  count(at->second, -1);
  at->second.category = category;
  count(at->second, 1);
}

void Playback::set_segment(const Event& event, bool is_there) {
  if (is_there) {
    segments_[event.address] = event.bytes;
    reserved_ += event.bytes;
  } else if (segments_.erase(event.address) != 0) {
    reserved_ -= event.bytes;
  }
}

void Playback::undo(const Event& event) {
  switch (event.action) {
    case Action::alloc:
      if (const auto at = blocks_.find(event.address); at != blocks_.end()) {
        count(at->second, -1);
        blocks_.erase(at);
      }
      return;
    case Action::free_requested:
      return set_pending(event.address, false);
    case Action::free_completed:
      blocks_[event.address] = {event.bytes, event.category, true};
      return;
    case Action::segment_alloc:
    case Action::segment_free:
      return set_segment(event, event.action == Action::segment_free);
    case Action::category:
      return set_category(event.address, event.before);
    default:
      return;
  }
}

bool Playback::step() {
  if (position_ == recording_.events.size()) return false;
  const Event& event = recording_.events[position_++];
  switch (event.action) {
    case Action::alloc:
      count(blocks_[event.address] = {event.bytes, event.category, false, true, event.op,
                                      event.scope},
            1);
      break;
    case Action::free_requested:
      set_pending(event.address, true);
      break;
    case Action::free_completed:
      blocks_.erase(event.address);
      break;
    case Action::segment_alloc:
    case Action::segment_free:
      set_segment(event, event.action == Action::segment_alloc);
      break;
    case Action::category:
      set_category(event.address, event.category);
      break;
    default:
      break;
  }
  return true;
}

Peak find_peak(const DeviceRecording& recording) {
  Playback playback(recording);
  Peak peak{0, playback.allocated(), playback.reserved()};
  while (playback.step()) {
    peak.reserved = std::max(peak.reserved, playback.reserved());
    if (playback.allocated() > peak.allocated) {
      peak.allocated = playback.allocated();
      peak.position = playback.position();
    }
  }
  return peak;
}

}  // namespace ebb::memory::detail
