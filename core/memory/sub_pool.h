#pragma once

#include <cstdint>
#include <string>

#include <ebb/core/memory/block_record.h>
#include <ebb/core/memory/free_tree.h>
#include <ebb/core/memory/statistics.h>

namespace ebb::memory::detail {

struct PoolRecord;

/// The small or the large half of a pool.
struct SubPool {
  PoolRecord* owner = nullptr;
  Statistics::PoolType type = Statistics::small_pool;
  FreeTree free;
  uint64_t searches = 0;  ///< the clock by which free blocks age

  [[nodiscard]] bool is_small() const noexcept { return type == Statistics::small_pool; }
};

/// A pool: the default one of an allocator, or that of a memory::Pool.
struct PoolRecord {
  PoolRecord* next = nullptr;
  CachingAllocator* allocator = nullptr;
  SubPool small;
  SubPool large;
  MemorySource* source = nullptr;
  int64_t number = 0;  ///< of the pools of the allocator; 0: the default one
  bool is_private = false;
  bool use_on_oom = false;  ///< serves requests of the default pool before they fail
  bool no_split = false;
  bool alive = true;  ///< false: its Pool is gone, segments go back as they become free
  size_t limit = 0;   ///< on reserved bytes; 0: none
  std::string name;  ///< for messages
  int64_t segments = 0;
  int64_t reserved = 0;
  int64_t allocated = 0;

  PoolRecord(CachingAllocator* a, MemorySource* s) noexcept : allocator(a), source(s) {
    small.owner = large.owner = this;
    large.type = Statistics::large_pool;
  }
};

}  // namespace ebb::memory::detail
