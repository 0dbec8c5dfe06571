#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <ebb/ebb.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

std::vector<Action> actions(const DeviceRecording& recording) {
  std::vector<Action> out;
  for (const Event& event : recording.events) out.push_back(event.action);
  return out;
}

const DeviceRecording& on_cpu(const Recording& recording) {
  for (const DeviceRecording& device : recording.devices) {
    if (device.device.is_cpu()) return device;
  }
  throw std::runtime_error("nothing was recorded on the CPU");
}

const Event& first(const DeviceRecording& recording, Action action) {
  for (const Event& event : recording.events) {
    if (event.action == action) return event;
  }
  throw std::runtime_error(std::string("no event ") + name(action));
}

/// Undoes all events of the end's blocks and returns what must have been there at the start.
std::map<uint64_t, int64_t> undo(const DeviceRecording& recording) {
  std::map<uint64_t, int64_t> blocks;
  std::map<uint64_t, int64_t> segments;
  for (const SegmentState& segment : recording.segments) {
    segments[segment.address] = segment.size;
    uint64_t at = segment.address;
    for (const BlockState& block : segment.blocks) {
      REQUIRE(block.address == at);
      at += static_cast<uint64_t>(block.size);
      if (block.state != BlockState::State::inactive) blocks[block.address] = block.requested;
    }
    REQUIRE(at == segment.address + static_cast<uint64_t>(segment.size));
  }
  for (auto e = recording.events.rbegin(); e != recording.events.rend(); ++e) {
    if (e->action == Action::alloc) {
      REQUIRE(blocks.at(e->address) == e->bytes);
      blocks.erase(e->address);
    } else if (e->action == Action::free_completed) {
      REQUIRE(blocks.emplace(e->address, e->bytes).second);
      auto segment = segments.upper_bound(e->address);
      REQUIRE(segment != segments.begin());
      --segment;
      REQUIRE(e->address + static_cast<uint64_t>(e->bytes) <=
              segment->first + static_cast<uint64_t>(segment->second));
    } else if (e->action == Action::segment_alloc) {
      REQUIRE(segments.erase(e->address) == 1);
    } else if (e->action == Action::segment_free) {
      REQUIRE(segments.emplace(e->address, e->bytes).second);
    }
  }
  return blocks;
}

}  // namespace

TEST_CASE("a recording tells what was allocated and freed, in order, in bytes") {
  Fixture f;
  f.allocator.start_history(0);
  Held a = f.get(1000);
  const uint64_t address = reinterpret_cast<uintptr_t>(a->data);
  a.reset();
  f.allocator.empty_cache();
  const DeviceRecording recording = f.allocator.history(true);
  CHECK(actions(recording) == std::vector<Action>{Action::segment_alloc, Action::alloc,
                                                  Action::free_requested, Action::free_completed,
                                                  Action::segment_free});
  CHECK(recording.events[0].bytes == 2 * static_cast<int64_t>(kMiB));
  CHECK(recording.events[1].bytes == 1000);
  CHECK(recording.events[1].address == address);
  CHECK(recording.events[3].address == address);
  CHECK(recording.dropped == 0);
  CHECK(recording.segments.empty());
  for (size_t i = 1; i < recording.events.size(); ++i) {
    CHECK(recording.events[i - 1].time_us <= recording.events[i].time_us);
  }
  const Held after = f.get(1000);
  CHECK(f.allocator.history(true).events.empty());  // the recording had ended
}

TEST_CASE("a free waits in the recording as long as another stream uses the block") {
  Fixture f;
  f.allocator.start_history(0);
  Held a = f.get(1000);
  f.allocator.record_stream(a.get(), 7);
  a.reset();
  DeviceRecording recording = f.allocator.history(false);
  CHECK(actions(recording) ==
        std::vector<Action>{Action::segment_alloc, Action::alloc, Action::free_requested});
  REQUIRE(recording.segments.size() == 1);
  CHECK(recording.segments[0].blocks[0].state == BlockState::State::active_pending_free);
  CHECK(recording.segments[0].blocks[0].requested == 1000);
  f.streams.pass(7);
  const Held b = f.get(1000);
  recording = f.allocator.history(true);
  CHECK(actions(recording) == std::vector<Action>{Action::segment_alloc, Action::alloc,
                                                  Action::free_requested, Action::free_completed,
                                                  Action::alloc});
}

TEST_CASE("a request that fails for good is recorded with what the device still had") {
  Fixture f;
  f.limited.set_capacity(kMiB);
  f.allocator.start_history(0);
  CHECK_THROWS_AS(f.get(3 * kMiB + 1), ebb::OutOfMemoryError);
  const DeviceRecording recording = f.allocator.history(true);
  REQUIRE(actions(recording) == std::vector<Action>{Action::oom});
  CHECK(recording.events[0].bytes == static_cast<int64_t>(3 * kMiB + 512));
  CHECK(recording.events[0].address == kMiB);
}

