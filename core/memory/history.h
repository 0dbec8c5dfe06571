#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/category.h>
#include <ebb/core/memory/stream.h>

namespace ebb::memory {

/// What an event of a recording tells. All but the last three are actions of PyTorch's memory
/// history.
enum class Action : uint8_t {
  alloc,           ///< a block was handed out
  free_requested,  ///< its last owner let go
  free_completed,  ///< it can be used again: at once, unless another stream used it
  segment_alloc,   ///< a segment came from the device
  segment_free,    ///< a segment went back
  oom,             ///< a request failed for good
  snapshot,        ///< a snapshot was written
  category,        ///< a block changed its category
  scope_open,
  scope_close,
};

/// "alloc", "free_requested", ...
[[nodiscard]] EBB_API const char* name(Action action);

/// One event. Sizes in bytes.
struct Event {
  int64_t time_us = 0;   ///< since the epoch of Unix; never before the event in front
  uint64_t address = 0;  ///< of the block or segment; oom: the bytes that the device still had
  /// What was asked for; segments: their size; oom: the request rounded up; snapshot: active bytes.
  int64_t bytes = 0;
  StreamId stream = 0;
  uint32_t op = 0;      ///< which op ran: an index of DeviceRecording::ops
  uint32_t scope = 0;   ///< where it ran, or what opened or closed: of DeviceRecording::scopes
  uint32_t thread = 0;  ///< threads are numbered from 0 in the order in which they were first seen
  Action action = Action::alloc;
  Category category = Category::temporary;  ///< of the block, after the event
  Category before = Category::temporary;    ///< of the block, before the event
};

/// A block of a segment, in use or free.
struct BlockState {
  enum class State : uint8_t { active_allocated, active_pending_free, inactive };

  uint64_t address = 0;
  int64_t size = 0;       ///< bytes of the block
  int64_t requested = 0;  ///< bytes asked for by its owner; 0 when it is free
  State state = State::inactive;
  Category category = Category::temporary;
};

/// A segment and the blocks that tile it.
struct SegmentState {
  uint64_t address = 0;
  int64_t size = 0;
  StreamId stream = 0;
  int64_t pool = 0;  ///< 0: the default pool; else the number of a memory::Pool
  bool is_small = false;
  std::vector<BlockState> blocks;
};

/// What happened on one device, and how its memory looks at the end. Since events can be undone,
/// the end and the events give the state at every moment, also where the oldest were dropped.
struct DeviceRecording {
  Device device;
  std::vector<Event> events;        ///< oldest first
  uint64_t dropped = 0;             ///< events older than these that the ring did not keep
  std::vector<std::string> ops;     ///< names of ops; the first is empty: no op
  std::vector<std::string> scopes;  ///< paths such as "step/forward"; the first is empty: no scope
  std::vector<SegmentState> segments;  ///< at the end, by address
};

/// What happened on all devices in use. Devices that allocated nothing are missing.
struct Recording {
  std::vector<DeviceRecording> devices;
};

struct HistoryOptions {
  /// How many events to keep for each device, the youngest ones; 0: all. One takes 56 bytes.
  size_t max_entries = 0;
};

/// Records from now on what every device allocates and frees, on all threads, and forgets what was
/// recorded before. The record takes no memory of tensors. Costs nothing while it is off.
EBB_API void record_history(const HistoryOptions& options = {});
/// Whether a recording runs.
[[nodiscard]] EBB_API bool recording_history() noexcept;
/// What was recorded so far. While nothing is recorded: the segments of each device, no events.
[[nodiscard]] EBB_API Recording history();
/// Ends the recording and returns it.
EBB_API Recording stop_history();

}  // namespace ebb::memory
