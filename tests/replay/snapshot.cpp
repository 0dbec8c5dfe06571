#include <algorithm>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <ebb/ebb.h>

#include "catch.h"
#include "memory/helpers.h"
#include "replay/replay.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;
using replay::Trace;
using replay::TraceError;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

/// The traces of a recording that went through a file.
std::vector<Trace> through_file(const Recording& recording) {
  const std::string path = "/tmp/ebb_replay_" + std::to_string(getpid()) + ".json";
  snapshot(path, recording);
  std::vector<Trace> traces = replay::read_file(path);
  std::remove(path.c_str());
  return traces;
}

Trace through_file(DeviceRecording recording) {
  Recording all;
  all.devices.push_back(std::move(recording));
  return through_file(all).at(0);
}

/// Random requests on two streams; some blocks are used by a third one too.
void random_work(Fixture& f, std::vector<Held>& held, int steps, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    f.streams.stream = random() % 2;
    if (random() % 2 == 0 || held.empty()) {
      held.push_back(f.get(random() % 5 == 0 ? random() % (30 * kMiB) + 1 : random() % 9000 + 1));
      if (random() % 4 == 0) f.allocator.record_stream(held.back().get(), 3);
    } else {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
    }
    if (random() % 16 == 0) f.streams.pass(3);
  }
}

/// The most bytes that were allocated while the events happened, of which there were `at_end` at
/// their end.
int64_t peak_of(const DeviceRecording& recording, int64_t at_end) {
  int64_t allocated = at_end;
  int64_t peak = at_end;
  for (auto e = recording.events.rbegin(); e != recording.events.rend(); ++e) {
    const auto bytes = static_cast<int64_t>(rounded(static_cast<size_t>(e->bytes)));
    if (e->action == Action::alloc) allocated -= bytes;
    if (e->action == Action::free_requested) allocated += bytes;
    peak = std::max(peak, allocated);
  }
  return peak;
}

/// The trace of a file of one device with these events and no blocks at the end.
std::vector<Trace> events(const std::string& list, const std::string& segments = "") {
  std::istringstream in("{\"segments\": [" + segments + "], \"device_traces\": [[" + list + "]]}");
  return replay::read_snapshot(in, "s.json");
}

std::string event(const std::string& action, int address, size_t bytes, int stream = 0) {
  return "{\"action\": \"" + action + "\", \"addr\": " + std::to_string(address) +
         ", \"size\": " + std::to_string(bytes) + ", \"stream\": " + std::to_string(stream) +
         ", \"frames\": [{\"name\": \"f\"}]}";
}

std::string error_of(const std::string& text) {
  std::istringstream in(text);
  try {
    static_cast<void>(replay::read(in, "s.json"));
  } catch (const TraceError& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a recorded training step is replayed to the very peak that the statistics saw") {
  const ebb::Device device = ebb::get_default_device();
  ebb::nn::Sequential model(ebb::nn::Linear(300, 200), ebb::nn::ReLU(), ebb::nn::Linear(200, 10));
  ebb::optim::Adam optimizer(model->parameters(), ebb::optim::AdamOptions(1e-3));
  const auto step = [&] {
    const ebb::Tensor x = ebb::randn({64, 300});
    optimizer.zero_grad();
    ebb::nn::functional::cross_entropy(model->forward(x), ebb::zeros({64}, ebb::kLong)).backward();
    optimizer.step();
  };
  if (GENERATE(false, true)) step();  // as a program begins, or in its midst
  record_history();
  reset_peak_memory_stats(device);
  const int64_t before = memory_allocated(device);
  for (int i = 0; i < 3; ++i) step();
  const int64_t peak = max_memory_allocated(device);
  const Recording recording = stop_history();
  REQUIRE(peak > before);

  const std::string name = allocator(device).device().str();
  bool was_found = false;
  for (const Trace& trace : through_file(recording)) {
    if (trace.device != name) continue;
    was_found = true;
    for (const char* settings : {"", "max_split_size_mb:20", "roundup_power2_divisions:8"}) {
      const replay::Result result = replay::run(trace, {parse_config(settings).config});
      CHECK(result.peak_allocated == peak);
      CHECK(result.peak_reserved >= peak);
    }
  }
  CHECK(was_found);
}

TEST_CASE("under its own settings a recording from the start reserves what was reserved") {
  const auto* settings = GENERATE("", "max_split_size_mb:20,roundup_power2_divisions:4");
  Fixture f(settings);
  f.allocator.start_history(0);
  std::vector<Held> held;
  random_work(f, held, 6000, 1);
  const Trace trace = through_file(f.allocator.history(true));
  CHECK(trace.before.empty());
  const replay::Result result = replay::run(trace, {parse_config(settings).config});
  CHECK(result.peak_allocated == f.stat("allocated_bytes.all.peak"));
  CHECK(result.peak_reserved == f.stat("reserved_bytes.all.peak"));
  CHECK(result.segments_taken == f.stat("num_device_alloc"));
}

TEST_CASE(
    "what was in use before the recording, or before the ring's oldest event, is replayed too") {
  const auto entries = GENERATE(size_t{0}, size_t{100}, size_t{1500});
  Fixture f;
  std::vector<Held> held;
  random_work(f, held, 1000, 2);
  f.allocator.start_history(entries);
  f.allocator.reset_peak();
  random_work(f, held, 3000, 3);
  const int64_t at_end = f.allocated();
  const DeviceRecording recording = f.allocator.history(true);
  const Trace trace = through_file(recording);
  CHECK_FALSE(trace.before.empty());
  const replay::Result result = replay::run(trace, {});
  CHECK(result.peak_allocated == peak_of(recording, at_end));
  if (entries == 0) CHECK(result.peak_allocated == f.stat("allocated_bytes.all.peak"));
}

TEST_CASE("a block that another stream uses serves nobody until that stream has passed") {
  const std::string first =
      event("alloc", 512, 3 * kMiB) + ',' + event("free_requested", 512, 3 * kMiB);
  const std::string second = event("alloc", 1024, 3 * kMiB);
  const std::string passes = event("free_completed", 512, 3 * kMiB);
  const auto reserved = [](const std::string& list) {
    const std::vector<Trace> traces = events(list);
    const Config config = parse_config("large_segment_size_mb:4").config;
    return replay::run(traces.at(0), {config}).peak_reserved;
  };
  const auto kSegment = static_cast<int64_t>(4 * kMiB);
  CHECK(reserved(first + ',' + passes + ',' + second) == kSegment);
  CHECK(reserved(first + ',' + event("oom", 0, 1) + ',' + passes + ',' + second) == kSegment);
  CHECK(reserved(first + ',' + second) == 2 * kSegment);
  CHECK(reserved(first + ',' + second + ',' + passes) == 2 * kSegment);
}

TEST_CASE("blocks belong to the streams on which they were asked for") {
  const auto reserved = [](int stream) {
    const std::vector<Trace> traces =
        events(event("alloc", 512, 700) + ',' + event("free_requested", 512, 700) + ',' +
               event("free_completed", 512, 700) + ',' + event("alloc", 512, 700, stream));
    return replay::run(traces.at(0), {}).peak_reserved;
  };
  CHECK(reserved(0) == static_cast<int64_t>(2 * kMiB));
  CHECK(reserved(7) == static_cast<int64_t>(4 * kMiB));
}

TEST_CASE("each device that has events has a trace of its own") {
  Fixture first;
  Fixture second;
  first.allocator.start_history(0);
  second.allocator.start_history(0);
  const Held a = first.get(512);
  const Held b = second.get(1024);
  Recording recording;
  recording.devices.push_back(first.allocator.history(true));
  recording.devices.emplace_back();  // nothing happened here
  recording.devices.back().device = ebb::Device(ebb::kCUDA, 0);
  recording.devices.push_back(second.allocator.history(true));
  const std::vector<Trace> traces = through_file(recording);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].device == "cpu");
  CHECK(replay::run(traces[0], {}).peak_allocated == 512);
  CHECK(replay::run(traces[1], {}).peak_allocated == 1024);
}

