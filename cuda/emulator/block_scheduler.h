#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <ebb/cuda/emulator/block.h>
#include <ebb/cuda/emulator/fiber.h>
#include <ebb/cuda/emulator/launch.h>
#include <ebb/cuda/emulator/random.h>

namespace ebb::cuda::emulator {

/// Runs the threads of one block at a time, in a random order. A fiber calls the kernel for one
/// thread after another; another fiber goes on when a thread must wait. Device code reaches the
/// scheduler by the functions of block.h.
class BlockScheduler {
 public:
  BlockScheduler();

  /// Prepares for a launch.
  void begin(const Launch& launch, bool early_exit, Random random);
  /// Runs the block blockIdx. False if a fault ended it.
  bool run_block();

  void wait_for_block(const char* what, void* offer, Combine combine, const void* state,
                      Place place);
  void wait_for_warp(const char* what, void* offer, uint32_t mask, Combine combine,
                     const void* state, Place place);
  /// Leaves the block after a fault of the running thread, which has been reported.
  [[noreturn]] void leave_block();

  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] const Launch& launch() const { return *launch_; }
  /// "thread (1, 0, 0) of block (0, 0, 0)".
  [[nodiscard]] std::string describe_thread(uint32_t thread) const;
  [[nodiscard]] std::string describe_current() const { return describe_thread(current_); }
  /// The lines of a report that name the running thread, the kernel and the launch.
  [[nodiscard]] std::string context() const;
  /// Whether the address is behind the end of a fiber's stack.
  [[nodiscard]] bool stack_overflowed_at(const void* address) const;

 private:
  enum class Waits : uint8_t { no, for_block, for_warp };
  struct Thread {
    Fiber* fiber = nullptr;
    const char* what = nullptr;  // it waits for
    Place place{nullptr, 0};
    uint32_t mask = 0;
    Waits waits = Waits::no;
  };
  struct Warp {
    uint32_t present = 0;
    uint32_t exited = 0;
    uint32_t waiting = 0;
    void* offers[32] = {};
  };

  static void fiber_body(Fiber& fiber);
  void run_threads(Fiber& fiber);
  void finish_current();
  void suspend();
  void resume_current(uint32_t thread);
  uint32_t next_unstarted();
  uint32_t take_ready();
  Fiber& idle_fiber();
  void release_block();
  void release_warp(uint32_t warp, uint32_t mask);
  void check_mask(const Warp& warp, uint32_t mask, const char* what, Place place);
  void check_same_exchange(uint32_t warp, uint32_t mask);
  [[noreturn]] void fault_of_early_exit(uint32_t waiting);
  [[noreturn]] void fault_of_deadlock();
  [[noreturn]] void fault_of_divergence();
  [[noreturn]] void fault_of_shape(const char* what);
  void restart_fibers();
  std::string describe_wait(uint32_t thread) const;

  const Launch* launch_ = nullptr;
  Random random_{1};
  bool early_exit_ = false;
  bool running_ = false;
  bool failed_ = false;

  Fiber host_;
  std::deque<Fiber> fibers_;
  std::vector<Fiber*> idle_;
  std::vector<uint3> indices_;
  dim3 indices_of_;

  uint32_t threads_ = 0;  // in a block
  uint32_t current_ = 0;
  std::vector<uint32_t> order_;
  uint32_t first_ = 0;  // where the block begins in the order
  uint32_t started_ = 0;
  uint32_t exited_ = 0;
  uint32_t blocks_ = 0;
  std::vector<uint32_t> ready_;
  std::vector<Thread> state_;
  std::vector<Warp> warps_;
  uint32_t at_barrier_ = 0;
  uint32_t first_at_barrier_ = 0;
  std::vector<void*> offers_;
};

BlockScheduler& scheduler();

[[noreturn]] void report_too_much_shared_memory(size_t used, size_t limit);

}  // namespace ebb::cuda::emulator
