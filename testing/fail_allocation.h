#pragma once

#include <cstdint>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>

namespace ebb::testing {

/// The n-th request for memory of the device from now on (1 is the next one), of any thread, throws
/// OutOfMemoryError, whether or not cached memory could serve it. Requests of zero bytes do not
/// count. It happens once; a new call replaces an earlier one; 0 takes it back.
EBB_API void fail_allocation(int64_t n, Device device = get_default_device());
/// No request will fail.
EBB_API void clear_fail_allocation(Device device = get_default_device());
/// Whether the failure that was asked for is still to come.
[[nodiscard]] EBB_API bool fail_allocation_pending(Device device = get_default_device());

/// As fail_allocation, taken back at the end of the scope.
class EBB_API FailAllocation {
 public:
  explicit FailAllocation(int64_t n, Device device = get_default_device()) : device_(device) {
    fail_allocation(n, device_);
  }
  ~FailAllocation() { clear(); }
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;

  /// Whether the request has come and failed. The answer stays after clear().
  [[nodiscard]] bool fired() const { return cleared_ ? fired_ : !fail_allocation_pending(device_); }
  /// Takes the failure back.
  void clear() {
    if (cleared_) return;
    fired_ = fired();
    cleared_ = true;
    clear_fail_allocation(device_);
  }

 private:
  Device device_;
  bool cleared_ = false;
  bool fired_ = false;
};

}  // namespace ebb::testing
