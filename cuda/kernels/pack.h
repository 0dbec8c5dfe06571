#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ebb/core/export.h>

// Access to several adjacent elements at once: memory-bound kernels reach the bandwidth of a GPU
// with loads and stores of 16 bytes a thread.

namespace ebb::cuda {

/// What one load or store moves at most, in bytes.
inline constexpr size_t kPackBytes = 16;

/// N adjacent elements, moved with accesses of up to 16 bytes. May alias the elements.
template <typename T, int N>
struct [[gnu::may_alias]] alignas(N * sizeof(T) < kPackBytes ? N * sizeof(T) : kPackBytes) Pack {
  static_assert((N & (N - 1)) == 0, "a power of two");
  T elements[N];

  EBB_INLINE T& operator[](int i) { return elements[i]; }
  EBB_INLINE const T& operator[](int i) const { return elements[i]; }
};

/// How many elements of type T make 16 bytes.
template <typename T>
inline constexpr int kPackSize = static_cast<int>(kPackBytes / sizeof(T));

/// Whether a pointer or a stride in bytes suits packs of N elements of `size` bytes each.
inline bool suits_packs(int64_t address, int n, size_t size) {
  const size_t bytes = static_cast<size_t>(n) * size;
  const auto alignment = static_cast<int64_t>(bytes < kPackBytes ? bytes : kPackBytes);
  return address % alignment == 0;
}
inline bool suits_packs(const void* pointer, int n, size_t size) {
  return suits_packs(static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer)), n, size);
}

}  // namespace ebb::cuda
