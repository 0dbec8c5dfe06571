#include <algorithm>

#include <ebb/techniques/plan_checkpoints.h>

// For layers s to t - 1, forward and backward: all pairs of peak and extra forward time of which none
// is worse in both. A schedule either keeps all of layer s and goes on behind it, or makes a region
// of s to m - 1, whose inside is a schedule of its own. The bytes are those of the replay: a peak
// counts what the layers add, and all gradients that are live. Whether result s is held by somebody
// else as long as the layers need it, and so is not theirs to count, has a front of its own.

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
    for (int64_t i = 0; i <= count_; ++i) {
      owners_.push_back(static_cast<int64_t>(owner_of(costs.stages, static_cast<size_t>(i))));
    }
    fronts_.resize(static_cast<size_t>(2 * (count_ + 1) * (count_ + 1)));
    for (int64_t length = 1; length <= count_; ++length) {
      for (int64_t s = 0; s + length <= count_; ++s) {
        for (const bool is_held : {false, true}) solve(Span{s, s + length, is_held});
      }
    }
  }

  [[nodiscard]] std::vector<std::vector<PlannedPart>> schedules() {
    std::vector<std::vector<PlannedPart>> all;
    const Span whole{0, count_, true};
    for (size_t i = 0; i < front(whole).size(); ++i) all.push_back(schedule(whole, i));
    return all;
  }

 private:
  struct Span {
    int64_t begin;
    int64_t end;
    bool is_held;  ///< the first input, by somebody else
  };

  Front& front(const Span& span) {
    const int64_t place = (span.begin * (count_ + 1) + span.end) * 2 + (span.is_held ? 1 : 0);
    return fronts_[static_cast<size_t>(place)];
  }
  const StageCost& stage(int64_t i) const { return costs_.stages[static_cast<size_t>(i)]; }
  /// The memory of result i, which it may share with results before it. The chain's input is not
  /// counted.
  [[nodiscard]] int64_t bytes(int64_t i) const {
    const int64_t of = owners_[static_cast<size_t>(i)];
    return of == 0 ? 0 : stage(of - 1).result_bytes;
  }
  [[nodiscard]] bool shares(int64_t i, int64_t k) const {
    return owners_[static_cast<size_t>(i)] == owners_[static_cast<size_t>(k)];
  }
  /// The caller holds the last result: from when it is there, and all through backward.
  [[nodiscard]] bool is_callers(int64_t i, const Span& span) const {
    return span.end == count_ && shares(i, count_);
  }

  /// The gradients that are live when backward has come to result i.
  [[nodiscard]] int64_t gradients(int64_t i) const {
    int64_t live = stage(count_ - 1).gradient_bytes;
    if (i == 0) live += costs_.input_gradient_bytes;
    if (i > 0 && i < count_) live += stage(i - 1).gradient_bytes;
    for (int64_t k = i; k < count_; ++k) live += stage(k).parameter_gradient_bytes;
    return live;
  }
  /// What is live beside the activations while the layers run forward, on result i, and backward.
  [[nodiscard]] int64_t beside_forward(int64_t i, const Span& span) const {
    const int64_t callers = is_callers(i, span) ? bytes(i) : 0;
    return callers + (span.end == count_ ? 0 : gradients(span.end));
  }
  [[nodiscard]] int64_t beside_backward(const Span& span) const {
    return span.end == count_ ? bytes(count_) : 0;
  }
  /// What a variable or a layer that holds the first input adds.
  [[nodiscard]] int64_t input_bytes(const Span& span) const {
    return span.is_held || is_callers(span.begin, span) ? 0 : bytes(span.begin);
  }

  void solve(const Span& span) {
    Front& found = front(span);
    keep(span, found);
    for (int64_t m = span.begin + 1; m < span.end; ++m) begin_with_region(span, m, found);
    prune(found);
  }

  void keep(const Span& span, Front& found) {
    const int64_t s = span.begin;
    const StageCost& cost = stage(s);
    const bool passes_on = shares(s, s + 1);
    const int64_t fresh = passes_on ? 0 : bytes(s + 1);
    const bool keeps_input = cost.keeps_input || (passes_on && cost.keeps_result);
    const bool keeps_fresh = !passes_on && cost.keeps_result && !is_callers(s + 1, span);
    const int64_t kept = cost.kept_bytes + (keeps_input ? input_bytes(span) : 0) +
                         (keeps_fresh ? fresh : 0);
    const int64_t own = std::max(
        {beside_forward(s, span) + input_bytes(span) +
             std::max(cost.forward_bytes, cost.kept_bytes + fresh),
         beside_backward(span) + gradients(s + 1) + kept + cost.backward_bytes,
         beside_backward(span) + gradients(s)});
    if (s + 1 == span.end) {
      found.push_back({own, 0, 0, 0, 0});
      return;
    }
    const Front& rest = front(behind_kept(span));
    for (size_t i = 0; i < rest.size(); ++i) {
      found.push_back({std::max(own, kept + rest[i].peak), rest[i].seconds, 0, 0, i});
    }
  }
  [[nodiscard]] Span behind_kept(const Span& span) const {
    const StageCost& cost = stage(span.begin);
    const bool passes_on = shares(span.begin, span.begin + 1);
    return {span.begin + 1, span.end,
            cost.keeps_result || (passes_on && (span.is_held || cost.keeps_input))};
  }

  /// The most that the first run of a region adds to its input.
  [[nodiscard]] int64_t dropped(int64_t s, int64_t m) const {
    int64_t peak = 0;
    for (int64_t i = s; i < m; ++i) {
      peak = std::max(peak, (shares(s, i) ? 0 : bytes(i)) + stage(i).region_forward_bytes);
    }
    return std::max(peak, shares(s, m) ? 0 : bytes(m));
  }

  void begin_with_region(const Span& span, int64_t m, Front& found) {
    const int64_t s = span.begin;
    const int64_t held = input_bytes(span);
    const int64_t first = beside_forward(s, span) + held + dropped(s, m);
    const int64_t in_backward = held + beside_backward(span);
    double again = 0;
    for (int64_t i = s; i < m; ++i) again += stage(i).forward_seconds;
    const Front& inside = front(inside_region(span, m));
    const Front& rest = front(behind_region(span, m));
    // For each peak that one of both sets, the fastest other one that fits.
    size_t i = 0;
    size_t k = 0;
    while (true) {
      const int64_t peak = std::max({first, in_backward + inside[i].peak, held + rest[k].peak});
      found.push_back({peak, inside[i].seconds + rest[k].seconds + again, m, i, k});
      const int64_t next_inside =
          i + 1 < inside.size() ? in_backward + inside[i + 1].peak : INT64_MAX;
      const int64_t next_rest = k + 1 < rest.size() ? held + rest[k + 1].peak : INT64_MAX;
      if (next_inside == INT64_MAX && next_rest == INT64_MAX) break;
      next_inside <= next_rest ? ++i : ++k;
    }
  }
  static Span inside_region(const Span& span, int64_t m) { return {span.begin, m, true}; }
  [[nodiscard]] Span behind_region(const Span& span, int64_t m) const {
    return {m, span.end, shares(span.begin, m)};
  }

  std::vector<PlannedPart> schedule(Span span, size_t place) {
    std::vector<PlannedPart> parts;
    while (span.begin < span.end) {
      const Point point = front(span)[place];
      if (point.middle == 0) {
        parts.push_back({span.begin, span.begin + 1, false, {}});
        span = behind_kept(span);
      } else {
        parts.push_back({span.begin, point.middle, true,
                         schedule(inside_region(span, point.middle), point.inside)});
        span = behind_region(span, point.middle);
      }
      place = point.rest;
    }
    return parts;
  }

  const ChainCosts& costs_;
  int64_t count_;
  std::vector<int64_t> owners_;
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
