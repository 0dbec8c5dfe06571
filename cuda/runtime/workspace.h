#pragma once

#include <ebb/core/memory/block.h>
#include <ebb/core/thread_state.h>

namespace ebb::cuda {

/// Scratch of a kernel on the device of the running op: from the caching allocator, counted as
/// workspace, and given back at the end of the scope. The kernels that were queued before may use it
/// still: whoever gets it next on this stream runs after them.
class Workspace : public memory::Workspace {
 public:
  /// Throws OutOfMemoryError. Zero bytes: data() is null.
  explicit Workspace(size_t bytes)
      : memory::Workspace(bytes, Device(kCUDA, thread_state().kernel_device)) {}
};

}  // namespace ebb::cuda
