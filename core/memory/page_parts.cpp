#include <ebb/core/memory/page_parts.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <vector>

#include <ebb/core/memory/out_of_memory.h>
#include <ebb/core/memory/size_policy.h>

namespace ebb::memory::detail {

namespace {

using Bytes = CategoryBytes;

constexpr int kWidth = 1000;   // of the pictures, in their own units
constexpr int kHeight = 1000;  // of the picture over time
constexpr size_t kRowsOfTable = 12;

const char* name_of(int category) { return name(static_cast<Category>(category)); }

/// What categories held at a moment.
struct Sample {
  int64_t time_us = 0;
  int64_t allocated = 0;
  int64_t reserved = 0;
  Bytes bytes{};
};

Sample sample_of(const Playback& playback, int64_t time_us) {
  return {time_us, playback.allocated(), playback.reserved(), playback.categories()};
}

struct Samples {
  std::vector<Sample> kept;
  Bytes highest{};  ///< of each category
};

Samples thin(const DeviceRecording& recording, int columns) {
  Samples out;
  const int64_t start = recording.events.front().time_us;
  const int64_t length = std::max<int64_t>(1, recording.events.back().time_us - start);
  Playback playback(recording);
  Sample highest = sample_of(playback, start);
  Sample last = highest;
  out.highest = highest.bytes;
  int64_t column = 0;
  const auto keep = [&] {
    out.kept.push_back(highest);
    if (last.allocated != highest.allocated) out.kept.push_back(last);
  };
  for (const Event& event : recording.events) {
    playback.step();
    const Sample now = sample_of(playback, event.time_us);
    for (size_t c = 0; c < kCategories; ++c) {
      out.highest[c] = std::max(out.highest[c], now.bytes[c]);
    }
    const int64_t here = (event.time_us - start) * columns / length;
    if (here != column) {
      keep();
      column = here;
      highest = now;
    } else if (now.allocated > highest.allocated) {
      highest = now;
    }
    last = now;
  }
  keep();
  return out;
}

/// Steps from sample to sample; `height` gives the bytes of one.
template <typename F>
std::string steps(const Samples& samples, int64_t top, const F& height) {
  const int64_t start = samples.kept.front().time_us;
  const int64_t length = std::max<int64_t>(1, samples.kept.back().time_us - start);
  std::string path;
  int64_t x = -1;
  int64_t y = -1;
  for (const Sample& sample : samples.kept) {
    const int64_t to_x = (sample.time_us - start) * kWidth / length;
    const int64_t to_y = kHeight - height(sample) * kHeight / top;
    if (y < 0) path += text_of("M0 %lld", static_cast<long long>(to_y));
    if (y < 0 || to_y == y) {
      y = to_y;
      continue;
    }
    if (to_x != x) path += text_of("H%lld", static_cast<long long>(to_x));
    path += text_of("V%lld", static_cast<long long>(to_y));
    x = to_x;
    y = to_y;
  }
  return path + text_of("H%d", kWidth);
}

std::string table_row(const std::string& head, std::initializer_list<std::string> cells) {
  std::string row = "<tr><th scope=row>" + head + "</th>";
  for (const std::string& cell : cells) row += "<td>" + cell + "</td>";
  return row + "</tr>";
}

std::string table_of(const char* summary, std::initializer_list<const char*> heads,
                     const std::string& rows) {
  std::string out = "<details><summary>" + std::string(summary) +
                    "</summary><div class=scroll><table><thead><tr>";
  for (const char* head : heads) out += "<th scope=col>" + std::string(head) + "</th>";
  return out + "</tr></thead><tbody>" + rows + "</tbody></table></div></details>\n";
}

/// Bytes under a name: a scope or an op.
struct Group {
  std::string name;
  Bytes bytes{};
  int64_t total = 0;
};

void add_to(std::vector<Group>& groups, const std::string& name, const PlayedBlock& block) {
  auto group =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
  if (group == groups.end()) group = groups.insert(groups.end(), Group{name});
  const auto bytes = static_cast<int64_t>(rounded(static_cast<size_t>(block.requested)));
  group->bytes[static_cast<size_t>(block.category)] += bytes;
  group->total += bytes;
}

/// The largest first; those beyond the table's length become one.
void order(std::vector<Group>& groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.total > b.total; });
  if (groups.size() <= kRowsOfTable) return;
  Group rest{text_of("%zu others", groups.size() - kRowsOfTable + 1)};
  for (size_t i = kRowsOfTable - 1; i < groups.size(); ++i) {
    for (size_t c = 0; c < kCategories; ++c) rest.bytes[c] += groups[i].bytes[c];
    rest.total += groups[i].total;
  }
  groups.resize(kRowsOfTable - 1);
  groups.push_back(rest);
}

