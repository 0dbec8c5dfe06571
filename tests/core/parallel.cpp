#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ebb/core/error.h>
#include <ebb/core/parallel.h>
#include <ebb/core/thread_state.h>

#include "catch.h"

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

namespace {

/// Sets the number of threads for one test, and back.
class Threads {
 public:
  explicit Threads(int count) : before_(ebb::get_num_threads()) { ebb::set_num_threads(count); }
  ~Threads() { ebb::set_num_threads(before_); }

 private:
  int before_;
};

/// True if each index of [0, size) is visited once by a parallel_for with this grain.
bool covers_once(int64_t size, int64_t grain) {
  std::vector<int> visits(size);
  ebb::parallel_for(0, size, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[i];
  });
  return std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; });
}

#if defined(__linux__)
int64_t live_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}
#endif

/// The exit code of a forked child that runs f, or -1 if it did not exit by itself.
template <typename F>
int exit_code_of_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("parallel_for visits each index once for any size, grain and thread count") {
  for (const int threads : {1, 2, 3, 8}) {
    const Threads scope(threads);
    for (const int64_t size : {0, 1, 2, 7, 31, 32, 33, 1000, 65537}) {
      for (const int64_t grain : {1, 3, 32, 1000, 100000}) {
        CAPTURE(threads, size, grain);
        REQUIRE(covers_once(size, grain));
      }
    }
  }
}

TEST_CASE("each piece of a parallel_for has at least the grain but the last") {
  const Threads scope(8);
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> pieces;
  ebb::parallel_for(-50, 1003, 100, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    pieces.emplace_back(begin, end);
  });
  std::sort(pieces.begin(), pieces.end());
  REQUIRE(pieces.front().first == -50);
  REQUIRE(pieces.back().second == 1003);
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    REQUIRE(pieces[i].second == pieces[i + 1].first);
    REQUIRE(pieces[i].second - pieces[i].first >= 100);
  }
}

TEST_CASE("a grain below one counts as one") {
  const Threads scope(4);
  REQUIRE(covers_once(100, 0));
  REQUIRE(covers_once(100, -5));
}

TEST_CASE("the ends of int64 are ordinary indices to parallel_for") {
  const Threads scope(4);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> count{0};
  ebb::parallel_for(kMax - 1000, kMax, 1,
                    [&](int64_t begin, int64_t end) { count += end - begin; });
  REQUIRE(count == 1000);
}

TEST_CASE("pieces run on several threads, the calling one among them") {
  const Threads scope(4);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> running{0};
  // A barrier of two: it opens only if two threads are inside at the same time.
  ebb::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    ++running;
    while (running < 2) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  REQUIRE(ids.size() == 2);
  REQUIRE(ids.count(std::this_thread::get_id()) == 1);
}

TEST_CASE("with one thread everything runs on the caller, in one piece") {
  const Threads scope(1);
  int pieces = 0;
  ebb::parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) {
    ++pieces;
    REQUIRE(begin == 0);
    REQUIRE(end == 1000);
  });
  REQUIRE(pieces == 1);
}

#if defined(__linux__)
TEST_CASE("set_num_threads(1) ends the workers and starts none") {
  const Threads scope(8);
  covers_once(1000, 1);
  ebb::set_num_threads(1);
  const int64_t before = live_threads();
  covers_once(1000, 1);
  REQUIRE(live_threads() == before);
  ebb::set_num_threads(3);
  REQUIRE(live_threads() == before);  // lazily: none before the first use
  covers_once(1000, 1);
  REQUIRE(live_threads() == before + 2);
  ebb::set_num_threads(1);
  REQUIRE(live_threads() == before);
}
#endif

TEST_CASE("an exception in a piece reaches the caller after the other pieces have ended") {
  for (const int threads : {1, 2, 8}) {
    const Threads scope(threads);
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> inside{0};
      REQUIRE_THROWS_AS(ebb::parallel_for(0, 64, 1,
                                          [&](int64_t begin, int64_t end) {
                                            ++inside;
                                            if (begin <= 40 && 40 < end) {
                                              --inside;
                                              throw ebb::IndexError("forty");
                                            }
                                            --inside;
                                          }),
                        ebb::IndexError);
      REQUIRE(inside == 0);
    }
    REQUIRE(covers_once(1000, 1));
  }
}

TEST_CASE("when every piece throws, one exception arrives and the pool goes on") {
  const Threads scope(8);
  for (int round = 0; round < 100; ++round) {
    REQUIRE_THROWS_WITH(
        ebb::parallel_for(0, 8, 1, [](int64_t, int64_t) { throw std::runtime_error("no"); }), "no");
  }
  REQUIRE(covers_once(1000, 1));
}

TEST_CASE("a nested parallel_for runs on the thread of its piece") {
  for (const int threads : {1, 8}) {
    const Threads scope(threads);
    std::atomic<int64_t> sum{0};
    std::atomic<bool> moved{false};
    ebb::parallel_for(0, 16, 1, [&](int64_t begin, int64_t end) {
      const auto outer = std::this_thread::get_id();
      for (int64_t i = begin; i < end; ++i) {
        ebb::parallel_for(0, 100, 1, [&](int64_t from, int64_t to) {
          if (std::this_thread::get_id() != outer) moved = true;
          sum += to - from;
        });
      }
    });
    REQUIRE(sum == 1600);
    REQUIRE_FALSE(moved);
    REQUIRE_FALSE(ebb::thread_state().in_parallel_region);
  }
}

