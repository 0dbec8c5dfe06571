#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <ebb/ebb.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

/// A file in a folder of its own that goes at the end.
struct Files {
  std::string stem = "/tmp/ebb_snapshot_" + std::to_string(getpid());
  ~Files() {
    for (const char* ending : {".pickle", ".pkl", ".json"}) std::remove((stem + ending).c_str());
  }
  [[nodiscard]] std::string at(const char* ending) const { return stem + ending; }
  [[nodiscard]] std::string text(const char* ending) const {
    std::ifstream file(at(ending), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

/// The exit code of a command.
int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Python's own pickle reads the file, and it has what the viewer relies on.
bool is_in_order(const std::string& path, size_t events) {
  return run("python3 " EBB_SOURCE_DIR "/tools/check_snapshot.py --expect-events " +
             std::to_string(events) + " " + path) == 0;
}

/// Two devices' worth of random work: streams, pending frees, segments given back, failures.
Recording random_work(size_t entries) {
  Recording recording;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Fixture f;
    std::mt19937 random(seed);
    std::vector<Held> held;
    const Held before = f.get(700);
    f.allocator.start_history(entries);
    for (int i = 0; i < 4000; ++i) {
      f.streams.stream = random() % 2;
      if (random() % 2 == 0 || held.empty()) {
        held.push_back(f.get(random() % 5 == 0 ? random() % (30 * kMiB) + 1 : random() % 9000 + 1));
        if (random() % 4 == 0) f.allocator.record_stream(held.back().get(), 3);
      } else {
        std::swap(held[random() % held.size()], held.back());
        held.pop_back();
      }
      if (random() % 16 == 0) f.streams.pass(3);
      if (random() % 256 == 0) f.allocator.empty_cache();
    }
    f.limited.set_capacity(1);
    CHECK_THROWS_AS(f.get(size_t{1} << 40), ebb::OutOfMemoryError);
    recording.devices.push_back(f.allocator.history(true));
  }
  return recording;
}

}  // namespace

TEST_CASE("a snapshot satisfies Python's pickle and the viewer, also of a ring, also as JSON") {
  for (const size_t entries : {size_t{0}, size_t{500}}) {
    const Files files;
    const Recording recording = random_work(entries);
    size_t events = 0;
    for (const DeviceRecording& device : recording.devices) {
      for (const Event& event : device.events) events += event.action < Action::category ? 1 : 0;
    }
    REQUIRE(events >= (entries == 0 ? 12'000 : 1000));
    for (const char* ending : {".pickle", ".pkl", ".json"}) {
      snapshot(files.at(ending), recording);
      CHECK(is_in_order(files.at(ending), events));
    }
    // The same content, and in the pickle equal stacks are one object.
    CHECK(run("python3 -c 'import json, pickle; a = pickle.load(open(\"" + files.at(".pickle") +
              "\", \"rb\")); b = json.load(open(\"" + files.at(".json") +
              "\")); assert json.loads(json.dumps(a)) == b, \"they differ\"'") == 0);
  }
}

TEST_CASE("the checker of snapshots finds what is wrong") {
  const Files files;
  snapshot(files.at(".json"), random_work(0));
  const auto broken = [&](const std::string& change) {
    return run("python3 -c 'import json; s = json.load(open(\"" + files.at(".json") + "\")); " +
               change + "; json.dump(s, open(\"" + files.at(".pkl") + ".json\", \"w\"))' && " +
               "python3 " EBB_SOURCE_DIR "/tools/check_snapshot.py " + files.at(".pkl") +
               ".json >/dev/null 2>&1; code=$?; rm -f " + files.at(".pkl") + ".json; exit $code");
  };
  CHECK(broken("pass") == 0);
  CHECK(broken("s[\"segments\"][0][\"blocks\"].pop()") == 1);
  CHECK(broken("s[\"segments\"].pop()") == 1);
  CHECK(broken("s[\"device_traces\"].pop()") == 1);
  CHECK(broken("s[\"device_traces\"][0][0][\"category\"] = \"x\"") == 1);
  CHECK(broken("s[\"device_traces\"][0].pop(next(i for i, e in enumerate(s[\"device_traces\"][0]) "
               "if e[\"action\"] == \"free_completed\"))") == 1);
}

TEST_CASE("a snapshot of the running program has the op and the scopes as frames") {
  const Files files;
  record_history();
  {
    const Scope step("step", ebb::kCPU);
    const Scope forward("forward", ebb::kCPU);
    const ebb::Tensor y = ebb::ones({100}, ebb::kCPU) * 2;
    snapshot(files.at(".json"));
    snapshot(files.at(".pickle"));
  }
  static_cast<void>(stop_history());
  CHECK(is_in_order(files.at(".pickle"), 3));
  const std::string text = files.text(".json");
  CHECK_THAT(text,
             ContainsSubstring("\"frames\":[{\"filename\":\"op\",\"line\":0,\"name\":\"mul\"},"
                               "{\"filename\":\"scope\",\"line\":0,\"name\":\"forward\"},"
                               "{\"filename\":\"scope\",\"line\":0,\"name\":\"step\"}]"));
  CHECK_THAT(text, ContainsSubstring("\"action\":\"snapshot\",\"addr\":0,"));
  CHECK_THAT(text, ContainsSubstring("\"ebb_devices\":[\"cpu\""));
}

TEST_CASE("without a recording a snapshot has the segments alone") {
  const Files files;
  const Held held(allocate(3000, ebb::kCPU));
  snapshot(files.at(".pkl"));
  CHECK(is_in_order(files.at(".pkl"), 0));
}

TEST_CASE("a snapshot's path says what it is, and must be writable") {
  CHECK_THROWS_WITH(snapshot("/tmp/snapshot.txt"), ContainsSubstring("ends neither in .pickle"));
  CHECK_THROWS_AS(snapshot("/tmp/snapshot.txt"), ebb::ValueError);
  CHECK_THROWS_WITH(snapshot("/no/folder/a.pickle"),
                    ContainsSubstring("cannot write /no/folder/a.pickle: No such file"));
  CHECK_THROWS_WITH(snapshot("/dev/full.pickle/x.pkl"), ContainsSubstring("cannot write"));
}

TEST_CASE("a trace for Chrome has slices that nest, counters that add up, and failures") {
  const Files files;
  record_history();
  {
    const Scope step("step", ebb::kCPU);
    const Scope forward("forward", ebb::kCPU);
    const ebb::Tensor y = ebb::ones({1000}, ebb::kCPU) * 2;
    CHECK_THROWS(allocate(size_t{1} << 61, ebb::kCPU));
  }
  const int64_t end = memory_allocated(ebb::kCPU);
  const Recording recording = stop_history();
  chrome_trace(files.at(".json"), recording);
  CHECK(run("python3 -c '"
            "import json; t = json.load(open(\"" +
            files.at(".json") +
            "\"))[\"traceEvents\"]; "
            "cpu = next(e[\"pid\"] for e in t if e[\"ph\"] == \"M\" "
            "and e[\"args\"][\"name\"] == \"cpu\"); "
            "s = [e[\"ph\"] + e[\"name\"] for e in t if e[\"ph\"] in \"BE\"]; "
            "assert s == [\"Bstep\", \"Bforward\", \"Eforward\", \"Estep\"], s; "
            "c = [e for e in t if e[\"name\"] == \"allocated\" and e[\"pid\"] == cpu]; "
            "assert sum(c[-1][\"args\"].values()) == " +
            std::to_string(end) +
            ", c[-1]; "
            "assert [e[\"name\"] for e in t if e[\"ph\"] == \"i\"] == [\"out of memory\"]; "
            "assert all(a[\"ts\"] <= b[\"ts\"] for a, b in zip(c, c[1:]))'") == 0);
}
