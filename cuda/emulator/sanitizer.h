#pragma once

#include <cstddef>

// The interfaces of the sanitizers, or functions that do nothing.

#if defined(__SANITIZE_ADDRESS__)
#define EBB_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EBB_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define EBB_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EBB_TSAN 1
#endif
#endif

#if defined(EBB_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(EBB_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ebb::cuda::emulator {

#if defined(EBB_ASAN)
inline constexpr bool kAddressSanitizer = true;
inline void poison_range(const void* data, size_t bytes) {
  __asan_poison_memory_region(data, bytes);
}
inline void unpoison_range(const void* data, size_t bytes) {
  __asan_unpoison_memory_region(data, bytes);
}
#else
inline constexpr bool kAddressSanitizer = false;
inline void poison_range(const void*, size_t) {}
inline void unpoison_range(const void*, size_t) {}
#endif

}  // namespace ebb::cuda::emulator
