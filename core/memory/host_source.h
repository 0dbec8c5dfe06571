#pragma once

#include <atomic>

#include <ebb/core/memory/source.h>

namespace ebb::memory {

/// How many bytes of host memory a process may use in all: the least of the machine's RAM, the
/// limits of its control groups (v1 and v2) and RLIMIT_AS, times 0.9, since Linux kills a process
/// that takes too much rather than refusing.
[[nodiscard]] EBB_API size_t host_capacity() noexcept;

/// The memory of the host, from mmap. Pieces of 32 MiB and more, which one request fills, are
/// aligned for and advised to use huge pages; smaller ones are not, since a huge page that is
/// touched once is resident whole. Refuses what would pass its capacity.
class EBB_API HostSource final : public MemorySource {
 public:
  HostSource() noexcept : capacity_(host_capacity()) {}

  [[nodiscard]] void* allocate(size_t bytes) override;
  void free(void* data, size_t bytes) noexcept override;
  [[nodiscard]] size_t capacity() const noexcept override { return capacity_; }
  [[nodiscard]] size_t available() const noexcept override;

 private:
  size_t capacity_;
  std::atomic<size_t> used_{0};
};

}  // namespace ebb::memory