TEST_CASE("an error in a piece names the op of the calling thread") {
  const Threads scope(8);
  const ebb::OpName name("add");
  for (int bad = 0; bad < 8; ++bad) {
    REQUIRE_THROWS_WITH(ebb::parallel_for(0, 8, 1,
                                          [&](int64_t begin, int64_t end) {
                                            EBB_CHECK(bad < begin || bad >= end, "piece ", bad);
                                          }),
                        "add: piece " + std::to_string(bad));
  }
}

TEST_CASE("a piece sees the modes of the calling thread, and leaves its worker as it was") {
  const Threads scope(4);
  ebb::thread_state().grad_enabled = false;
  std::atomic<bool> as_caller{true};
  ebb::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    if (ebb::thread_state().grad_enabled) as_caller = false;
  });
  ebb::thread_state().grad_enabled = true;
  REQUIRE(as_caller);
  ebb::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    if (!ebb::thread_state().grad_enabled) as_caller = false;
  });
  REQUIRE(as_caller);
}

TEST_CASE("many threads may call parallel_for at once") {
  const Threads scope(8);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 200; ++round) {
        if (!covers_once(64 + caller, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("the thread count may change while other threads call parallel_for") {
  const Threads scope(2);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!stop) {
        if (!covers_once(64, 1)) ++wrong;
        ++calls;
      }
    });
  }
  for (int round = 0; calls < 1000; ++round) ebb::set_num_threads(1 + round % 4);
  stop = true;
  for (std::thread& caller : callers) caller.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("set_num_threads refuses counts below one and calls from a piece") {
  REQUIRE_THROWS_AS(ebb::set_num_threads(0), ebb::ValueError);
  REQUIRE_THROWS_AS(ebb::set_num_threads(-3), ebb::ValueError);
  const Threads scope(4);
  REQUIRE_THROWS_AS(ebb::parallel_for(0, 8, 1, [](int64_t, int64_t) { ebb::set_num_threads(2); }),
                    ebb::Error);
  REQUIRE(ebb::get_num_threads() == 4);
}

#if defined(__linux__)
TEST_CASE("threads from the environment, seen from a process of its own", "[.environment]") {
  const char* text = std::getenv("EBB_NUM_THREADS");
  if (text == nullptr) {
    REQUIRE(ebb::get_num_threads() >= 1);
  } else if (std::string(text) == "3") {
    REQUIRE(ebb::get_num_threads() == 3);
  } else {
    REQUIRE_THROWS_AS(ebb::get_num_threads(), ebb::ValueError);
    ebb::set_num_threads(2);
    REQUIRE(ebb::get_num_threads() == 2);
  }
}

TEST_CASE("EBB_NUM_THREADS sets the thread count, and what is no count is an error") {
  for (const char* text : {"3", "0", "-1", "two", "4 ", "99999999999"}) {
    CAPTURE(text);
    const pid_t child = fork();
    if (child == 0) {
      setenv("EBB_NUM_THREADS", text, 1);
      execl("/proc/self/exe", "tests", "[.environment]", "-o", "/dev/null", nullptr);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
  }
}
#endif

TEST_CASE("a worker that has gone to sleep wakes for the next job") {
  const Threads scope(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int> running{0};
    ebb::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++running;
      while (running < 2) std::this_thread::yield();
    });
    REQUIRE(running == 2);
  }
}

// ThreadSanitizer cannot follow threads that a child starts after a fork of a threaded process.
#if !defined(THREAD_SANITIZER)
namespace {

/// Whether a parallel_for works, without an allocation of its own.
bool counts_to_hundred() {
  std::atomic<int64_t> sum{0};
  ebb::parallel_for(0, 100, 1, [&](int64_t from, int64_t to) { sum += to - from; });
  return sum == 100;
}

/// Starts the pool's threads and gives them time to get past what a new thread allocates:
/// AddressSanitizer's allocator does not release its locks in a forked child.
void start_pool() {
  counts_to_hundred();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace

TEST_CASE("parallel_for works in a child forked from a threaded parent, and in its child") {
  const Threads scope(4);
  start_pool();
  const auto two_threads_meet = [] {
    std::atomic<int> running{0};
    ebb::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      ++running;
      while (running < 2) std::this_thread::yield();
    });
    return counts_to_hundred();
  };
  REQUIRE(exit_code_of_child([&] {
            if (!two_threads_meet()) return false;
            start_pool();
            return exit_code_of_child(two_threads_meet) == 0;
          }) == 0);
  REQUIRE(counts_to_hundred());
}

TEST_CASE("a fork while other threads use the pool leaves the child a working pool") {
  const Threads scope(4);
  start_pool();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) counts_to_hundred();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  int failures = 0;
  for (int round = 0; round < 20; ++round) {
    failures += exit_code_of_child([] {
                  if (!counts_to_hundred()) return false;
                  ebb::set_num_threads(1);
                  return counts_to_hundred();
                }) != 0;
  }
  stop = true;
  busy.join();
  REQUIRE(failures == 0);
}
#endif