TEST_CASE("a ring keeps the youngest events and says how many it dropped") {
  Fixture f;
  f.allocator.start_history(5);
  for (int i = 1; i <= 10; ++i) const Held a = f.get(static_cast<size_t>(i));
  const DeviceRecording recording = f.allocator.history(true);
  REQUIRE(recording.events.size() == 5);
  CHECK(recording.dropped == 31 - 5);  // one segment and three events a block
  CHECK(recording.events[0].bytes == 9);
  CHECK(recording.events[0].action == Action::free_requested);
  CHECK(recording.events[4].bytes == 10);
  CHECK(undo(recording) == std::map<uint64_t, int64_t>{{recording.events[0].address, 9}});
}

TEST_CASE("any recording can be undone back to its start, also a ring, on several streams") {
  for (const size_t entries : {size_t{0}, size_t{64}}) {
    Fixture f;
    std::mt19937 random(static_cast<unsigned>(entries) + 1);
    std::vector<Held> held;
    const auto work = [&](int steps) {
      for (int i = 0; i < steps; ++i) {
        f.streams.stream = random() % 2;
        if (random() % 2 == 0 || held.empty()) {
          held.push_back(
              f.get(random() % 3 == 0 ? random() % (8 * kMiB) + 1 : random() % 9000 + 1));
          if (random() % 4 == 0) f.allocator.record_stream(held.back().get(), 3);
        } else {
          std::swap(held[random() % held.size()], held.back());
          held.pop_back();
        }
        if (random() % 16 == 0) f.streams.pass(3);
        if (random() % 64 == 0) f.allocator.empty_cache();
      }
    };
    work(300);
    f.streams.pass(3);
    f.allocator.empty_cache();
    std::map<uint64_t, int64_t> at_start;
    for (const Held& h : held) {
      at_start[reinterpret_cast<uintptr_t>(h->data)] = static_cast<int64_t>(h->nbytes);
    }
    f.allocator.start_history(entries);
    work(600);
    const DeviceRecording recording = f.allocator.history(true);
    const auto before = undo(recording);
    if (entries == 0) CHECK(before == at_start);
    CHECK(recording.events.size() == (entries == 0 ? recording.events.size() : entries));
    held.clear();
  }
}

TEST_CASE("events name the op, the scope path, the category and the thread", "[threads]") {
  const ebb::Tensor x = ebb::ones({100}, ebb::kCPU);
  record_history();
  REQUIRE(recording_history());
  {
    const Scope step("history step", ebb::kCPU);
    const Scope forward("forward", ebb::kCPU);
    const ebb::Tensor y = x * x;
    std::thread([&] { const ebb::Tensor z = x + x; }).join();
    set_category(static_cast<Block*>(Held(allocate(512, ebb::kCPU)).get()), Category::gradient);
  }
  const Recording stopped = stop_history();
  CHECK_FALSE(recording_history());
  const DeviceRecording& recording = on_cpu(stopped);
  const Event& open = first(recording, Action::scope_open);
  CHECK(recording.scopes.at(open.scope) == "history step");
  const Event& alloc = first(recording, Action::alloc);
  CHECK(recording.scopes.at(alloc.scope) == "history step/forward");
  CHECK(recording.ops.at(alloc.op) == "mul");
  CHECK(alloc.bytes == 400);
  CHECK(alloc.category == Category::temporary);
  const Event& changed = first(recording, Action::category);
  CHECK(changed.before == Category::temporary);
  CHECK(changed.category == Category::gradient);
  bool other_thread = false;
  for (const Event& event : recording.events) {
    if (recording.ops.at(event.op) == "add") {
      other_thread = event.thread != alloc.thread;
      CHECK(recording.scopes.at(event.scope).empty());  // scopes belong to their thread
    }
  }
  CHECK(other_thread);
}

TEST_CASE("recording takes no memory of tensors and changes no figure") {
  const auto run = [] {
    const int64_t before = memory_allocated(ebb::kCPU);
    const Scope scope("figures", ebb::kCPU);
    Scope inner("inner", ebb::kCPU);
    const ebb::Tensor x = ebb::ones({1000}, ebb::kCPU);
    const ebb::Tensor y = (x * x).sum();
    return std::make_pair(memory_allocated(ebb::kCPU) - before, inner.peak_bytes());
  };
  const auto plain = run();
  record_history();
  const auto recorded = run();
  static_cast<void>(stop_history());
  CHECK(plain == recorded);
  CHECK(plain.first == rounded(4000) + 512);
}

TEST_CASE("threads record into one history without losing an event", "[threads]") {
  record_history();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) const Held a(allocate(4000, ebb::kCPU));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Recording stopped = stop_history();
  int64_t requests = 0;
  int64_t frees = 0;
  for (const Event& event : on_cpu(stopped).events) {
    requests += event.action == Action::alloc && event.bytes == 4000 ? 1 : 0;
    frees += event.action == Action::free_completed && event.bytes == 4000 ? 1 : 0;
  }
  CHECK(requests == 2000);
  CHECK(frees == 2000);
}

TEST_CASE("without a recording, history has the segments and no events") {
  const Held a(allocate(5000, ebb::kCPU));
  const Recording now = history();
  const DeviceRecording& recording = on_cpu(now);
  CHECK(recording.events.empty());
  int64_t found = 0;
  for (const SegmentState& segment : recording.segments) {
    for (const BlockState& block : segment.blocks) {
      if (block.address == reinterpret_cast<uintptr_t>(a->data)) found = block.requested;
    }
  }
  CHECK(found == 5000);
}
