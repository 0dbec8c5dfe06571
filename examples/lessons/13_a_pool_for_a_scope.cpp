#include "lesson.h"

// A pool has segments of its own. At its end all of them go back to the device, whatever else is
// in use.

int main() {
  constexpr int64_t kMiB = 1 << 20;
  ebb::memory::empty_cache();
  const int64_t start = ebb::memory::memory_reserved();
  const ebb::Tensor kept = ebb::empty({16});  // holds a small segment of the default pool
  lesson::equal("a small tensor holds a segment", 2 * kMiB, ebb::memory::memory_reserved() - start);
  {
    ebb::memory::Pool pool(ebb::get_default_device());
    {
      const ebb::memory::PoolGuard guard(pool);
      const ebb::Tensor small = ebb::empty({100});
      const ebb::Tensor large = ebb::empty({12 * kMiB / 4});
      lesson::equal("in the pool: allocated", lesson::bytes({100}) + 12 * kMiB,
                    pool.allocated_bytes());
    }
    lesson::equal("tensors freed: the pool holds", 14 * kMiB, pool.reserved_bytes());
  }
  lesson::equal("pool gone: reserved", 2 * kMiB, ebb::memory::memory_reserved() - start);
  lesson::say("Use a pool for a phase of large, odd sizes, so that it leaves no holes behind.");
}
