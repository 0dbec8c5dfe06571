#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <ebb/core/device.h>
#include <ebb/core/error.h>
#include <ebb/core/export.h>

namespace ebb::memory {

/// What a device looked like when a request failed. Sizes in bytes.
struct OutOfMemoryInfo {
  Device device{};
  size_t requested = 0;           ///< by the caller
  size_t segment = 0;             ///< asked of the source for it; 0: the request cannot succeed
  size_t capacity = 0;            ///< of the device
  size_t limit = 0;               ///< on reserved bytes, from set_memory_limit; 0: none
  size_t available = 0;           ///< what the device could still give, as far as it can tell
  size_t reserved = 0;            ///< held from the device
  size_t allocated = 0;           ///< in use by tensors and ops
  size_t pending = 0;             ///< freed, but waiting for another stream
  size_t largest_free_block = 0;  ///< of the request's pool
  size_t in_private_pools = 0;    ///< free bytes held by pools
  bool injected = false;          ///< by ebb::testing::fail_allocation
  bool growth_forbidden = false;  ///< by a NoGrowthGuard
  std::string pool;               ///< the name of the Pool that was asked; empty: the default one
  size_t pool_limit = 0;          ///< on the bytes that this pool holds; 0: none
  size_t pool_reserved = 0;       ///< held by this pool
  size_t pool_allocated = 0;      ///< in use from this pool
};

/// The message of the error: the facts, then what would help.
[[nodiscard]] EBB_API std::string describe(const OutOfMemoryInfo& info);

/// "1.50 MiB": two decimals in KiB, MiB or GiB; small counts as bytes.
[[nodiscard]] EBB_API std::string format_bytes(size_t bytes);

/// Called when a request failed for good, before the error is thrown. May run on any thread; what
/// it throws is swallowed.
using OutOfMemoryObserver = std::function<void(const OutOfMemoryInfo&)>;
/// Called when no cached block serves a request, before the device is asked for more. Returns
/// whether it let go of anything. It may free tensors; what it asks for itself calls no callbacks.
using FreeMemoryCallback = std::function<bool(Device)>;

/// Registers an observer; the number takes it back with remove_out_of_memory_observer.
EBB_API int add_out_of_memory_observer(OutOfMemoryObserver observer);
EBB_API void remove_out_of_memory_observer(int id);
/// Registers a callback; the number takes it back with remove_free_memory_callback.
EBB_API int add_free_memory_callback(FreeMemoryCallback callback);
EBB_API void remove_free_memory_callback(int id);

namespace detail {
/// Runs every free-memory callback; whether any let go of something. Not under a lock.
bool run_free_memory_callbacks(Device device);
/// Tells the observers, then throws OutOfMemoryError. Not under a lock.
[[noreturn]] void raise_out_of_memory(const OutOfMemoryInfo& info);
/// Hold the lists of callbacks and observers over fork, so that the child finds them in order.
void lock_callbacks_for_fork();
void unlock_callbacks_after_fork();
}  // namespace detail

}  // namespace ebb::memory

namespace ebb {

/// No memory for a request. The op that asked has changed nothing.
class EBB_API OutOfMemoryError : public Error {
 public:
  OutOfMemoryError(const std::string& message, const memory::OutOfMemoryInfo& info)
      : Error(message), info_(info) {}
  /// The figures of the message.
  [[nodiscard]] const memory::OutOfMemoryInfo& info() const noexcept { return info_; }

 private:
  memory::OutOfMemoryInfo info_;
};

}  // namespace ebb
