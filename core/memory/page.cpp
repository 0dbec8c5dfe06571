#include <ebb/core/memory/page.h>

#include <algorithm>
#include <utility>

#include <ebb/core/memory/page_parts.h>
#include <ebb/core/memory/report_file.h>

namespace ebb::memory {

namespace {

using namespace detail;

// Samples of all pictures over time together.
constexpr int kMostColumns = 400;
constexpr int kAllColumns = 10'000;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang=en><head><meta charset=utf-8>
<meta name=viewport content="width=device-width,initial-scale=1">
<meta name=color-scheme content="light dark">
<style>
:root{--page:#fbfbf9;--card:#fff;--text:#1c1c1a;--soft:#5c5b55;--edge:#dddcd5;--free:#e9e8e2;
--c0:#2a66b8;--c1:#74a7e0;--c2:#6d4bb5;--c3:#c2417c;--c4:#5d8a1d;--c5:#d9791c;--c6:#85827a;
--c7:#17918a}
@media(prefers-color-scheme:dark){:root{--page:#161614;--card:#1f1f1c;--text:#ececE6;--soft:#a5a39a;
--edge:#3b3a35;--free:#34332e;--c0:#5b93e0;--c1:#9cc4f0;--c2:#a188e0;--c3:#e0709f;--c4:#8fbd49;
--c5:#eda04e;--c6:#a8a59b;--c7:#45bdb4}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:0 0 .25rem}
h3{font-size:1rem;margin:1.2rem 0 .3rem}p{margin:.25rem 0}
section{background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:1rem;
margin:1rem 0}
figure{margin:.5rem 0}svg{display:block;width:100%}.plot{position:relative}.plot svg{height:15rem;
border-bottom:1px solid var(--soft)}.plot b{position:absolute;left:.25rem;font-weight:400;
font-size:.8rem;background:var(--card);padding:0 .25rem;opacity:.85}
.top{top:0}.ground{bottom:.1rem}
.axis,.name{display:flex;justify-content:space-between;gap:1rem;font-size:.85rem}
.name span:first-child{overflow-wrap:anywhere}.name span:last-child{white-space:nowrap}
.axis,.note{color:var(--soft)}
path.reserved,path.peak,path.edge{fill:none;stroke:var(--text);vector-effect:non-scaling-stroke}
path.reserved{stroke-dasharray:5 4}path.peak{stroke-width:1;opacity:.6}path.edge{stroke-width:1.5}
.bar{display:flex;height:.9rem;margin-bottom:.3rem}.bar i{height:100%}
.keys{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.85rem;margin-top:.3rem}
.keys i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;border-radius:2px}
.keys i.line{height:0;border-top:2px dashed var(--text);border-radius:0;vertical-align:middle}
details{margin:.3rem 0;font-size:.9rem}summary{cursor:pointer}.scroll{overflow-x:auto}
table{border-collapse:collapse}th,td{padding:.15rem .6rem .15rem 0;text-align:left;
vertical-align:top;border-bottom:1px solid var(--edge);font-variant-numeric:tabular-nums}
th{font-weight:500}a{color:var(--c0)}
)";

/// The class of each category and of free memory, for HTML and SVG.
std::string colours() {
  std::string out;
  for (int c = 0; c < kCategories; ++c) {
    out += text_of(".c%d{fill:var(--c%d);background:var(--c%d)}", c, c, c);
  }
  return out + ".c8{fill:var(--free);background:var(--free);stroke:none}\n";
}

bool is_worth_showing(const DeviceRecording& device) {
  return !device.events.empty() || !device.segments.empty();
}

/// What the device that had the most in use held then.
struct Height {
  int64_t bytes = 0;
  CategoryBytes categories{};
};

Height height_of(const NamedRecording& run) {
  Height most;
  for (const DeviceRecording& device : run.recording.devices) {
    const Peak peak = find_peak(device);
    if (peak.allocated <= most.bytes) continue;
    Playback at_peak(device);
    at_peak.go_to(peak.position);
    most = {peak.allocated, at_peak.categories()};
  }
  return most;
}

std::string title_of(const NamedRecording& run) {
  return run.group.empty() ? run.name : run.group + ": " + run.name;
}

/// The peaks of the runs of a group, side by side.
std::string comparison(const std::vector<NamedRecording>& runs, const std::string& group) {
  std::vector<std::pair<size_t, Height>> heights;
  int64_t most = 1;
  CategoryBytes all{};
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].group != group) continue;
    const Height& height = heights.emplace_back(i, height_of(runs[i])).second;
    most = std::max(most, height.bytes);
    for (size_t c = 0; c < all.size(); ++c) all[c] += height.categories[c];
  }
  std::string label;
  std::string bars;
  for (const auto& [i, height] : heights) {
    const std::string run = escaped(runs[i].name);
    label += run + ' ' + nice(height.bytes) + "; ";
    bars += text_of("<div class=name><span><a href=\"#run%zu\">", i) + run + "</a></span><span>" +
            nice(height.bytes) + " (" + exact(height.bytes) + ")</span></div>" +
            stacked_bar(height.categories, most);
  }
  return (group.empty() ? "" : "<h3>" + escaped(group) + "</h3>") +
         "<div role=group aria-label=\"Peaks: " + label + "\">" + bars + "</div><div class=keys>" +
         colour_keys(all) + "</div>";
}

