#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ebb/core/memory/block.h>
#include <ebb/core/memory/source.h>
#include <ebb/core/memory/stream.h>

namespace ebb::memory {

class CachingAllocator;

namespace detail {

/// What stands behind a Block.
struct Record : Block {
  enum class Kind : uint8_t { empty, foreign, device };
  explicit Record(Kind k) noexcept : kind(k) {}
  const Kind kind;
};

struct ForeignRecord final : Record {
  ForeignRecord() noexcept : Record(Kind::foreign) {}
  ForeignDeleter deleter = nullptr;
  void* context = nullptr;
};

struct BlockRecord;
struct SubPool;

/// One piece that a source gave. Its blocks tile it, in order of address.
struct Segment {
  Segment* previous = nullptr;
  Segment* next = nullptr;
  char* base = nullptr;
  size_t size = 0;
  BlockRecord* first = nullptr;  ///< the block at `base`
  SubPool* pool = nullptr;
  MemorySource* source = nullptr;
  CachingAllocator* allocator = nullptr;
  bool kept = false;  ///< from reserve(): neither collected nor trimmed
};

/// A stream other than the block's own that uses the block; after the free, the event behind that
/// use. Made when the use is recorded, so that freeing needs no memory.
struct StreamUse {
  StreamUse* next = nullptr;  ///< of the same block, later of the same queue
  BlockRecord* block = nullptr;
  StreamId stream = 0;
  Streams::Event event = nullptr;
};

/// A block of a segment.
///   allocated: somebody owns it.
///   pending:   freed, but another stream may still use it.
///   front:     free, kept whole in the front cache.
///   free:      in the tree of its pool; no neighbour is free.
struct BlockRecord final : Record {
  enum class State : uint8_t { allocated, pending, front, free };

  BlockRecord() noexcept : Record(Kind::device) {}

  State state = State::free;
  Category sticky = Category::temporary;      ///< temporary: none
  Category counted_as = Category::temporary;  ///< where the statistics have it
  bool is_workspace = false;
  std::atomic<uint32_t> saved_holders{0};

  size_t size = 0;     ///< of the block
  size_t counted = 0;  ///< rounded(nbytes)
  int64_t number = 0;  ///< of the request that it serves, from 1, counted by its allocator
  StreamId stream = 0;
  Segment* segment = nullptr;
  BlockRecord* previous = nullptr;  ///< neighbours in the segment
  BlockRecord* next = nullptr;
  BlockRecord* left = nullptr;   ///< children in the tree
  BlockRecord* right = nullptr;  ///< or the next of a list: front cache, spare records
  StreamUse* uses = nullptr;
  uint32_t pending_events = 0;
  uint64_t freed_at = 0;  ///< the pool's count of searches when the block was put there

  [[nodiscard]] char* begin() const noexcept { return static_cast<char*>(data); }
  [[nodiscard]] bool is_split() const noexcept { return previous != nullptr || next != nullptr; }
  /// The category that the tags amount to.
  [[nodiscard]] Category effective_category() const noexcept {
    if (sticky < Category::saved) return sticky;
    if (saved_holders.load(std::memory_order_relaxed) > 0) return Category::saved;
    return is_workspace ? Category::workspace : Category::temporary;
  }
};

/// Records are made in slabs and used again. Not thread-safe.
class RecordPool {
 public:
  RecordPool() = default;
  RecordPool(const RecordPool&) = delete;
  RecordPool& operator=(const RecordPool&) = delete;
  ~RecordPool() {
    while (slabs_ != nullptr) {
      Slab* next = slabs_->next;
      delete slabs_;
      slabs_ = next;
    }
  }

  /// After this, `count` calls of take() cannot fail. Throws std::bad_alloc.
  void ensure(int count) {
    while (spare_count_ < count) {
      auto* slab = new Slab;
      slab->next = slabs_;
      slabs_ = slab;
      for (BlockRecord& record : slab->records) give(&record);
    }
  }
  [[nodiscard]] BlockRecord* take() noexcept {
    BlockRecord* record = spare_;
    spare_ = record->right;
    --spare_count_;
    record->left = record->right = record->previous = record->next = nullptr;
    return record;
  }
  void give(BlockRecord* record) noexcept {
    record->right = spare_;
    spare_ = record;
    ++spare_count_;
  }

 private:
  struct Slab {
    Slab* next = nullptr;
    BlockRecord records[64];
  };
  Slab* slabs_ = nullptr;
  BlockRecord* spare_ = nullptr;
  int spare_count_ = 0;
};

}  // namespace detail
}  // namespace ebb::memory
