#pragma once

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/source.h>
#include <ebb/cuda/runtime/api.h>

namespace ebb::cuda {

/// Page-locked memory of the host, for copies that run beside the host. All devices may use it.
class PinnedSource final : public memory::MemorySource {
 public:
  /// Null if the system gives no more. Throws a CUDAError for any other fault.
  [[nodiscard]] void* allocate(size_t bytes) override;
  void free(void* data, size_t bytes) noexcept override;
  [[nodiscard]] size_t capacity() const noexcept override;
  [[nodiscard]] size_t available() const noexcept override;
};

/// Makes the caching allocator of pinned memory and registers it with core (core/memory/pinned.h).
void register_pinned_memory();

/// A copy on `stream` of `device` uses the pinned block: once freed, it is not used again before the
/// stream has passed the point it had reached at the free.
void record_pinned_use(memory::Block* block, DeviceIndex device, cudaStream_t stream);

}  // namespace ebb::cuda
