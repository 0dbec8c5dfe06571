#include <algorithm>

#include <ebb/techniques/plan_checkpoints.h>

// A schedule, step by step: which activations somebody holds, and what is live beside them. Result
// i is that of layer i - 1; result 0, the input of the chain, was there before.

namespace ebb::detail {

namespace {

class Replay {
 public:
  explicit Replay(const ChainCosts& costs) : stages_(costs.stages), costs_(costs) {
    holders_.resize(stages_.size() + 1);
  }

  Replayed run(const std::vector<PlannedPart>& parts) {
    const size_t end = stages_.size();
    hold(end);  // the caller's result
    release(end);
    forward(parts, 0, Run::kept);
    hold(end);
    touch(0);
    live_ += stages_.back().gradient_bytes;
    touch(0);
    backward(parts);
    return {peak_, extra_seconds_};
  }

 private:
  enum class Run { kept, dropped, again };

  const StageCost& stage(int64_t i) const { return stages_[static_cast<size_t>(i)]; }

  /// Where the memory of a result comes from: a layer may pass on that of its input.
  [[nodiscard]] size_t owner(size_t result) const {
    while (result > 0 && stages_[result - 1].result_bytes == 0) --result;
    return result;
  }
  void hold(size_t result) {
    const size_t of = owner(result);
    if (of > 0 && ++holders_[of] == 1) live_ += stages_[of - 1].result_bytes;
  }
  void release(size_t result) {
    const size_t of = owner(result);
    if (of > 0 && --holders_[of] == 0) live_ -= stages_[of - 1].result_bytes;
  }
  void touch(int64_t more) { peak_ = std::max(peak_, live_ + more); }

  /// The parts in order, on result `begin`, which a variable holds while it is needed.
  void forward(const std::vector<PlannedPart>& parts, int64_t begin, Run run) {
    auto at = static_cast<size_t>(begin);
    hold(at);
    for (const PlannedPart& part : parts) {
      const bool is_last = &part == &parts.back();
      if (part.is_region) {
        if (run != Run::dropped) hold(at);
        // The recomputation ends where the last tensor is saved: that is the region's input.
        if (run == Run::again && is_last) break;
        forward(part.inside, part.begin, Run::dropped);
      } else {
        run_stage(part.begin, run);
      }
      const auto next = static_cast<size_t>(part.end);
      hold(next);
      release(at);
      at = next;
      touch(0);
    }
    release(at);
  }

  void run_stage(int64_t i, Run run) {
    const StageCost& cost = stage(i);
    touch(run == Run::dropped ? cost.region_forward_bytes : cost.forward_bytes);
    if (run == Run::again) extra_seconds_ += cost.forward_seconds;
    if (run == Run::dropped && recomputing_ > 0) extra_seconds_ += cost.forward_seconds;
    if (run == Run::dropped) return;
    live_ += cost.kept_bytes;
    if (cost.keeps_input) hold(static_cast<size_t>(i));
    if (cost.keeps_result) hold(static_cast<size_t>(i) + 1);
  }

  void backward(const std::vector<PlannedPart>& parts) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (!part->is_region) {
        backward_of(part->begin);
        continue;
      }
      ++recomputing_;
      forward(part->inside, part->begin, Run::again);
      --recomputing_;
      backward(part->inside);
      release(static_cast<size_t>(part->begin));
    }
  }

  void backward_of(int64_t i) {
    const StageCost& cost = stage(i);
    touch(cost.backward_bytes);
    live_ -= cost.kept_bytes;
    if (cost.keeps_input) release(static_cast<size_t>(i));
    if (cost.keeps_result) release(static_cast<size_t>(i) + 1);
    live_ += cost.parameter_gradient_bytes;
    live_ += i > 0 ? stage(i - 1).gradient_bytes : costs_.input_gradient_bytes;
    // The caller holds the gradient of the last result.
    if (i + 1 < static_cast<int64_t>(stages_.size())) live_ -= cost.gradient_bytes;
    touch(0);
  }

  const std::vector<StageCost>& stages_;
  const ChainCosts& costs_;
  std::vector<int> holders_;
  int recomputing_ = 0;
  int64_t live_ = 0;
  int64_t peak_ = 0;
  double extra_seconds_ = 0;
};

}  // namespace

Replayed replay(const std::vector<PlannedPart>& parts, const ChainCosts& costs) {
  return Replay(costs).run(parts);
}

}  // namespace ebb::detail
