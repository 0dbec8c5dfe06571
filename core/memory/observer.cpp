#include <ebb/core/memory/observer.h>

#include <mutex>

#include <ebb/core/memory/lock.h>

namespace ebb::memory::detail {

constinit std::atomic<int> observers{0};

namespace {
constinit Mutex mutex;
constinit AllocationObserver* first = nullptr;
}  // namespace

void AllocationObserver::attach() noexcept {
  std::lock_guard lock(mutex);
  next_ = first;
  first = this;
  observers.fetch_add(1, std::memory_order_relaxed);
}

void AllocationObserver::detach() noexcept {
  std::lock_guard lock(mutex);
  AllocationObserver** at = &first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
  observers.fetch_sub(1, std::memory_order_relaxed);
}

void tell_allocated(const BlockRecord& block) noexcept {
  std::lock_guard lock(mutex);
  for (AllocationObserver* o = first; o != nullptr; o = o->next_) o->allocated(block);
}

void tell_freed(const BlockRecord& block) noexcept {
  std::lock_guard lock(mutex);
  for (AllocationObserver* o = first; o != nullptr; o = o->next_) o->freed(block);
}

void tell_tensor_made(const Block* block, const int64_t* sizes, size_t dim,
                      ScalarType dtype) noexcept {
  std::lock_guard lock(mutex);
  for (AllocationObserver* o = first; o != nullptr; o = o->next_) {
    o->tensor_made(block, sizes, dim, dtype);
  }
}

void lock_observers() noexcept { mutex.lock(); }

void unlock_observers() noexcept { mutex.unlock(); }

}  // namespace ebb::memory::detail
