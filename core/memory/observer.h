#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/memory/block_record.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb::memory::detail {

/// Is told of every block that is handed out or let go, on any device, on the thread where it
/// happens, between construction and detach(). Calls do not overlap. Some come under the lock of
/// an allocator: they must not ask an allocator for anything.
class EBB_API AllocationObserver {
 public:
  AllocationObserver() = default;
  AllocationObserver(const AllocationObserver&) = delete;
  AllocationObserver& operator=(const AllocationObserver&) = delete;

  virtual void allocated(const BlockRecord& block) noexcept = 0;
  virtual void freed(const BlockRecord& block) noexcept = 0;
  /// A tensor was made over `block`: a new one, or one that others use already.
  virtual void tensor_made(const Block* block, const int64_t* sizes, size_t dim,
                           ScalarType dtype) noexcept = 0;

 protected:
  ~AllocationObserver() = default;
  /// The last step of a constructor and the first of a destructor.
  void attach() noexcept;
  void detach() noexcept;

 private:
  friend void tell_allocated(const BlockRecord& block) noexcept;
  friend void tell_freed(const BlockRecord& block) noexcept;
  friend void tell_tensor_made(const Block* block, const int64_t* sizes, size_t dim,
                               ScalarType dtype) noexcept;

  AllocationObserver* next_ = nullptr;
};

extern EBB_API std::atomic<int> observers;

/// Whether anybody wants to know: all that allocating pays while nobody does.
[[nodiscard]] inline bool observed() noexcept {
  return observers.load(std::memory_order_relaxed) > 0;
}
void tell_allocated(const BlockRecord& block) noexcept;
void tell_freed(const BlockRecord& block) noexcept;
void tell_tensor_made(const Block* block, const int64_t* sizes, size_t dim,
                      ScalarType dtype) noexcept;

/// While it is locked, no observer is told anything: for reading what one wrote down, and for fork.
void lock_observers() noexcept;
void unlock_observers() noexcept;

}  // namespace ebb::memory::detail
