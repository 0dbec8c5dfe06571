#include <ebb/cuda/emulator/executor.h>

#include <numeric>

#include <ebb/cuda/emulator/block_scheduler.h>
#include <ebb/cuda/emulator/crash.h>
#include <ebb/cuda/emulator/function_attributes.h>
#include <ebb/cuda/emulator/shared_memory.h>
#include <ebb/cuda/emulator/state.h>

namespace ebb::cuda::emulator {

namespace {

/// The blocks of a grid in one of many orders: (start + i * stride) mod blocks.
class BlockOrder {
 public:
  BlockOrder(uint64_t blocks, Random& random)
      : blocks_(blocks), next_(random.next() % blocks), stride_(1) {
    switch (random.below(4)) {
      case 0:
        break;
      case 1:
        stride_ = blocks - 1;
        break;
      default:
        do stride_ = random.next() % blocks;
        while (std::gcd(stride_, blocks) != 1);
    }
  }
  uint64_t next() {
    const uint64_t block = next_;
    next_ = (next_ + stride_) % blocks_;
    return block;
  }

 private:
  uint64_t blocks_;
  uint64_t next_;
  uint64_t stride_;
};

}  // namespace

bool execute(const Launch& launch) {
  watch_for_crashes();
  Random random(state().random.next());
  const uint64_t blocks = uint64_t{1} * launch.grid.x * launch.grid.y * launch.grid.z;
  BlockOrder order(blocks, random);
  begin_shared_memory(launch.shared_bytes, shared_memory_limit(launch.kernel->address()));
  scheduler().begin(launch, state().early_exit, random);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t block = order.next();
    blockIdx = {static_cast<unsigned>(block % launch.grid.x),
                static_cast<unsigned>(block / launch.grid.x % launch.grid.y),
                static_cast<unsigned>(block / launch.grid.x / launch.grid.y)};
    begin_block_of_shared_memory();
    if (!scheduler().run_block() || !check_block_of_shared_memory(launch)) return false;
  }
  return true;
}

}  // namespace ebb::cuda::emulator
