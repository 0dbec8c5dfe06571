#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <ebb/core/memory/address_source.h>
#include <ebb/core/memory/config.h>

#include "trace.h"

namespace replay {

/// Through which allocator a trace goes.
struct Setup {
  ebb::memory::Config config{};
  size_t capacity = ebb::memory::AddressSource::kCapacity;  ///< of the device, in bytes
  /// As the host's allocator: idle segments are given back as sizes change.
  bool trims = false;
};

/// A request that found no memory, where the replay ended.
struct Failure {
  size_t request = 0;  ///< from 1; 0: of what was in use before the trace
  size_t bytes = 0;    ///< asked for
  std::string message;
};

/// Bytes.
struct Result {
  int64_t peak_allocated = 0;
  int64_t peak_reserved = 0;
  int64_t segments_taken = 0;  ///< how often the device was asked for memory with success
  std::optional<Failure> failure;

  /// How much more is reserved than allocated, peak by peak; 0 where nothing is allocated.
  [[nodiscard]] double ratio() const noexcept {
    return peak_allocated == 0
               ? 0
               : static_cast<double>(peak_reserved) / static_cast<double>(peak_allocated);
  }
};

/// Sends the requests and frees of the trace through a caching allocator whose segments are
/// addresses without memory behind them. All pools of the program that was recorded are one here;
/// what it gave back by empty_cache() or took by reserve() is not in a trace.
[[nodiscard]] Result run(const Trace& trace, const Setup& setup);

}  // namespace replay
