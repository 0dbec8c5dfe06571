#pragma once

#include <string>

#include <ebb/core/export.h>
#include <ebb/core/memory/history.h>

namespace ebb::memory {

/// Writes segments, blocks and the events of the running recording in the format of
/// torch.cuda.memory._snapshot, for pytorch.org/memory_viz: as a pickle of protocol 2 where the
/// path ends in .pickle or .pkl, as JSON where it ends in .json. The stack of an event is its op,
/// then its scopes, innermost first; `user_metadata` is the category. Devices are numbered as they
/// stand in the recording; `ebb_devices` has their names. Without a recording there are segments
/// alone. Throws a ValueError for another ending, and an Error if the file cannot be written.
EBB_API void snapshot(const std::string& path);
/// The same of a recording that has ended.
EBB_API void snapshot(const std::string& path, const Recording& recording);

/// Writes a trace in Chrome's format (chrome://tracing, ui.perfetto.dev): scopes as slices of their
/// threads, counters of allocated bytes by category and of reserved bytes, and requests that
/// failed. A process of the trace is a device. Times are in microseconds from the first event.
/// Throws an Error if the file cannot be written.
EBB_API void chrome_trace(const std::string& path);
/// The same of a recording that has ended.
EBB_API void chrome_trace(const std::string& path, const Recording& recording);

}  // namespace ebb::memory
