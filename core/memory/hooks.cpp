#include <cstring>

#include <ebb/core/memory/stream.h>

#if defined(__SANITIZE_ADDRESS__)
#define EBB_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EBB_HAS_ASAN 1
#endif
#endif
#if defined(EBB_HAS_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace ebb::memory {

MemoryHooks host_hooks() noexcept {
  MemoryHooks hooks;
#if defined(EBB_HAS_ASAN)
  hooks.poison = [](const void* data, size_t bytes, Device, StreamId) {
    __asan_poison_memory_region(data, bytes);
  };
  hooks.unpoison = [](const void* data, size_t bytes, Device, StreamId) {
    __asan_unpoison_memory_region(data, bytes);
  };
#endif
  hooks.fill = [](void* data, size_t bytes, Device, StreamId) {
    std::memset(data, 0xff, bytes);
  };
  return hooks;
}

}  // namespace ebb::memory
