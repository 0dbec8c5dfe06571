#include <ebb/cuda/emulator/memory.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <string>

#include <sys/mman.h>

#include <ebb/cuda/emulator/sanitizer.h>
#include <ebb/cuda/emulator/state.h>

namespace ebb::cuda::emulator {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 512;  // what sizes are counted in
// Freed ranges stay unmapped so long, for uses after the free to be noticed.
constexpr size_t kQuarantine = 256;

struct Piece {
  MemoryInfo info;
  char* mapping = nullptr;  // with a page before and behind that nobody may touch
  size_t mapped = 0;
};

struct Memory {
  std::map<const char*, Piece> pieces;  // by first byte: device and pinned memory
  std::deque<Piece> freed;
  size_t allocated[kMaxEmulatedDevices] = {};
};

Memory& memory() {
  static Memory& memory = *new Memory;
  return memory;
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

Piece* find_piece(const void* data) {
  auto& pieces = memory().pieces;
  const char* address = static_cast<const char*>(data);
  auto next = pieces.upper_bound(address);
  if (next == pieces.begin()) return nullptr;
  Piece& piece = std::prev(next)->second;
  return address < piece.info.begin + piece.info.bytes ? &piece : nullptr;
}

/// Where the allocation at exactly this address stands, if it is of that type.
std::map<const char*, Piece>::iterator find_begin(const void* data, cudaMemoryType type) {
  auto found = memory().pieces.find(static_cast<const char*>(data));
  const bool right = found != memory().pieces.end() && found->second.info.type == type;
  return right ? found : memory().pieces.end();
}

}  // namespace

MemoryInfo find_memory(const void* data) {
  const Piece* piece = find_piece(data);
  return piece == nullptr ? MemoryInfo{} : piece->info;
}

size_t allocated_bytes(int device) { return memory().allocated[device]; }

cudaError_t allocate_device(int device, void** data, size_t bytes) {
  Memory& m = memory();
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  const size_t counted = round_up(bytes, kAlignment);
  const size_t capacity = state().memory[device];
  if (counted < bytes || m.allocated[device] > capacity ||
      counted > capacity - m.allocated[device]) {
    return cudaErrorMemoryAllocation;
  }
  Piece piece;
  piece.mapped = round_up(counted, kPage) + 2 * kPage;
  void* mapping =
      mmap(nullptr, piece.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return cudaErrorMemoryAllocation;
  piece.mapping = static_cast<char*>(mapping);
  char* begin = piece.mapping + kPage;
  const int access = state().protect ? PROT_NONE : PROT_READ | PROT_WRITE;
  if (mprotect(begin, piece.mapped - 2 * kPage, access) != 0) {
    munmap(mapping, piece.mapped);
    return cudaErrorMemoryAllocation;
  }
  // What an earlier mapping left in the sanitizer's shadow is gone; the rest of the page is not
  // ours.
  poison_range(begin + bytes, round_up(bytes, kPage) - bytes);
  piece.info = {cudaMemoryTypeDevice, device, begin, bytes};
  m.pieces[begin] = piece;
  m.allocated[device] += counted;
  *data = begin;
  return cudaSuccess;
}

cudaError_t free_device(void* data) {
  Memory& m = memory();
  if (data == nullptr) return cudaSuccess;
  const auto found = find_begin(data, cudaMemoryTypeDevice);
  if (found == m.pieces.end()) return cudaErrorInvalidValue;
  const Piece piece = found->second;
  m.pieces.erase(found);
  m.allocated[piece.info.device] -= round_up(piece.info.bytes, kAlignment);
  unpoison_range(piece.info.begin, round_up(piece.info.bytes, kPage));
  // A new mapping in the same place drops the pages and refuses every access.
  mmap(piece.mapping, piece.mapped, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  m.freed.push_back(piece);
  if (m.freed.size() > kQuarantine) {
    munmap(m.freed.front().mapping, m.freed.front().mapped);
    m.freed.pop_front();
  }
  return cudaSuccess;
}

void let_host_touch_device_memory(bool allowed) {
  const int access = allowed ? PROT_READ | PROT_WRITE : PROT_NONE;
  for (const auto& [begin, piece] : memory().pieces) {
    if (piece.info.type != cudaMemoryTypeDevice) continue;
    mprotect(piece.info.begin, piece.mapped - 2 * kPage, access);
  }
}

cudaError_t allocate_pinned(void** data, size_t bytes) {
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  char* begin = static_cast<char*>(std::aligned_alloc(kAlignment, round_up(bytes, kAlignment)));
  if (begin == nullptr) return cudaErrorMemoryAllocation;
  poison_range(begin + bytes, round_up(bytes, kAlignment) - bytes);
  Piece piece;
  piece.info = {cudaMemoryTypeHost, current_device(), begin, bytes};
  piece.mapping = begin;  // it is ours to free
  memory().pieces[begin] = piece;
  *data = begin;
  return cudaSuccess;
}

cudaError_t free_pinned(void* data) {
  if (data == nullptr) return cudaSuccess;
  const auto found = find_begin(data, cudaMemoryTypeHost);
  if (found == memory().pieces.end() || found->second.mapping == nullptr) {
    return cudaErrorInvalidValue;
  }
  memory().pieces.erase(found);
  std::free(data);
  return cudaSuccess;
}

cudaError_t register_pinned(void* data, size_t bytes) {
  if (data == nullptr || bytes == 0) return cudaErrorInvalidValue;
  if (find_piece(data) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
  Piece piece;
  piece.info = {cudaMemoryTypeHost, current_device(), static_cast<char*>(data), bytes};
  memory().pieces[piece.info.begin] = piece;
  return cudaSuccess;
}

cudaError_t unregister_pinned(void* data) {
  const auto found = find_begin(data, cudaMemoryTypeHost);
  if (found == memory().pieces.end() || found->second.mapping != nullptr) {
    return cudaErrorHostMemoryNotRegistered;
  }
  memory().pieces.erase(found);
  return cudaSuccess;
}

std::string describe_address(const void* data) {
  const char* address = static_cast<const char*>(data);
  const auto describe = [&](const Piece& piece, const char* kind) {
    const MemoryInfo& info = piece.info;
    std::string where = std::to_string(address - info.begin) + " bytes into ";
    if (address < info.begin) where = std::to_string(info.begin - address) + " bytes before ";
    if (address >= info.begin + info.bytes) {
      where = std::to_string(address - info.begin - static_cast<ptrdiff_t>(info.bytes)) +
              " bytes past the end of ";
    }
    return where + std::to_string(info.bytes) + " bytes of " + kind + " memory of device " +
           std::to_string(info.device);
  };
  for (const auto& [begin, piece] : memory().pieces) {
    if (piece.mapped == 0 || address < piece.mapping || address >= piece.mapping + piece.mapped) {
      continue;
    }
    return describe(piece, "live");
  }
  for (const Piece& piece : memory().freed) {
    if (address >= piece.mapping && address < piece.mapping + piece.mapped) {
      return describe(piece, "freed");
    }
  }
  return "";
}

void poison(const void* data, size_t bytes) { poison_range(data, bytes); }
void unpoison(const void* data, size_t bytes) { unpoison_range(data, bytes); }

}  // namespace ebb::cuda::emulator
