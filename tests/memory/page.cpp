#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <unistd.h>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using Catch::Matchers::ContainsSubstring;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

struct TemporaryFile {
  std::string path = "/tmp/ebb_page_" + std::to_string(getpid()) + ".html";
  ~TemporaryFile() { std::remove(path.c_str()); }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A recording of its own allocator: a parameter that stays, a peak of 3 MiB in a scope.
NamedRecording example(const std::string& run) {
  Fixture f;
  const Held before = f.get(5000);
  f.allocator.start_history(0);
  const Held parameter = f.get(512 * 1024);
  f.allocator.set_category(static_cast<detail::BlockRecord*>(parameter.get()), Category::parameter);
  { const Held spike = f.get(3 * kMiB); }
  const Held small = f.get(1024);
  Recording recording;
  recording.devices.push_back(f.allocator.history(true));
  return {run, "", recording};
}

}  // namespace

TEST_CASE("a page states the peak to the byte, its categories, and needs nothing but itself") {
  const TemporaryFile file;
  write_page(file.path, {example("the only run")}, "A title");
  const std::string page = file.text();
  CHECK_THAT(page, ContainsSubstring("<title>A title</title>"));
  CHECK_THAT(page, ContainsSubstring("the only run"));
  CHECK_THAT(page, ContainsSubstring("3,675,136 bytes"));  // 5120 + 524288 + 3145728
  CHECK_THAT(page, ContainsSubstring("before the recording</th><td>5,120</td>"));
  CHECK_THAT(page, ContainsSubstring("parameter</th><td>524,288</td><td>524,288</td>"));
  CHECK_THAT(page, ContainsSubstring("temporary</th><td>3,150,848</td>"));
  for (const char* outside : {"<script", "http:", "https:", "url(", "src=", "@import"}) {
    CHECK(count(page, outside) == 0);
  }
}

TEST_CASE("each picture of a page has a text alternative") {
  const TemporaryFile file;
  write_page(file.path, {example("one"), example("two")});
  const std::string page = file.text();
  CHECK(count(page, "<svg") == 4);
  CHECK(count(page, "<svg") + 2 ==
        count(page, "role=img aria-label=\""));  // and the two breakdowns
  CHECK(count(page, "<details>") == 2 * 4);
  CHECK(count(page, "id=run") == 2);
  CHECK_THAT(page, ContainsSubstring("side by side"));
}

TEST_CASE("recordings are compared within their groups, by what their peaks were made of") {
  const TemporaryFile file;
  std::vector<NamedRecording> runs = {example("one"), example("two"), example("three")};
  runs[0].group = runs[2].group = "first net";
  runs[1].group = "second net";
  write_page(file.path, runs);
  const std::string page = file.text();
  CHECK(count(page, "<h3>first net</h3>") == 1);
  CHECK(count(page, "<h3>second net</h3>") == 1);
  CHECK(page.find(">three</a>") < page.find(">two</a>"));
  CHECK_THAT(page, ContainsSubstring("<h2>first net: three</h2>"));
  // 524288 of 3675136 bytes are the parameter's.
  CHECK_THAT(page, ContainsSubstring("width:14.27%\" title=\"parameter: 512.00"));
}

TEST_CASE("names on a page are text, whatever they contain") {
  const TemporaryFile file;
  const std::string name = "<script>alert(1)</script> & \"x\"";
  // Alone, and with others, which adds a comparison of their peaks.
  for (const size_t runs : {1, 2}) {
    write_page(file.path, std::vector<NamedRecording>(runs, example(name)));
    CHECK(count(file.text(), "<script>") == 0);
    CHECK(count(file.text(), "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;") >= runs);
  }
}

TEST_CASE("a page of thirty long recordings stays below two megabytes and keeps every peak") {
  const TemporaryFile file;
  std::vector<NamedRecording> runs;
  for (unsigned i = 0; i < 30; ++i) {
    Fixture f;
    f.allocator.start_history(0);
    std::mt19937 random(i);
    std::vector<Held> held;
    for (int step = 0; step < 3000; ++step) {
      if (held.empty() || random() % 2 == 0) {
        held.push_back(f.get(random() % 500'000));
        auto* block = static_cast<detail::BlockRecord*>(held.back().get());
        if (block->nbytes > 0) f.allocator.set_category(block, static_cast<Category>(random() % 5));
      } else {
        std::swap(held[random() % held.size()], held.back());
        held.pop_back();
      }
    }
    const auto peak = f.allocator.statistics().get(Metric::allocated_bytes).peak;
    Recording recording;
    recording.devices.push_back(f.allocator.history(true));
    runs.push_back({"run of peak " + std::to_string(peak), "", recording});
  }
  write_page(file.path, runs);
  const std::string page = file.text();
  CHECK(page.size() < 2'000'000);
  for (const NamedRecording& run : runs) {
    std::string digits = run.name.substr(12);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
    CHECK_THAT(page, ContainsSubstring("(" + digits + " bytes)"));
  }
}

TEST_CASE("a page of nothing says so, and one that cannot be written is an error with the path") {
  const TemporaryFile file;
  write_page(file.path, {{"empty", "a note", {}}});
  CHECK_THAT(file.text(), ContainsSubstring("No memory was used."));
  CHECK_THAT(file.text(), ContainsSubstring("a note"));
  CHECK_THROWS_WITH(write_page("/no/such/folder/page.html", {}),
                    ContainsSubstring("cannot write /no/such/folder/page.html: No such file"));
}
