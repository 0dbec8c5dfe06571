#include <algorithm>

#include <ebb/techniques/plan_checkpoints.h>

// For layers s to t - 1, whose input and the gradient of whose result are live and not counted: all
// pairs of peak and extra forward time of which none is worse in both. A schedule either keeps all
// of layer s and goes on behind it, or makes a region of s to m - 1, whose inside is a schedule of
// its own.

namespace ebb::detail {

namespace {

/// A schedule by how it begins and by the places of its parts in their fronts.
struct Point {
  int64_t peak;
  double seconds;
  int64_t middle;  ///< end of the region, or 0: layer s is kept
  size_t inside;   ///< in the front of the region
  size_t rest;     ///< in the front of what comes behind
};
using Front = std::vector<Point>;  // by rising peak and falling time

/// Keeps what is not worse in both.
void prune(Front& front) {
  std::sort(front.begin(), front.end(), [](const Point& a, const Point& b) {
    return a.peak != b.peak ? a.peak < b.peak : a.seconds < b.seconds;
  });
  Front kept;
  for (const Point& point : front) {
    if (kept.empty() || point.seconds < kept.back().seconds) kept.push_back(point);
  }
  front = std::move(kept);
}

class Search {
 public:
  explicit Search(const ChainCosts& costs)
      : costs_(costs), count_(static_cast<int64_t>(costs.stages.size())) {
    fronts_.resize(static_cast<size_t>((count_ + 1) * (count_ + 1)));
    for (int64_t length = 1; length <= count_; ++length) {
      for (int64_t s = 0; s + length <= count_; ++s) solve(s, s + length);
    }
  }

  [[nodiscard]] std::vector<std::vector<PlannedPart>> schedules() {
    std::vector<std::vector<PlannedPart>> all;
    for (size_t i = 0; i < front(0, count_).size(); ++i) all.push_back(schedule(0, count_, i));
    return all;
  }

 private:
  Front& front(int64_t s, int64_t t) {
    return fronts_[static_cast<size_t>(s * (count_ + 1) + t)];
  }
  const StageCost& stage(int64_t i) const { return costs_.stages[static_cast<size_t>(i)]; }
  /// The gradient of result i.
  [[nodiscard]] int64_t gradient(int64_t i) const { return i == 0 ? 0 : stage(i - 1).gradient_bytes; }
  /// How much more gradients are live when backward has come to result `from` than when it was at
  /// `to`, behind it; the gradient of the last result stays.
  [[nodiscard]] int64_t gradients_since(int64_t from, int64_t to) const {
    int64_t bytes = from == to ? 0 : gradient(from);
    if (from != to && to != count_) bytes -= gradient(to);
    for (int64_t i = from; i < to; ++i) bytes += stage(i).parameter_gradient_bytes;
    return bytes;
  }

  /// The peak of the first run of a region.
  [[nodiscard]] int64_t dropped(int64_t s, int64_t m) const {
    int64_t peak = 0;
    for (int64_t i = s; i < m; ++i) {
      const int64_t input = i == s ? 0 : stage(i - 1).result_bytes;
      peak = std::max(peak, input + stage(i).region_forward_bytes);
    }
    return peak;
  }

  void solve(int64_t s, int64_t t) {
    Front& found = front(s, t);
    keep(s, t, found);
    for (int64_t m = s + 1; m < t; ++m) begin_with_region(s, m, t, found);
    prune(found);
  }

  void keep(int64_t s, int64_t t, Front& found) {
    const StageCost& cost = stage(s);
    const int64_t kept = cost.kept_bytes + cost.result_bytes;
    const int64_t own = std::max(
        cost.forward_bytes, kept + cost.backward_bytes + gradients_since(s + 1, t));
    if (s + 1 == t) {
      found.push_back({own, 0, 0, 0, 0});
      return;
    }
    const Front& rest = front(s + 1, t);
    for (size_t i = 0; i < rest.size(); ++i) {
      found.push_back({std::max(own, kept + rest[i].peak), rest[i].seconds, 0, 0, i});
    }
  }

  void begin_with_region(int64_t s, int64_t m, int64_t t, Front& found) {
    const int64_t first = dropped(s, m);
    const int64_t held = stage(m - 1).result_bytes;
    const int64_t since = gradients_since(m, t);
    double again = 0;
    for (int64_t i = s; i < m; ++i) again += stage(i).forward_seconds;
    const Front& inside = front(s, m);
    const Front& rest = front(m, t);
    // For each peak that one of both sets, the fastest other one that fits.
    size_t i = 0;
    size_t k = 0;
    while (true) {
      const int64_t peak =
          std::max({first, since + inside[i].peak, held + rest[k].peak});
      found.push_back({peak, inside[i].seconds + rest[k].seconds + again, m, i, k});
      const int64_t next_inside = i + 1 < inside.size() ? since + inside[i + 1].peak : INT64_MAX;
      const int64_t next_rest = k + 1 < rest.size() ? held + rest[k + 1].peak : INT64_MAX;
      if (next_inside == INT64_MAX && next_rest == INT64_MAX) break;
      next_inside <= next_rest ? ++i : ++k;
    }
  }

  std::vector<PlannedPart> schedule(int64_t s, int64_t t, size_t place) {
    std::vector<PlannedPart> parts;
    while (s < t) {
      const Point point = front(s, t)[place];
      if (point.middle == 0) {
        parts.push_back({s, s + 1, false, {}});
        s += 1;
      } else {
        parts.push_back({s, point.middle, true, schedule(s, point.middle, point.inside)});
        s = point.middle;
      }
      place = point.rest;
    }
    return parts;
  }

  const ChainCosts& costs_;
  int64_t count_;
  std::vector<Front> fronts_;
};

/// What checkpoint_sequential(layers, segments, x) does.
std::vector<PlannedPart> equal_segments(int64_t count, int64_t segments) {
  const auto kept = [](int64_t begin, int64_t end) {
    std::vector<PlannedPart> parts;
    for (int64_t i = begin; i < end; ++i) parts.push_back({i, i + 1, false, {}});
    return parts;
  };
  const int64_t length = count / segments;
  std::vector<PlannedPart> parts;
  for (int64_t i = 0; i < segments - 1; ++i) {
    const int64_t begin = i * length;
    parts.push_back({begin, begin + length, true, kept(begin, begin + length)});
  }
  const auto last = kept(length * (segments - 1), count);
  parts.insert(parts.end(), last.begin(), last.end());
  return parts;
}

}  // namespace

std::vector<std::vector<PlannedPart>> candidate_schedules(const ChainCosts& costs) {
  auto all = Search(costs).schedules();
  const auto count = static_cast<int64_t>(costs.stages.size());
  for (int64_t segments = 1; segments <= count; ++segments) {
    all.push_back(equal_segments(count, segments));
  }
  return all;
}

}  // namespace ebb::detail
