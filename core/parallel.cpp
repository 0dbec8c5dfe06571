#include <ebb/core/parallel.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <signal.h>
#define EBB_HAS_PTHREAD 1
#endif
#if defined(__linux__)
#include <sched.h>
#endif

#include <ebb/core/error.h>
#include <ebb/core/thread_state.h>

namespace ebb {
namespace {

constexpr int kMaxThreads = 1024;
// More pieces than threads, so that a thread that is held up elsewhere does not hold up the rest.
constexpr int64_t kPiecesPerThread = 4;
// Longer than the pause between two ops of a training step, shorter than a scheduler's slice.
constexpr std::chrono::microseconds kSpin{30};

int available_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int initial_num_threads() {
  const char* text = std::getenv("EBB_NUM_THREADS");
  if (text == nullptr || *text == '\0') return std::min(available_cpus(), kMaxThreads);
  const std::string_view view(text);
  int count = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), count);
  EBB_CHECK_AS(ValueError,
               error == std::errc{} && end == view.data() + view.size() && count >= 1 &&
                   count <= kMaxThreads,
               "EBB_NUM_THREADS is \"", text, "\"; it must be a whole number from 1 to ",
               kMaxThreads);
  return count;
}

// 0 until first asked for. Outlives a fork, as the setting should.
constinit std::atomic<int> num_threads{0};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Where threads wait for a condition: spinning at first, then asleep. A condition must change by
/// a sequentially consistent store that wake() follows: either the waker sees the sleeper, or the
/// sleeper sees the change.
class WaitPoint {
 public:
  template <typename Condition>
  void wait(bool spin, const Condition& ready) {
    if (spin && spin_until(ready)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, ready);
    sleepers_.fetch_sub(1);
  }

  void wake() {
    if (sleepers_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }

 private:
  template <typename Condition>
  static bool spin_until(const Condition& ready) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      for (int i = 0; i < 16; ++i) {
        if (ready()) return true;
        pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    return ready();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> sleepers_{0};
};

/// One call of parallel_chunks: a range cut into pieces that the threads take in turn.
struct Job {
  detail::ChunkFunction function = nullptr;
  void* context = nullptr;
  int64_t end = 0;
  int64_t piece = 0;
  /// The caller's thread state, under which every piece runs.
  ThreadState state;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  void run() noexcept {
    while (!failed.load(std::memory_order_relaxed)) {
      // Compare first: a piece near the end of int64_t must not wrap.
      int64_t from = next.load(std::memory_order_relaxed);
      int64_t to;
      do {
        if (from >= end) return;
        to = end - from > piece ? from + piece : end;
      } while (!next.compare_exchange_weak(from, to, std::memory_order_relaxed));
      try {
        function(context, from, to);
      } catch (...) {
        // Read by the caller after it has seen this thread leave.
        if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
      }
    }
  }
};

/// Puts the calling thread into a parallel region, and back.
class RegionGuard {
 public:
  RegionGuard() : state_(thread_state()), outer_(state_.in_parallel_region) {
    state_.in_parallel_region = true;
  }
  ~RegionGuard() { state_.in_parallel_region = outer_; }
  RegionGuard(const RegionGuard&) = delete;
  RegionGuard& operator=(const RegionGuard&) = delete;

 private:
  ThreadState& state_;
  const bool outer_;
};

/// Threads that help with one job at a time. A worker that wakes too late finds the job closed and
/// touches nothing, so a caller waits only for those who take part, never for those who sleep.
class Pool {
 public:
  explicit Pool(Pool* abandoned) : abandoned_(abandoned) {}

  /// False if another thread's job has the pool.
  bool try_run(int64_t begin, int64_t end, int64_t piece, int helpers,
               detail::ChunkFunction function, void* context) {
    std::unique_lock caller(caller_mutex_, std::try_to_lock);
    if (!caller.owns_lock()) return false;
    // The count may have been lowered since the caller read it.
    start_workers(std::min(helpers, num_threads.load(std::memory_order_relaxed) - 1));
    job_.function = function;
    job_.context = context;
    job_.end = end;
    job_.piece = piece;
    job_.state = thread_state();
    job_.next.store(begin, std::memory_order_relaxed);
    job_.failed.store(false, std::memory_order_relaxed);

    participants_.store(kOpen);
    epoch_.fetch_add(1);
    work_.wake();
    {
      const RegionGuard region;
      job_.run();
    }
    participants_.fetch_sub(kOpen);
    done_.wait(spin_, [this] { return participants_.load() == 0; });
    if (std::exception_ptr error = std::exchange(job_.error, nullptr))
      std::rethrow_exception(error);
    return true;
  }

  /// Ends the workers beyond `helpers`, after the job that runs.
  void limit_workers(int helpers) {
    const std::lock_guard caller(caller_mutex_);
    if (static_cast<int>(workers_.size()) > helpers) stop_workers();
  }

 private:
  // participants_ counts the workers in the job in steps of kJoined; kOpen means more may join.
  static constexpr uint32_t kOpen = 1;
  static constexpr uint32_t kJoined = 2;

  bool try_join() {
    uint32_t seen = participants_.load();
    while ((seen & kOpen) != 0) {
      if (participants_.compare_exchange_weak(seen, seen + kJoined)) return true;
    }
    return false;
  }

  void leave() {
    if (participants_.fetch_sub(kJoined) == kJoined) done_.wake();
  }

  void work() {
    for (;;) {
      const uint32_t epoch = epoch_.load();
      if (stopping_.load()) return;
      if (try_join()) {
        ThreadState& state = thread_state();
        const ThreadState own = state;
        state = job_.state;
        state.in_parallel_region = true;
        state.next_sequence_number = own.next_sequence_number;
        job_.run();
        const uint64_t next_sequence_number = state.next_sequence_number;
        state = own;
        state.next_sequence_number = next_sequence_number;
        leave();
      }
      work_.wait(spin_.load(std::memory_order_relaxed),
                 [this, epoch] { return epoch_.load() != epoch; });
    }
  }

  void start_workers(int helpers) {
    if (static_cast<int>(workers_.size()) >= helpers) return;
#if defined(EBB_HAS_PTHREAD)
    // Signals belong to the host program's threads.
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
#endif
    try {
      while (static_cast<int>(workers_.size()) < helpers) {
        workers_.emplace_back([this] { work(); });
      }
    } catch (const std::exception&) {
      // The machine gives no further thread, or no memory for one: the caller does the work.
    }
#if defined(EBB_HAS_PTHREAD)
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
#endif
    // Where threads outnumber CPUs, one that spins keeps another from working.
    spin_.store(static_cast<int>(workers_.size()) < available_cpus(), std::memory_order_relaxed);
  }

  void stop_workers() {
    stopping_.store(true);
    epoch_.fetch_add(1);
    work_.wake();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_.store(false);
  }

  std::mutex caller_mutex_;
  Job job_;
  std::atomic<uint32_t> participants_{0};
  std::atomic<uint32_t> epoch_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> spin_{false};
  WaitPoint work_;
  WaitPoint done_;
  std::vector<std::thread> workers_;
  /// The pool of the process this one was forked from. It has no threads here, and its locks may
  /// be held for ever; it is kept so that a leak checker sees its memory as reachable.
  [[maybe_unused]] Pool* abandoned_;
};

// Never destroyed: static objects may use ebb while they die, and a worker may sleep till the end.
constinit std::atomic<Pool*> current_pool{nullptr};
constinit std::atomic<Pool*> abandoned_pool{nullptr};

void abandon_pool() {
  if (Pool* pool = current_pool.exchange(nullptr)) abandoned_pool.store(pool);
}

Pool& pool() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
#if defined(EBB_HAS_PTHREAD)
  static const int registered = pthread_atfork(nullptr, nullptr, abandon_pool);
  static_cast<void>(registered);
#endif
  Pool* fresh = new Pool(abandoned_pool.load());
  if (current_pool.compare_exchange_strong(pool, fresh)) return *fresh;
  delete fresh;
  return *pool;
}

}  // namespace

