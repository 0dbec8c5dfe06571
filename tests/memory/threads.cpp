#include <atomic>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Held;

namespace {

constexpr int kThreads = 4;

template <typename F>
void on_threads(F&& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads that allocate and free at once are counted exactly", "[threads]") {
  const int64_t before = memory_allocated();
  reset_peak_memory_stats();
  std::vector<Held> left[kThreads];
  std::atomic<int> wrong{0};
  on_threads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<Held> held;
    for (int i = 0; i < 3000; ++i) {
      if (held.size() < 20 && random() % 2 == 0) {
        held.emplace_back(
            allocate(random() % (random() % 16 == 0 ? 3'000'000 : 9000) + 1, ebb::kCPU));
        auto* bytes = static_cast<unsigned char*>(held.back()->data);
        bytes[0] = bytes[held.back()->nbytes - 1] = static_cast<unsigned char>(thread);
      } else if (!held.empty()) {
        const size_t k = random() % held.size();
        const auto* bytes = static_cast<const unsigned char*>(held[k]->data);
        if (bytes[held[k]->nbytes - 1] != thread) ++wrong;
        std::swap(held[k], held.back());
        held.pop_back();
      }
      if (i % 500 == 0) allocator(ebb::kCPU).check_invariants();
    }
    left[thread].emplace_back(allocate(1024, ebb::kCPU));
  });
  CHECK(wrong == 0);
  CHECK(memory_allocated() == before + kThreads * 1024);
  for (auto& held : left) held.clear();
  CHECK(memory_allocated() == before);
  allocator(ebb::kCPU).check_invariants();
}

TEST_CASE("a block may be freed on another thread than it was allocated on", "[threads]") {
  const int64_t before = memory_allocated();
  std::vector<Held> blocks;
  for (size_t i = 0; i < 400; ++i) blocks.emplace_back(allocate(i * 64 + 1, ebb::kCPU));
  on_threads([&](int thread) {
    for (size_t i = static_cast<size_t>(thread); i < blocks.size(); i += kThreads)
      blocks[i].reset();
  });
  CHECK(memory_allocated() == before);
  allocator(ebb::kCPU).check_invariants();
}

TEST_CASE("the last of owners on several threads frees the block", "[threads]") {
  const int64_t before = memory_allocated();
  for (int round = 0; round < 200; ++round) {
    Block* block = allocate(777, ebb::kCPU);
    for (int i = 1; i < kThreads; ++i) retain(block);
    on_threads([&](int) { release(block); });
  }
  CHECK(memory_allocated() == before);
}

TEST_CASE("categories change on several threads and the sums stay right", "[threads]") {
  std::vector<Held> blocks;
  for (int i = 0; i < 8; ++i) blocks.emplace_back(allocate(1000, ebb::kCPU));
  on_threads([&](int thread) {
    for (int i = 0; i < 2000; ++i) {
      Block* block = blocks[static_cast<size_t>(i) % blocks.size()].get();
      hold_saved(block);
      if (thread == 0) set_category(block, Category::gradient);
      if (thread == 1) set_category(block, Category::temporary);
      (void)category(block);
      unhold_saved(block);
    }
  });
  for (const Held& block : blocks) set_category(block.get(), Category::temporary);
  allocator(ebb::kCPU).check_invariants();
  for (const Held& block : blocks) CHECK(category(block.get()) == Category::temporary);
}

TEST_CASE("scopes on several threads see all traffic and end cleanly", "[threads]") {
  Scope outer("threads");
  on_threads([&](int thread) {
    for (int i = 0; i < 200; ++i) {
      Scope inner(thread % 2 == 0 ? "even" : "odd");
      const Held a(allocate(512, ebb::kCPU));
      if (i % 50 == 0) (void)scope_summary();
      if (i % 70 == 0) empty_cache();
      (void)memory_stats();
    }
  });
  CHECK(outer.net_bytes() == 0);
  CHECK(outer.peak_bytes() >= 512);
  CHECK(outer.peak_bytes() <= kThreads * 512);
  CHECK(outer.requests() == kThreads * 200);
}

TEST_CASE("pools of different threads do not mix", "[threads]") {
  std::atomic<int> wrong{0};
  on_threads([&](int) {
    const Pool pool;
    const PoolGuard guard(pool);
    for (int i = 0; i < 200; ++i) {
      const Held a(allocate(2000, ebb::kCPU));
      if (pool.allocated_bytes() != 2048) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a forked child allocates and frees while other threads of the parent did", "[threads]") {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {  // holds every lock of the allocator at some moment
      Scope scope("busy");
      const Held a(allocate(3000, ebb::kCPU));
      const Held b(allocate(3'000'000, ebb::kCPU));
      empty_cache();
    }
  });
  const Held before(allocate(1000, ebb::kCPU));
  int failures = 0;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      release(allocate(5000, ebb::kCPU));
      release(allocate(5'000'000, ebb::kCPU));
      { Scope scope("child"); }
      allocator(ebb::kCPU).check_invariants();
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) ++failures;
  }
  stop = true;
  busy.join();
  CHECK(failures == 0);
}