TEST_CASE("a snapshot without names and addresses of blocks, as PyTorch's, is read") {
  const std::string segment =
      R"({"device": 0, "address": 1000, "total_size": 4096, "stream": 0, "blocks": [)"
      R"({"size": 1024, "state": "inactive"}, {"size": 2048, "state": "active_allocated"},)"
      R"({"size": 1024, "requested_size": 600, "state": "active_pending_free"}]})";
  const std::vector<Trace> traces = events(event("alloc", 9000, 100), segment);
  REQUIRE(traces.size() == 1);
  CHECK(traces[0].device == "device 0");
  CHECK(traces[0].before.size() == 3);  // two requests, of which one is let go
  CHECK(replay::run(traces[0], {}).peak_allocated == 2048 + 512);
}

TEST_CASE("a snapshot that is not in order is refused with the place") {
  const auto broken = [](const std::string& list) {
    return error_of("{\"segments\": [], \"device_traces\": [[], [" + list + "]]}");
  };
  const std::string alloc = event("alloc", 512, 1);
  CHECK_THAT(error_of("{\"segments\": "),
             ContainsSubstring("s.json: ") && ContainsSubstring("parse error"));
  CHECK(error_of("{\"device_traces\": []}") ==
        "s.json: no snapshot: it lacks `segments` or `device_traces`");
  CHECK(error_of("{\"segments\": [], \"device_traces\": [[]]}") ==
        "s.json: it has no events; was a history recorded?");
  CHECK(error_of("\x80\x02}") ==
        "s.json: this is a pickle; write the snapshot to a path that ends in .json");
  CHECK(broken(alloc + ", {\"addr\": 1}") == "s.json: device_traces[1][1]: `action` is missing");
  CHECK(broken(alloc + R"(, {"action": "alloc", "addr": 1, "stream": 0})") ==
        "s.json: device_traces[1][1]: `size` is missing");
  CHECK(broken(R"({"action": "alloc", "addr": 1, "size": -5, "stream": 0})") ==
        "s.json: device_traces[1][0]: `size` is -5, not a count");
  CHECK_THAT(broken(alloc + ',' + alloc),
             ContainsSubstring("device_traces[1][1]: alloc, but there is a block in use"));
  const std::string requested = event("free_requested", 512, 1);
  CHECK_THAT(broken(alloc + ',' + requested + ',' + requested),
             ContainsSubstring("device_traces[1][2]: free_requested for the second time"));
  CHECK_THAT(broken(alloc + ',' + event("free_completed", 512, 1)),
             ContainsSubstring("[1][1]: free_completed without free_requested"));
  CHECK_THAT(error_of("{\"device_traces\": [[" + alloc + "]], \"segments\": [{\"device\": 0}]}"),
             ContainsSubstring("segments[0]: `address` is missing"));
}