std::string comparisons(const std::vector<NamedRecording>& runs) {
  std::vector<std::string> groups;
  for (const NamedRecording& run : runs) {
    if (std::find(groups.begin(), groups.end(), run.group) == groups.end()) {
      groups.push_back(run.group);
    }
  }
  std::string out = "<section><h2>Peak bytes, side by side</h2>";
  for (const std::string& group : groups) out += comparison(runs, group);
  return out + "</section>\n";
}

std::string where(const DeviceRecording& device, const Peak& peak) {
  if (peak.position == 0) return " before the first event";
  const Event& event = device.events[peak.position - 1];
  std::string out;
  if (event.op != 0) out += ", when <code>" + escaped(device.ops[event.op]) + "</code> ran";
  if (event.scope != 0) out += ", in <code>" + escaped(device.scopes[event.scope]) + "</code>";
  return out;
}

void write_device(ReportFile& file, const DeviceRecording& device, int columns) {
  const Peak peak = find_peak(device);
  file.append("<p>Peak on " + device.device.str() + ": <b>" + nice(peak.allocated) + "</b> (" +
              exact(peak.allocated) + " bytes)" + where(device, peak) + ". Reserved: at most " +
              nice(peak.reserved) + ".</p>\n");
  if (device.dropped > 0) {
    file.append("<p class=note>The recording kept the youngest " +
                exact(static_cast<int64_t>(device.events.size())) + " events; " +
                exact(static_cast<int64_t>(device.dropped)) + " are not in it.</p>\n");
  }
  if (!device.events.empty()) {
    file.append("<h3>Memory over time, by category</h3>\n" + time_picture(device, peak, columns));
  }
  Playback at_peak(device);
  at_peak.go_to(peak.position);
  file.append("<h3>What the peak was made of</h3>\n" + peak_picture(device, at_peak) +
              "<h3>Segments and blocks at the peak</h3>\n" + segments_picture(at_peak));
}

}  // namespace

void write_page(const std::string& path, const std::vector<NamedRecording>& recordings,
                const std::string& title) {
  ReportFile file(path);
  file.append(kHead);
  file.append(colours() + "</style><title>" + escaped(title) + "</title></head><body><h1>" +
              escaped(title) + "</h1>\n");
  if (recordings.size() > 1) file.append(comparisons(recordings));
  const auto runs = static_cast<int>(std::max<size_t>(1, recordings.size()));
  const int columns = std::min(kMostColumns, kAllColumns / runs + 1);
  for (size_t i = 0; i < recordings.size(); ++i) {
    const NamedRecording& run = recordings[i];
    file.append(text_of("<section id=run%zu><h2>", i) + escaped(title_of(run)) + "</h2>\n");
    if (!run.note.empty()) file.append("<p class=note>" + escaped(run.note) + "</p>\n");
    bool is_empty = true;
    for (const DeviceRecording& device : run.recording.devices) {
      if (!is_worth_showing(device)) continue;
      write_device(file, device, columns);
      is_empty = false;
    }
    if (is_empty) file.append("<p>No memory was used.</p>\n");
    file.append("</section>\n");
  }
  file.append("</body></html>\n");
  file.close();
}

void write_page(const std::string& path) { write_page(path, {{"This program", "", history()}}); }

}  // namespace ebb::memory
