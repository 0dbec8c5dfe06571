#include <ebb/core/memory/host_source.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define EBB_HAS_MMAP 1
#endif

namespace ebb::memory {
namespace {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugeSegment = size_t{32} << 20;
constexpr double kFraction = 0.9;

#if EBB_HAS_MMAP

size_t page_size() noexcept {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t round_up(size_t bytes, size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

/// The number that a file holds; unlimited where there is none ("max", or no such file).
size_t read_number(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return kUnlimited;
  unsigned long long value = 0;
  const bool found = std::fscanf(file, "%llu", &value) == 1;
  std::fclose(file);
  return found ? static_cast<size_t>(value) : kUnlimited;
}

/// The least limit of a control group and those around it.
size_t least_of_ancestors(const std::string& root, std::string group, const char* file) {
  size_t least = read_number(root + "/" + file);
  while (!group.empty() && group != "/") {
    least = std::min(least, read_number(root + group + "/" + file));
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return least;
}

/// Each line of /proc/self/cgroup is "id:controllers:path"; no controllers means version 2.
size_t cgroup_limit() {
  size_t least = kUnlimited;
  std::FILE* file = std::fopen("/proc/self/cgroup", "re");
  if (file == nullptr) return least;
  char line[4096];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    const char* controllers = std::strchr(line, ':');
    const char* path = controllers == nullptr ? nullptr : std::strchr(controllers + 1, ':');
    if (path == nullptr) continue;
    const std::string names = "," + std::string(controllers + 1, path) + ",";
    if (names == ",,") {
      least = std::min(least, least_of_ancestors("/sys/fs/cgroup", path + 1, "memory.max"));
    } else if (names.find(",memory,") != std::string::npos) {
      least = std::min(
          least, least_of_ancestors("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes"));
    }
  }
  std::fclose(file);
  return least;
}

size_t ram() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages <= 0 ? kUnlimited : static_cast<size_t>(pages) * page_size();
}

size_t address_space_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return static_cast<size_t>(limit.rlim_cur);
}

/// What the kernel thinks it could give without swapping.
size_t kernel_available() {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return kUnlimited;
  char line[256];
  unsigned long long kib = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file) != nullptr) {
    found = std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
  }
  std::fclose(file);
  return found ? static_cast<size_t>(kib) * 1024 : kUnlimited;
}

void* map(size_t bytes) noexcept {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

/// Maps a range that starts on a huge page: maps more and gives the ends back.
void* map_huge(size_t bytes) noexcept {
  auto* raw = static_cast<char*>(map(bytes + kHugePage));
  if (raw == nullptr) return map(bytes);
  const auto address = reinterpret_cast<uintptr_t>(raw);
  const size_t head = round_up(address, kHugePage) - address;
  if (head > 0) munmap(raw, head);
  if (head < kHugePage) munmap(raw + head + bytes, kHugePage - head);
#if defined(MADV_HUGEPAGE)
  madvise(raw + head, bytes, MADV_HUGEPAGE);  // advice: a refusal changes nothing
#endif
  return raw + head;
}

#else

size_t page_size() noexcept { return 4096; }
size_t round_up(size_t bytes, size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }
size_t cgroup_limit() { return kUnlimited; }
size_t ram() noexcept { return kUnlimited; }
size_t address_space_limit() noexcept { return kUnlimited; }
size_t kernel_available() { return kUnlimited; }

#endif

}  // namespace

size_t host_capacity() noexcept {
  size_t bytes = std::min({ram(), cgroup_limit(), address_space_limit()});
  if (bytes >= size_t{1} << 60) return size_t{1} << 60;
  return static_cast<size_t>(static_cast<double>(bytes) * kFraction);
}

void* HostSource::allocate(size_t bytes) {
  const size_t mapped = round_up(bytes, page_size());
  if (mapped > capacity_ || used_.load(std::memory_order_relaxed) > capacity_ - mapped) {
    return nullptr;
  }
#if EBB_HAS_MMAP
  void* data = mapped >= kHugeSegment ? map_huge(mapped) : map(mapped);
#else
  void* data = std::aligned_alloc(page_size(), mapped);
#endif
  if (data != nullptr) used_.fetch_add(mapped, std::memory_order_relaxed);
  return data;
}

void HostSource::free(void* data, size_t bytes) noexcept {
  const size_t mapped = round_up(bytes, page_size());
#if EBB_HAS_MMAP
  munmap(data, mapped);
#else
  std::free(data);
#endif
  used_.fetch_sub(mapped, std::memory_order_relaxed);
}

size_t HostSource::available() const noexcept {
  const size_t used = used_.load(std::memory_order_relaxed);
  return std::min(kernel_available(), used < capacity_ ? capacity_ - used : 0);
}

}  // namespace ebb::memory
