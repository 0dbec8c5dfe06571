#include <ebb/core/memory/pinned.h>

#include <atomic>

#include <ebb/core/device_setup.h>

namespace ebb::memory {

namespace {
constinit std::atomic<CachingAllocator*> registered{nullptr};
}

CachingAllocator& pinned_allocator() {
  CachingAllocator* allocator = find_pinned_allocator();
  if (allocator == nullptr) {
    ebb::detail::set_up_devices(kCUDA);
    allocator = find_pinned_allocator();
  }
  return *allocator;
}

CachingAllocator* find_pinned_allocator() noexcept {
  return registered.load(std::memory_order_acquire);
}

bool is_pinned(const Block* block) noexcept {
  if (block == nullptr) return false;
  const auto* record = static_cast<const detail::Record*>(block);
  return record->kind == detail::Record::Kind::device &&
         static_cast<const detail::BlockRecord*>(record)->segment->allocator ==
             find_pinned_allocator();
}

void register_pinned_allocator(CachingAllocator& allocator) noexcept {
  registered.store(&allocator, std::memory_order_release);
}

}  // namespace ebb::memory
