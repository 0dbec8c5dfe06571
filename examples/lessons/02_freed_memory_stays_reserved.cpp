#include "lesson.h"

// What a tensor gave back stays with the allocator, which serves the next one from it. It goes back
// to the device when the cache is emptied.

int main() {
  constexpr int64_t kMiB = 1 << 20;
  ebb::memory::empty_cache();
  const int64_t start = ebb::memory::memory_reserved();
  const auto reserved = [&] { return ebb::memory::memory_reserved() - start; };

  ebb::Tensor a = ebb::empty({16 * kMiB / 4});
  lesson::equal("a tensor of 16 MiB: reserved", 16 * kMiB, reserved());
  a.reset();
  lesson::equal("freed: allocated", 0, lesson::allocated());
  lesson::equal("freed: reserved", 16 * kMiB, reserved());
  a = ebb::empty({16 * kMiB / 4});
  lesson::equal("another one takes its place: reserved", 16 * kMiB, reserved());
  a.reset();
  ebb::memory::empty_cache();
  lesson::equal("cache emptied: reserved", 0, reserved());
  lesson::say("Reserved memory is no leak: look at allocated memory for what a program holds.");
}
