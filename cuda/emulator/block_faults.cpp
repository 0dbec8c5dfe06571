// The faults of a block: what was wrong, in which thread, and where.

#include <cstdio>
#include <cstring>

#include <ebb/cuda/emulator/block_scheduler.h>
#include <ebb/cuda/emulator/report.h>

namespace ebb::cuda::emulator {

namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kShownThreads = 8;

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

bool same(const Place& a, const Place& b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

}  // namespace

std::string BlockScheduler::describe_thread(uint32_t thread) const {
  return "thread " + str(indices_[thread]) + " of block " + str(blockIdx);
}

std::string BlockScheduler::describe_wait(uint32_t thread) const {
  const Thread& state = state_[thread];
  return describe_thread(thread) + " waits in " + state.what + " at " + str(state.place);
}

std::string BlockScheduler::context() const {
  return "\n  running " + describe_current() + "\n  in " + describe(*launch_);
}

// Leaving a block forgets the fiber's stack: texts are made and freed before.

void BlockScheduler::fault_of_divergence() {
  report("divergent barriers: " + describe_wait(current_) + ", but " +
             describe_wait(first_at_barrier_) + context(),
         cudaErrorLaunchFailure);
  leave_block();
}

void BlockScheduler::fault_of_shape(const char* what) {
  report(std::string(what) + " at " + str(state_[current_].place) +
             " in a block that is not one-dimensional and of whole warps" + context(),
         cudaErrorLaunchFailure);
  leave_block();
}

void BlockScheduler::fault_of_early_exit(uint32_t waiting) {
  {
    uint32_t gone = current_;
    if (waiting == current_) {
      for (gone = 0; !(warps_[gone / kWarp].exited >> gone % kWarp & 1);) ++gone;
    }
    const std::string text = "exit while others wait: " + describe_thread(gone) +
                             " has returned, but " + describe_wait(waiting) + " for it" + context();
    report(text, cudaErrorLaunchFailure);
  }
  leave_block();
}

void BlockScheduler::fault_of_deadlock() {
  {
    std::string text = "deadlock: no thread of block " + str(blockIdx) + " can go on";
    uint32_t shown = 0;
    uint32_t last = threads_;
    uint32_t left_out = 0;
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      if (state_[thread].waits == Waits::no) continue;
      // One of those who wait for the same is enough.
      const bool repeated = last < threads_ && same(state_[last].place, state_[thread].place) &&
                            state_[last].mask == state_[thread].mask;
      last = thread;
      if (repeated || shown == kShownThreads) {
        ++left_out;
        continue;
      }
      ++shown;
      text += "\n  " + describe_wait(thread);
      if (state_[thread].waits == Waits::for_warp) {
        text += " for the lanes " + hex(state_[thread].mask);
      }
    }
    if (left_out > 0) text += "\n  and " + std::to_string(left_out) + " more wait";
    text += "\n  in " + describe(*launch_);
    report(text, cudaErrorLaunchFailure);
  }
  leave_block();
}

void BlockScheduler::check_mask(const Warp& warp, uint32_t mask, const char* what, Place place) {
  const uint32_t lane = current_ % kWarp;
  const char* wrong = nullptr;
  uint32_t lanes = 0;
  if (!(mask >> lane & 1)) {
    wrong = "the calling lane is not in the mask";
    lanes = 1u << lane;
  } else if ((mask & ~warp.present) != 0) {
    wrong = "the mask names lanes that the block does not have";
    lanes = mask & ~warp.present;
  } else if ((mask & warp.exited) != 0) {
    wrong = "the mask names lanes that have returned";
    lanes = mask & warp.exited;
  }
  if (wrong == nullptr) return;
  {
    const std::string text = std::string(wrong) + ": " + what + " at " + str(place) +
                             " with mask " + hex(mask) + ", wrong lanes " + hex(lanes) + context();
    report(text, cudaErrorLaunchFailure);
  }
  leave_block();
}

void BlockScheduler::check_same_exchange(uint32_t warp, uint32_t mask) {
  const Thread& self = state_[current_];
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint32_t thread = warp * kWarp + lane;
    const Thread& other = state_[thread];
    if (other.mask == mask && same(other.place, self.place)) continue;
    {
      const std::string text =
          "lanes of a warp meet in different exchanges: " + describe_wait(current_) +
          " with mask " + hex(mask) + ", but " + describe_wait(thread) + " with mask " +
          hex(other.mask) + "\n  in " + describe(*launch_);
      report(text, cudaErrorLaunchFailure);
    }
    leave_block();
  }
}

void report_source_outside_mask(const char* what, int lane, int source, uint32_t mask,
                                Place place) {
  {
    const std::string text = std::string("a lane reads from one outside the mask: in ") + what +
                             " at " + str(place) + " lane " + std::to_string(lane) +
                             " reads lane " + std::to_string(source) + ", the mask is " + hex(mask);
    // The running thread is the last of the lanes to come.
    report(text + scheduler().context(), cudaErrorLaunchFailure);
  }
  scheduler().leave_block();
}

void report_too_much_shared_memory(size_t used, size_t limit) {
  {
    report("too much shared memory: " + std::to_string(used) +
               " bytes, where a block of this "
               "launch may have " +
               std::to_string(limit) + scheduler().context(),
           cudaErrorLaunchFailure);
  }
  scheduler().leave_block();
}

}  // namespace ebb::cuda::emulator
