#include <ebb/cuda/emulator/shared_memory.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include <ebb/cuda/emulator/block.h>
#include <ebb/cuda/emulator/block_scheduler.h>
#include <ebb/cuda/emulator/sanitizer.h>

namespace ebb::cuda::emulator {

uint64_t running_block = 0;

namespace {

constexpr size_t kArena = 1 << 20;
constexpr size_t kGap = 64;  // behind each variable, poisoned

struct Variable {
  const SharedVariable* declared;
  char* data;
  size_t bytes;
};

struct Arena {
  char* base = static_cast<char*>(mmap(nullptr, kArena, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::vector<Variable> variables;
  char* dynamic = nullptr;
  size_t dynamic_bytes = 0;
  size_t end = 0;   // what is given out, gaps included
  size_t used = 0;  // without gaps
  size_t limit = 0;
};

Arena& arena() {
  static Arena& arena = *new Arena;
  return arena;
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

char* take(Arena& arena, size_t bytes, size_t alignment) {
  char* data = arena.base + round_up(arena.end, alignment < 16 ? 16 : alignment);
  arena.end = static_cast<size_t>(data - arena.base) + round_up(bytes, 16) + kGap;
  unpoison_range(data, bytes);
  return data;
}

}  // namespace

void begin_shared_memory(size_t dynamic_bytes, size_t limit) {
  Arena& a = arena();
  a.variables.clear();
  a.end = kGap;
  a.used = dynamic_bytes;
  a.limit = limit;
  poison_range(a.base, kArena);
  a.dynamic_bytes = dynamic_bytes;
  a.dynamic = take(a, dynamic_bytes, 128);
}

void begin_block_of_shared_memory() {
  ++running_block;
  std::memset(arena().dynamic, 0xff, arena().dynamic_bytes);
}

void* find_shared_memory(SharedVariable& variable, size_t bytes, size_t alignment) {
  Arena& a = arena();
  Variable* found = nullptr;
  for (Variable& known : a.variables) {
    if (known.declared == &variable) found = &known;
  }
  if (found == nullptr) {
    a.used += bytes;
    if (a.used > a.limit) report_too_much_shared_memory(a.used, a.limit);
    a.variables.push_back({&variable, take(a, bytes, alignment), bytes});
    found = &a.variables.back();
  }
  std::memset(found->data, 0xff, found->bytes);
  variable.block = running_block;
  variable.data = found->data;
  return found->data;
}

void* dynamic_shared_memory() { return arena().dynamic; }

}  // namespace ebb::cuda::emulator
