#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include <ebb/core/memory/stream.h>

namespace replay {

/// What a file does not say as it should: "history.txt:3: ...", "snapshot.json:
/// device_traces[0][12]: ...".
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One step of a trace. Blocks are numbered from 0 in the order in which the trace names them.
struct Step {
  enum class Kind : uint8_t {
    allocate,
    free,      ///< and it can be used again at once
    let_go,    ///< freed, but another stream uses it until `complete`
    complete,  ///< that stream has passed
  };
  Kind kind = Kind::allocate;
  uint32_t block = 0;
  size_t bytes = 0;  ///< asked for
  ebb::memory::StreamId stream = 0;
};

/// What one device was asked for.
struct Trace {
  std::string device;        ///< as the file names it; empty where it names none
  std::vector<Step> before;  ///< brings about what was in use when the recording began
  std::vector<Step> steps;
  uint32_t blocks = 0;  ///< how many there are in all

  /// How many requests there are in `steps`.
  [[nodiscard]] size_t requests() const;
};

/// Reads a trace of either form from the file at `path`, which messages name. Throws TraceError.
[[nodiscard]] std::vector<Trace> read_file(const std::string& path);
/// The same of a stream.
[[nodiscard]] std::vector<Trace> read(std::istream& in, const std::string& name);

/// Lines `a ID BYTES` (allocate) and `f ID` (free), in any mix. An ID is a word; once freed it may
/// be used again. Empty lines, and what stands behind a #, say nothing.
[[nodiscard]] Trace read_lines(std::istream& in, const std::string& name);
/// A snapshot in JSON, as memory::snapshot or torch.cuda.memory._snapshot make it: a trace for each
/// device that has events.
[[nodiscard]] std::vector<Trace> read_snapshot(std::istream& in, const std::string& name);

}  // namespace replay