void set_num_threads(int count) {
  EBB_CHECK_AS(ValueError, count >= 1 && count <= kMaxThreads, "set_num_threads(", count,
               "): the count must be from 1 to ", kMaxThreads);
  EBB_CHECK(!thread_state().in_parallel_region, "set_num_threads(", count,
            "): not possible inside parallel_for, whose threads it would end; call it before");
  num_threads.store(count, std::memory_order_relaxed);
  if (Pool* pool = current_pool.load(std::memory_order_acquire)) pool->limit_workers(count - 1);
}

int get_num_threads() {
  const int count = num_threads.load(std::memory_order_relaxed);
  if (count != 0) [[likely]]
    return count;
  // Several threads may get here at once; what one of them or set_num_threads stored stays.
  int unset = 0;
  const int initial = initial_num_threads();
  return num_threads.compare_exchange_strong(unset, initial) ? initial : unset;
}

namespace detail {

void parallel_chunks(int64_t begin, int64_t end, int64_t grain, ChunkFunction function,
                     void* context) {
  if (begin >= end) return;
  const int threads = thread_state().in_parallel_region ? 1 : get_num_threads();
  // Unsigned, since the length of a range of int64_t may exceed int64_t.
  const uint64_t length = static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
  const uint64_t share = (length - 1) / static_cast<uint64_t>(threads * kPiecesPerThread) + 1;
  const uint64_t piece = std::max(share, static_cast<uint64_t>(std::max<int64_t>(grain, 1)));
  if (threads > 1 && length > piece) {
    const uint64_t helpers = std::min<uint64_t>((length - 1) / piece, threads - 1);
    if (pool().try_run(begin, end, static_cast<int64_t>(piece), static_cast<int>(helpers), function,
                       context)) {
      return;
    }
  }
  const RegionGuard region;
  function(context, begin, end);
}

}  // namespace detail
}  // namespace ebb