std::string parts_of(const Bytes& bytes) {
  std::string text;
  for (int c = 0; c < kCategories; ++c) {
    const int64_t part = bytes[static_cast<size_t>(c)];
    if (part == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::string(name_of(c)) + ' ' + exact(part);
  }
  return text;
}

std::string rows_of(const std::vector<Group>& groups) {
  std::string rows;
  for (const Group& group : groups) {
    rows += table_row(escaped(group.name), {exact(group.total), parts_of(group.bytes)});
  }
  return rows;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string text_of(const char* format, ...) {
  char buffer[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::string nice(int64_t bytes) {
  std::string text = format_bytes(static_cast<size_t>(bytes));
  if (const size_t space = text.find(' '); space != std::string::npos) {
    text.replace(space, 1, "\xc2\xa0");
  }
  return text;
}

std::string exact(int64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string stacked_bar(const CategoryBytes& bytes, int64_t whole) {
  std::string bar = "<div class=bar>";
  for (int c = 0; c < kCategories; ++c) {
    const int64_t part = bytes[static_cast<size_t>(c)];
    if (part == 0) continue;
    bar += text_of("<i class=c%d style=\"width:%.2f%%\" title=\"%s: %s\"></i>", c,
                   100.0 * static_cast<double>(part) / static_cast<double>(whole), name_of(c),
                   nice(part).c_str());
  }
  return bar + "</div>";
}

std::string colour_keys(const CategoryBytes& bytes) {
  std::string keys;
  for (int c = 0; c < kCategories; ++c) {
    if (bytes[static_cast<size_t>(c)] > 0) {
      keys += text_of("<span><i class=c%d></i>%s</span>", c, name_of(c));
    }
  }
  return keys;
}

std::string time_picture(const DeviceRecording& recording, const Peak& peak, int columns) {
  const Samples samples = thin(recording, columns);
  const int64_t top = std::max<int64_t>(1, std::max(peak.allocated, peak.reserved));
  const int64_t start = recording.events.front().time_us;
  const double length = static_cast<double>(recording.events.back().time_us - start) / 1000;
  const double peak_at =
      peak.position == 0
          ? 0
          : static_cast<double>(recording.events[peak.position - 1].time_us - start) / 1000;
  const Sample& end = samples.kept.back();

  std::string out = text_of(
      "<figure><div class=plot><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=none role=img "
      "aria-label=\"Memory over %.1f ms: from %s allocated at the start to a peak of %s after "
      "%.1f ms, and %s at the end; at most %s reserved.\">",
      kWidth, kHeight, length, nice(samples.kept.front().allocated).c_str(),
      nice(peak.allocated).c_str(), peak_at, nice(end.allocated).c_str(),
      nice(peak.reserved).c_str());
  std::string rows;
  // Each area reaches down to the ground; those of the lower categories cover it.
  for (int c = kCategories - 1; c >= 0; --c) {
    const auto i = static_cast<size_t>(c);
    if (samples.highest[i] == 0) continue;
    const auto height = [&](const Sample& sample) {
      int64_t sum = 0;
      for (size_t below = 0; below <= i; ++below) sum += sample.bytes[below];
      return sum;
    };
    out += text_of("<path class=c%d d=\"", c) + steps(samples, top, height) +
           text_of("V%dH0z\"><title>%s: at most %s</title></path>", kHeight, name_of(c),
                   nice(samples.highest[i]).c_str());
    rows = table_row(name_of(c), {exact(samples.highest[i]), exact(end.bytes[i])}) + rows;
  }
  out += "<path class=reserved d=\"" +
         steps(samples, top, [](const Sample& sample) { return sample.reserved; }) + "\"/>";
  if (length > 0) {
    out += text_of("<path class=peak d=\"M%.0f 0V%d\"/>", peak_at * kWidth / length, kHeight);
  }
  out += "</svg><b class=top>" + nice(top) + "</b><b class=ground>0</b></div>" +
         text_of("<div class=axis><span>0</span><span>%.1f&nbsp;ms</span></div>", length);
  rows += table_row("all", {exact(peak.allocated), exact(end.allocated)}) +
          table_row("reserved", {exact(peak.reserved), exact(end.reserved)});
  return out + "<figcaption class=keys>" + colour_keys(samples.highest) +
         "<span><i class=line></i>reserved</span></figcaption></figure>\n" +
         table_of("Memory over time in figures", {"category", "most bytes", "bytes at the end"},
                  rows);
}

std::string peak_picture(const DeviceRecording& recording, const Playback& at_peak) {
  std::vector<Group> scopes;
  std::vector<Group> ops;
  for (const auto& in_use : at_peak.blocks()) {
    const auto& block = in_use.second;
    if (block.pending) continue;
    const auto found = [&](const std::vector<std::string>& names, uint32_t i, const char* none) {
      if (!block.is_recorded) return std::string("before the recording");
      return names[i].empty() ? std::string(none) : names[i];
    };
    add_to(scopes, found(recording.scopes, block.scope, "outside of scopes"), block);
    add_to(ops, found(recording.ops, block.op, "outside of ops"), block);
  }
  order(scopes);
  order(ops);
  if (scopes.empty()) return "<p>Nothing was in use.</p>\n";
  std::string out =
      "<figure><div class=bars role=img aria-label=\"What was in use at the peak, "
      "by the scope in which it was allocated: ";
  for (const Group& scope : scopes) out += escaped(scope.name) + ' ' + nice(scope.total) + "; ";
  out += "in figures below.\">";
  for (const Group& scope : scopes) {
    out += "<div class=name><span>" + escaped(scope.name) + "</span><span>" + nice(scope.total) +
           "</span></div>" + stacked_bar(scope.bytes, scopes.front().total);
  }
  return out + "</div></figure>\n" +
         table_of("The peak by scope and category", {"allocated in scope", "bytes", "of which"},
                  rows_of(scopes)) +
         table_of("The peak by op", {"allocated by", "bytes", "of which"}, rows_of(ops));
}

}  // namespace ebb::memory::detail
