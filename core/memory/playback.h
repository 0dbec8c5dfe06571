#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include <ebb/core/memory/history.h>

namespace ebb::memory::detail {

/// A block in use, or freed but awaited by another stream.
struct PlayedBlock {
  int64_t requested = 0;
  Category category = Category::temporary;
  bool pending = false;
  bool is_recorded = false;  ///< its request is in the recording, so that op and scope are known
  uint32_t op = 0;
  uint32_t scope = 0;
};

/// The memory of a device at one moment of a recording; moves forward from event to event. The
/// state before the first event is found by undoing all events from the end.
class Playback {
 public:
  /// Stands before the first event. The recording outlives it.
  explicit Playback(const DeviceRecording& recording);

  /// Goes past the next event; false at the end.
  bool step();
  /// Goes forward until `events` events have passed.
  void go_to(size_t events) {
    while (position_ < events && step()) {
    }
  }

  /// How many events have passed.
  [[nodiscard]] size_t position() const noexcept { return position_; }
  /// Bytes in use, counted as memory_allocated, and those of each category.
  [[nodiscard]] int64_t allocated() const noexcept { return allocated_; }
  [[nodiscard]] const std::array<int64_t, kCategories>& categories() const noexcept {
    return categories_;
  }
  [[nodiscard]] int64_t reserved() const noexcept { return reserved_; }
  /// By address.
  [[nodiscard]] const std::map<uint64_t, PlayedBlock>& blocks() const noexcept { return blocks_; }
  /// Sizes by address.
  [[nodiscard]] const std::map<uint64_t, int64_t>& segments() const noexcept { return segments_; }

 private:
  void undo(const Event& event);
  void count(const PlayedBlock& block, int64_t sign);
  void set_pending(uint64_t address, bool pending);
  void set_category(uint64_t address, Category category);
  void set_segment(const Event& event, bool is_there);

  const DeviceRecording& recording_;
  size_t position_ = 0;
  int64_t allocated_ = 0;
  int64_t reserved_ = 0;
  std::array<int64_t, kCategories> categories_{};
  std::map<uint64_t, PlayedBlock> blocks_;
  std::map<uint64_t, int64_t> segments_;
};

/// Where a recording has the most bytes allocated.
struct Peak {
  size_t position = 0;  ///< events that have passed by then
  int64_t allocated = 0;
  int64_t reserved = 0;  ///< the most ever
};
[[nodiscard]] Peak find_peak(const DeviceRecording& recording);

}  // namespace ebb::memory::detail
