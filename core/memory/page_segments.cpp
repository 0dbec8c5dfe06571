// The map of segments and blocks on the page of write_page.

#include <algorithm>
#include <vector>

#include <ebb/core/memory/page_parts.h>
#include <ebb/core/memory/size_policy.h>

namespace ebb::memory::detail {

namespace {

constexpr int kCells = 250;     // in a row
constexpr int kCellWidth = 4;   // in units of the picture
constexpr int kRowHeight = 10;  // with a gap of 2
constexpr int64_t kMostRows = 16;
constexpr size_t kRowsOfTable = 40;

constexpr uint8_t kFree = kCategories;  // of the kinds of cells, after the categories
constexpr uint8_t kOutside = kCategories + 1;

/// The segments laid one after another, in rows of equal bytes.
class Map {
 public:
  explicit Map(const Playback& at_peak) {
    for (const auto& [address, size] : at_peak.segments()) total_ += size;
    // No finer than the smallest block.
    rows_ = std::clamp<int64_t>(total_ / (int64_t{kCells} * 512), 1, kMostRows);
    bytes_of_cell_ = std::max<int64_t>(1, (total_ + rows_ * kCells - 1) / (rows_ * kCells));
    cells_.assign(static_cast<size_t>(rows_ * kCells), kOutside);
  }

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t bytes_of_row() const { return bytes_of_cell_ * kCells; }

  /// A block or a segment covers the cells in whose middle it lies, and at least one.
  void paint(int64_t begin, int64_t size, uint8_t kind) {
    const auto count = static_cast<int64_t>(cells_.size());
    const int64_t from = std::min(begin / bytes_of_cell_, count - 1);
    const int64_t to =
        std::clamp((begin + size + bytes_of_cell_ / 2) / bytes_of_cell_, from + 1, count);
    std::fill(cells_.begin() + from, cells_.begin() + to, kind);
  }

  /// The rectangles of one kind as a path.
  [[nodiscard]] std::string path(uint8_t kind) const {
    std::string out;
    for (int64_t row = 0; row < rows_; ++row) {
      const uint8_t* cells = cells_.data() + row * kCells;
      for (int i = 0; i < kCells; ++i) {
        if (cells[i] != kind) continue;
        const int first = i;
        while (i < kCells && cells[i] == kind) ++i;
        const int width = (i - first) * kCellWidth;
        out += text_of("M%d %dh%dv%dh-%dz", first * kCellWidth, static_cast<int>(row) * kRowHeight,
                       width, kRowHeight - 2, width);
      }
    }
    return out;
  }

  [[nodiscard]] std::string boundary(int64_t begin) const {
    const int64_t cell = begin / bytes_of_cell_;
    return text_of("M%d %dv%d", static_cast<int>(cell % kCells) * kCellWidth,
                   static_cast<int>(cell / kCells) * kRowHeight, kRowHeight - 2);
  }

 private:
  int64_t total_ = 0;
  int64_t rows_ = 1;
  int64_t bytes_of_cell_ = 1;
  std::vector<uint8_t> cells_;
};

std::string row_of(uint64_t address, int64_t size, int64_t used, int64_t blocks) {
  return text_of("<tr><th scope=row>0x%llx</th><td>%s</td><td>%s</td><td>%lld</td></tr>",
                 static_cast<unsigned long long>(address), exact(size).c_str(), exact(used).c_str(),
                 static_cast<long long>(blocks));
}

}  // namespace

std::string segments_picture(const Playback& at_peak) {
  Map map(at_peak);
  std::string boundaries;
  std::string rows;
  int64_t begin = 0;
  int64_t in_use = 0;
  size_t segments = 0;
  auto block = at_peak.blocks().begin();
  for (const auto& [address, size] : at_peak.segments()) {
    map.paint(begin, size, kFree);
    if (begin > 0) boundaries += map.boundary(begin);
    int64_t used = 0;
    int64_t blocks = 0;
    for (; block != at_peak.blocks().end() && block->first < address + static_cast<uint64_t>(size);
         ++block) {
      if (block->first < address) continue;
      const auto bytes =
          static_cast<int64_t>(rounded(static_cast<size_t>(block->second.requested)));
      map.paint(begin + static_cast<int64_t>(block->first - address), bytes,
                static_cast<uint8_t>(block->second.category));
      used += bytes;
      ++blocks;
    }
    if (segments++ < kRowsOfTable) rows += row_of(address, size, used, blocks);
    in_use += used;
    begin += size;
  }
  if (begin == 0) return "<p>No memory was held.</p>\n";
  if (segments > kRowsOfTable) {
    rows += text_of("<tr><th scope=row>and %zu more</th></tr>", segments - kRowsOfTable);
  }
  const auto height = static_cast<int>(map.rows()) * kRowHeight - 2;
  std::string out = text_of(
      "<figure><svg class=map style=\"height:%dpx\" viewBox=\"0 0 %d %d\" preserveAspectRatio=none "
      "role=img aria-label=\"%zu segments of %s in all, of which %s in use.\">",
      static_cast<int>(map.rows()) * 14, kCells * kCellWidth, height, segments, nice(begin).c_str(),
      nice(in_use).c_str());
  for (uint8_t kind = 0; kind <= kFree; ++kind) {
    const std::string path = map.path(kind);
    if (path.empty()) continue;
    out += text_of("<path class=c%d d=\"", kind) + path + "\"><title>" +
           (kind == kFree ? "free" : name(static_cast<Category>(kind))) + "</title></path>";
  }
  return out + "<path class=edge d=\"" + boundaries +
         "\"/></svg><figcaption class=keys><span><i class=c8></i>free</span><span>a row is " +
         nice(map.bytes_of_row()) +
         "; a line is where a segment begins</span></figcaption></figure>\n"
         "<details><summary>The segments in figures</summary><div class=scroll><table><thead><tr>"
         "<th scope=col>address</th><th scope=col>bytes</th><th scope=col>in use</th>"
         "<th scope=col>blocks in use</th></tr></thead><tbody>" +
         rows + "</tbody></table></div></details>\n";
}

}  // namespace ebb::memory::detail
