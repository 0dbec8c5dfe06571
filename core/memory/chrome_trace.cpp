#include <map>
#include <utility>

#include <ebb/core/memory/playback.h>
#include <ebb/core/memory/report_file.h>
#include <ebb/core/memory/snapshot.h>

namespace ebb::memory {

namespace {

using detail::Playback;
using detail::ReportFile;

/// The events of one device.
class TraceWriter {
 public:
  TraceWriter(ReportFile& file, const DeviceRecording& recording, size_t process, int64_t start)
      : file_(file), recording_(recording), process_(process), start_(start) {}

  void write() {
    begin("process_name", 'M', 0);
    file_.append(",\"args\":{\"name\":");
    file_.json_string(recording_.device.str());
    file_.append("}}");
    Playback playback(recording_);
    bool has_changed = false;  // since the last counters
    for (const Event& event : recording_.events) {
      playback.step();
      if (event.action == Action::scope_open || event.action == Action::scope_close) {
        slice(event);
      } else {
        has_changed = true;
      }
      if (event.action == Action::oom) failure(event);
      // Of the moments within a microsecond the last one counts.
      const size_t next = playback.position();
      const bool is_last =
          next == recording_.events.size() || recording_.events[next].time_us != event.time_us;
      if (is_last && std::exchange(has_changed, false)) counters(playback, event.time_us);
    }
    for (const auto& [thread, depth] : depths_) {
      for (int i = 0; i < depth; ++i) {
        begin("", 'E', recording_.events.back().time_us, thread);
        file_.append("}");
      }
    }
  }

 private:
  void begin(std::string_view name, char phase, int64_t time_us, uint32_t thread = 0) {
    // The first event of the file is the metadata of its first device.
    file_.append(process_ == 0 && phase == 'M' ? "\n" : ",\n");
    file_.append("{\"name\":");
    file_.json_string(name);
    const long long since = phase == 'M' ? 0 : time_us - start_;
    file_.print(",\"ph\":\"%c\",\"ts\":%lld,\"pid\":%zu,\"tid\":%u", phase, since, process_,
                thread);
  }

  void slice(const Event& event) {
    int& depth = depths_[event.thread];
    const bool opens = event.action == Action::scope_open;
    if (!opens && depth == 0) return;  // it opened before the recording
    depth += opens ? 1 : -1;
    const std::string& path = recording_.scopes[event.scope];
    begin(path.substr(path.rfind('/') + 1), opens ? 'B' : 'E', event.time_us, event.thread);
    file_.append("}");
  }

  void failure(const Event& event) {
    begin("out of memory", 'i', event.time_us, event.thread);
    file_.print(",\"s\":\"p\",\"args\":{\"bytes\":%lld}}", static_cast<long long>(event.bytes));
  }

  void counters(const Playback& playback, int64_t time_us) {
    begin("allocated", 'C', time_us);
    file_.append(",\"args\":{");
    for (size_t c = 0; c < kCategories; ++c) {
      file_.print("%s\"%s\":%lld", c == 0 ? "" : ",", name(static_cast<Category>(c)),
                  static_cast<long long>(playback.categories()[c]));
    }
    file_.append("}}");
    if (playback.reserved() == reserved_) return;
    reserved_ = playback.reserved();
    begin("reserved", 'C', time_us);
    file_.print(",\"args\":{\"bytes\":%lld}}", static_cast<long long>(reserved_));
  }

  ReportFile& file_;
  const DeviceRecording& recording_;
  const size_t process_;
  const int64_t start_;
  int64_t reserved_ = -1;
  std::map<uint32_t, int> depths_;  ///< open slices of each thread
};

}  // namespace

void chrome_trace(const std::string& path, const Recording& recording) {
  int64_t start = 0;
  for (const DeviceRecording& device : recording.devices) {
    if (device.events.empty()) continue;
    const int64_t first = device.events.front().time_us;
    if (start == 0 || first < start) start = first;
  }
  ReportFile file(path);
  file.append("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  for (size_t i = 0; i < recording.devices.size(); ++i) {
    TraceWriter(file, recording.devices[i], i, start).write();
  }
  file.append("\n]}\n");
  file.close();
}

void chrome_trace(const std::string& path) { chrome_trace(path, history()); }

}  // namespace ebb::memory
