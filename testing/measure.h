#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ebb/core/device_setup.h>
#include <ebb/core/memory/peak_tracker.h>
#include <ebb/core/memory/registry.h>

namespace ebb::testing {

/// What a callable did to the memory of a device. Bytes are counted as in memory_allocated.
struct Measurement {
  int64_t peak_bytes = 0;  ///< the most that was allocated above the start
  int64_t net_bytes = 0;   ///< what it left allocated, negative if it freed more
  int64_t requests = 0;    ///< how many requests of more than zero bytes it made
};

/// Runs `f()` and measures it. Calls may nest, and scopes and reset_peak_memory_stats inside change
/// nothing. All threads of the device count. What `f` returns is destroyed after the reading, so
/// that returned tensors count as left. An exception of `f` passes through.
template <typename F>
[[nodiscard]] Measurement measure(F&& f, Device device = get_default_device()) {
  memory::detail::PeakTracker tracker(memory::allocator(device));
  const auto read = [&]() -> Measurement {
    const auto reading = tracker.read();
    return {reading.peak_bytes, reading.net_bytes, reading.requests};
  };
  if constexpr (std::is_void_v<decltype(std::forward<F>(f)())>) {
    std::forward<F>(f)();
    return read();
  } else {
    [[maybe_unused]] const auto result = std::forward<F>(f)();
    return read();
  }
}

}  // namespace ebb::testing
