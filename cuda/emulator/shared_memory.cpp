#include <ebb/cuda/emulator/shared_memory.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include <ebb/cuda/emulator/block.h>
#include <ebb/cuda/emulator/block_scheduler.h>
#include <ebb/cuda/emulator/report.h>
#include <ebb/cuda/emulator/sanitizer.h>

namespace ebb::cuda::emulator {

uint64_t running_block = 0;

namespace {

constexpr size_t kArena = 1 << 20;
constexpr size_t kGap = 64;  // behind each variable, poisoned
constexpr unsigned char kUntouched = 0xa5;

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
  const size_t taken = round_up(bytes, 16) + kGap;
  arena.end = static_cast<size_t>(data - arena.base) + taken;
  unpoison_range(data, bytes);
  if constexpr (!kAddressSanitizer) std::memset(data + bytes, kUntouched, taken - bytes);
  return data;
}

}  // namespace

void begin_shared_memory(size_t dynamic_bytes, size_t limit) {
  Arena& a = arena();
  a.variables.clear();
  a.end = 0;
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

bool check_block_of_shared_memory(const Launch& launch) {
  if constexpr (kAddressSanitizer) return true;  // it has stopped the write itself
  const Arena& a = arena();
  const auto untouched = [&](const char* data, size_t bytes, const std::string& what) {
    size_t first = bytes;
    const size_t end = round_up(bytes, 16) + kGap;
    while (first < end && static_cast<unsigned char>(data[first]) == kUntouched) ++first;
    if (first == end) return true;
    report("out of bounds in shared memory: block " + str(blockIdx) + " wrote " +
               std::to_string(first - bytes) + " bytes past the end of " + what + " of " +
               std::to_string(bytes) + " bytes\n  in " + describe(launch),
           cudaErrorIllegalAddress);
    return false;
  };
  for (const Variable& variable : a.variables) {
    const SharedVariable& declared = *variable.declared;
    const std::string what = std::string(declared.name) + " at " + str(declared.place);
    if (!untouched(variable.data, variable.bytes, what)) return false;
  }
  return untouched(a.dynamic, a.dynamic_bytes, "dynamic shared memory");
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
