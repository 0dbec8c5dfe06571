#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::autograd {

/// A mutex of four bytes, since every node has one. Waiters sleep.
class SmallLock {
 public:
  void lock() noexcept {
    uint32_t expected = 0;
    if (state_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return;
    while (state_.exchange(2, std::memory_order_acquire) != 0) {
      state_.wait(2, std::memory_order_relaxed);
    }
  }
  void unlock() noexcept {
    if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
  }

 private:
  std::atomic<uint32_t> state_{0};  // 0 free, 1 taken, 2 taken and perhaps awaited
};

}  // namespace ebb::autograd
