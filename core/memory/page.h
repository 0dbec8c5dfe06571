#pragma once

#include <string>
#include <vector>

#include <ebb/core/export.h>
#include <ebb/core/memory/history.h>

namespace ebb::memory {

/// A recording with what a reader should know of it.
struct NamedRecording {
  std::string name;
  std::string note;  ///< a line or two of text; may be empty
  Recording recording;
  std::string group = {};  ///< recordings of one group are compared with each other
};

/// Writes one page of HTML, without scripts and with nothing to load, that shows of each recording:
/// memory over time by category, what the peak was made of by category and scope, and the
/// segments and blocks at the peak; every picture has its figures as text too. Several recordings
/// are compared first, group by group, in the order of their first ones. However long they are, the
/// page stays small: of neighbouring moments it keeps the highest and the last. Throws an Error if
/// the file cannot be written.
EBB_API void write_page(const std::string& path, const std::vector<NamedRecording>& recordings,
                        const std::string& title = "Memory");
/// The same for what was recorded so far (record_history).
///
/// `EBB_MEMORY_REPORT=page.html ./program` does this for a program as it is: it records from the
/// first request on, the youngest two million events of each device, with a scope for each module,
/// and writes the page at exit, also when an exception leaves main.
EBB_API void write_page(const std::string& path);

}  // namespace ebb::memory
