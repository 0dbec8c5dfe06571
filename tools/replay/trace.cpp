#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <istream>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace replay {

namespace {

/// The blocks in use, by the ID that the lines give them, and the steps so far.
class Lines {
 public:
  /// Throws a TraceError without a place.
  void add(std::string_view text) {
    std::istringstream words{std::string(text.substr(0, text.find('#')))};
    std::vector<std::string> word;
    for (std::string next; words >> next;) word.push_back(next);
    if (word.empty()) return;
    if (word[0] == "a" && word.size() == 3) {
      allocate(word[1], word[2]);
    } else if (word[0] == "f" && word.size() == 2) {
      free(word[1]);
    } else {
      throw TraceError("a line is `a ID BYTES` or `f ID`, not `" + std::string(text) + "`");
    }
  }
  [[nodiscard]] Trace take() { return std::move(trace_); }

 private:
  void allocate(const std::string& id, const std::string& count) {
    size_t bytes = 0;
    const char* end = count.data() + count.size();
    const auto read = std::from_chars(count.data(), end, bytes);
    if (read.ec != std::errc() || read.ptr != end) {
      throw TraceError("`" + count + "` is not a number of bytes");
    }
    if (!in_use_.emplace(id, trace_.blocks).second) {
      throw TraceError("`" + id + "` is in use already");
    }
    trace_.steps.push_back({Step::Kind::allocate, trace_.blocks++, bytes});
  }

  void free(const std::string& id) {
    const auto at = in_use_.find(id);
    if (at == in_use_.end()) throw TraceError("`" + id + "` is not in use");
    trace_.steps.push_back({Step::Kind::free, at->second});
    in_use_.erase(at);
  }

  Trace trace_;
  std::unordered_map<std::string, uint32_t> in_use_;
};

}  // namespace

size_t Trace::requests() const {
  return static_cast<size_t>(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::allocate;
  }));
}

Trace read_lines(std::istream& in, const std::string& name) {
  Lines lines;
  size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    try {
      lines.add(text);
    } catch (const TraceError& error) {
      throw TraceError(name + ':' + std::to_string(number) + ": " + error.what());
    }
  }
  Trace trace = lines.take();
  if (trace.steps.empty()) throw TraceError(name + ": nothing is allocated in it");
  return trace;
}

std::vector<Trace> read(std::istream& in, const std::string& name) {
  constexpr int kPickle = 0x80;  // the opcode that every pickle begins with
  const int first = in.peek();
  if (in.bad()) throw TraceError(name + ": cannot be read");
  if (first == kPickle) {
    throw TraceError(name + ": this is a pickle; write the snapshot to a path that ends in .json");
  }
  if (first == '{') return read_snapshot(in, name);
  return {read_lines(in, name)};
}

std::vector<Trace> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError(path + ": " + std::strerror(errno));
  return read(file, path);
}

}  // namespace replay
