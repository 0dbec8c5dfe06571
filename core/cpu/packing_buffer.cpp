#include <ebb/core/cpu/packing_buffer.h>

#include <memory>
#include <new>

namespace ebb::cpu {

namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(void* memory) const noexcept { ::operator delete(memory, kAlignment); }
};

struct Buffer {
  std::unique_ptr<void, Free> memory;
  size_t bytes = 0;
};

thread_local Buffer buffer;

}  // namespace

void* packing_buffer(size_t bytes) {
  if (buffer.bytes < bytes) {
    buffer.memory.reset();
    buffer.bytes = 0;
    buffer.memory.reset(::operator new(bytes, kAlignment));
    buffer.bytes = bytes;
  }
  return buffer.memory.get();
}

}  // namespace ebb::cpu
