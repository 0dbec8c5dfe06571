#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace ebb::memory::detail {

/// A lock of one word for sections of some ten nanoseconds: one atomic exchange to take it and a
/// plain store to give it back, a third of the time of std::mutex, and a forked child may unlock
/// what its parent locked. Who waits spins shortly, then yields, then sleeps, since the holder may
/// be asking the system for memory.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    if (locked_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      lock_slow();
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  void lock_slow() noexcept {
    constexpr int kSpins = 64;
    constexpr int kYields = 64;
    int tries = 0;
    do {
      while (locked_.load(std::memory_order_relaxed)) {
        ++tries;
        if (tries > kSpins + kYields) {
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        } else if (tries > kSpins) {
          std::this_thread::yield();
        }
      }
    } while (locked_.exchange(true, std::memory_order_acquire));
  }

  std::atomic<bool> locked_{false};
};

}  // namespace ebb::memory::detail
