#pragma once

#include <ebb/core/device.h>
#include <ebb/core/tensor/scalar_type.h>
#include <ebb/core/thread_state.h>

// Mixed precision: inside a guard the public ops that core/ops/ops.def gives an autocast class cast
// their floating-point inputs, but float64 ones, before they run. The lists are PyTorch's
// (docs/ops.md shows them). Ops in place, and calls with a dtype of their own, are left alone, and
// so is backward: its ops run in the dtypes that forward chose, wherever it is called from.

namespace ebb {

namespace amp {

/// Casts for the ops of one device type on this thread until the end of the scope; nested guards
/// win, and end in reverse order. Parameters (float32 leaves that require grad and are no views)
/// are cast once: the cast stays, for this thread, until its outermost guard ends or the parameter
/// is written, so that its uses share memory, and their gradients one way back.
class EBB_API AutocastGuard {
 public:
  /// `dtype`: kHalf or kBFloat16, for what gains from it; left out, the one in force (at first
  /// kHalf on CUDA and kBFloat16 on the CPU). `enabled` false makes an island where nothing is
  /// cast. Throws an Error for another dtype.
  explicit AutocastGuard(DeviceType device_type, ScalarType dtype = ScalarType::Undefined,
                         bool enabled = true, bool cache_enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  AutocastFlags outer_;
};

/// All of a thread's autocast that running something again must restore.
class AutocastState {
 public:
  /// What is in force on this thread.
  [[nodiscard]] static AutocastState current() { return AutocastState(thread_state().autocast); }
  /// Whether some device type is enabled.
  [[nodiscard]] bool any_enabled() const noexcept { return flags_.enabled[0] || flags_.enabled[1]; }

 private:
  friend class AutocastStateGuard;
  explicit AutocastState(const AutocastFlags& flags) : flags_(flags) {}
  AutocastFlags flags_;
};

/// Enters a state until the end of the scope, on any thread, with no casts of weights yet; those
/// made inside are dropped at its end, and the outer ones are found again.
class EBB_API AutocastStateGuard {
 public:
  explicit AutocastStateGuard(const AutocastState& state);
  ~AutocastStateGuard();
  AutocastStateGuard(const AutocastStateGuard&) = delete;
  AutocastStateGuard& operator=(const AutocastStateGuard&) = delete;

 private:
  AutocastFlags outer_;
};

}  // namespace amp

// LibTorch's functions, all for the calling thread. Casts of weights are kept only between
// increment_nesting (which a guard calls too) and the decrement_nesting that ends it.
namespace autocast {

[[nodiscard]] EBB_API bool is_autocast_enabled(DeviceType device_type);
EBB_API void set_autocast_enabled(DeviceType device_type, bool enabled);
[[nodiscard]] EBB_API ScalarType get_autocast_dtype(DeviceType device_type);
/// Throws an Error unless dtype is kHalf or kBFloat16.
EBB_API void set_autocast_dtype(DeviceType device_type, ScalarType dtype);
[[nodiscard]] EBB_API bool is_autocast_cache_enabled();
EBB_API void set_autocast_cache_enabled(bool enabled);
/// Drops the casts of weights that this thread keeps.
EBB_API void clear_cache() noexcept;
/// Both return how many are open now.
EBB_API int increment_nesting() noexcept;
EBB_API int decrement_nesting() noexcept;

}  // namespace autocast

}  // namespace ebb
