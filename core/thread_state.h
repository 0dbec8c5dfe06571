#pragma once

#include <cstdint>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

namespace memory {
class Scope;
class InputGuard;
class PoolGuard;
}  // namespace memory
class GeneratorGuard;
namespace amp {
class CastCache;
}

/// What autocast does on a thread (autograd/autocast.h). Arrays are indexed by DeviceType.
struct AutocastFlags {
  /// Some device type is enabled, and no op casts for others just now: the one branch of an op.
  bool active = false;
  bool cache_enabled = true;
  bool enabled[kDeviceTypes] = {};
  ScalarType dtype[kDeviceTypes] = {kBFloat16, kHalf};
  /// How many guards are open.
  int nesting = 0;
  /// The casts of weights, until the outermost guard ends; null while there are none.
  amp::CastCache* cache = nullptr;
};

/// All that ebb keeps per thread, in one place, so that an op reads thread-local storage once.
/// Plain members with constant initial values only: creating a thread costs nothing.
struct ThreadState {
  /// The op that runs, or null. It leads error messages and out-of-memory messages.
  const char* op_name = nullptr;

  bool grad_enabled = true;
  bool inference_mode = false;
  bool anomaly_mode = false;
  bool anomaly_check_nan = true;
  /// Inside a pool worker: nested parallel_for calls run serially.
  bool in_parallel_region = false;

  /// The innermost memory scope opened on this thread.
  memory::Scope* scope = nullptr;
  /// Above zero: what is allocated on this thread has the category `input`.
  int input_guards = 0;
  /// The pool that requests of this thread go to, or null.
  memory::PoolGuard* pool_guard = nullptr;
  /// A free-memory callback runs: its own requests call no callbacks.
  bool in_memory_callback = false;
  /// The innermost generator that random ops of this thread draw from (core/random/generator.h),
  /// or null for the default ones.
  const GeneratorGuard* generator_guard = nullptr;
  /// The index of the device that the kernels of this op run on (core/ops/kernels.h).
  int8_t kernel_device = 0;

  /// The number the next autograd node of this thread gets.
  uint64_t next_sequence_number = 0;
  /// The innermost saved-tensor hooks (autograd/saved_tensor_hooks.h), or null.
  void* saved_tensor_hooks = nullptr;
  /// The node that backward runs (autograd/node.h), or null.
  void* current_node = nullptr;
  AutocastFlags autocast;
};

namespace detail {
extern EBB_API EBB_INITIAL_EXEC thread_local ThreadState tls_state;
}  // namespace detail

/// The state of the calling thread.
inline ThreadState& thread_state() { return detail::tls_state; }

/// Names the op that runs until the end of the scope. The outermost name stays: an op that calls
/// other ops reports its own.
class OpName {
 public:
  explicit OpName(const char* name) : state_(thread_state()), outer_(state_.op_name) {
    if (outer_ == nullptr) state_.op_name = name;
  }
  ~OpName() { state_.op_name = outer_; }
  OpName(const OpName&) = delete;
  OpName& operator=(const OpName&) = delete;

 private:
  ThreadState& state_;
  const char* outer_;
};

}  // namespace ebb
