#include <algorithm>

#include <ebb/techniques/plan_checkpoints.h>

// A schedule, step by step: which activations somebody holds, and what is live beside them. Result
// i is that of layer i - 1; result 0, the input of the chain, was there before.

namespace ebb::detail {

size_t owner_of(const std::vector<StageCost>& stages, size_t result) {
  while (result > 0 && stages[result - 1].result_bytes == 0) --result;
  return result;
}

namespace {

class Replay {
 public:
  explicit Replay(const ChainCosts& costs) : stages_(costs.stages), costs_(costs) {
    holders_.resize(stages_.size() + 1);
  }

  Replayed run(const std::vector<PlannedPart>& parts) {
    forward(parts, 0, Run::first);
    hold(stages_.size());  // the caller's result
    live_ += stages_.back().gradient_bytes;
    touch(0);
    backward(parts);
    return {peak_, extra_seconds_};
  }

 private:
  enum class Run { first, again };

  const StageCost& stage(int64_t i) const { return stages_[static_cast<size_t>(i)]; }

  void hold(size_t result) {
    const size_t of = owner_of(stages_, result);
    if (of > 0 && ++holders_[of] == 1) live_ += stages_[of - 1].result_bytes;
  }
  void release(size_t result) {
    const size_t of = owner_of(stages_, result);
    if (of > 0 && --holders_[of] == 0) live_ -= stages_[of - 1].result_bytes;
  }
  void touch(int64_t more) { peak_ = std::max(peak_, live_ + more); }

  /// The parts in order, on result `begin`, which a variable holds while it is needed.
  void forward(const std::vector<PlannedPart>& parts, int64_t begin, Run run) {
    auto at = static_cast<size_t>(begin);
    hold(at);
    for (const PlannedPart& part : parts) {
      if (part.is_region) {
        hold(at);
        // The recomputation ends where the last tensor is saved: that is the region's input.
        if (run == Run::again && &part == &parts.back()) break;
        run_dropped(part.begin, part.end, run);
      } else {
        run_kept(part.begin, run);
      }
      const auto next = static_cast<size_t>(part.end);
      hold(next);
      touch(0);
      release(at);
      at = next;
    }
    release(at);
  }

  void run_kept(int64_t i, Run run) {
    const StageCost& cost = stage(i);
    touch(cost.forward_bytes);
    if (run == Run::again) extra_seconds_ += cost.forward_seconds;
    live_ += cost.kept_bytes;
    if (cost.keeps_input) hold(static_cast<size_t>(i));
    if (cost.keeps_result) hold(static_cast<size_t>(i) + 1);
  }

  /// The layers of a region, which keep nothing.
  void run_dropped(int64_t begin, int64_t end, Run run) {
    for (int64_t i = begin; i < end; ++i) {
      hold(static_cast<size_t>(i));
      touch(stage(i).region_forward_bytes);
      release(static_cast<size_t>(i));
      if (run == Run::again) extra_seconds_ += stage(i).forward_seconds;
    }
  }

  void backward(const std::vector<PlannedPart>& parts) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      part->is_region ? backward_of_region(*part) : backward_of(part->begin);
    }
  }

  void backward_of_region(const PlannedPart& region) {
    // What is computed again has memory of its own, also where the caller holds the first result.
    const std::vector<int> first_run = holders_;
    std::fill(holders_.begin() + region.begin + 1, holders_.end(), 0);
    forward(region.inside, region.begin, Run::again);
    backward(region.inside);
    std::copy(first_run.begin() + region.begin + 1, first_run.end(),
              holders_.begin() + region.begin + 1);
    release(static_cast<size_t>(region.begin));
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
  int64_t live_ = 0;
  int64_t peak_ = 0;
  double extra_seconds_ = 0;
};

}  // namespace

Replayed replay(const std::vector<PlannedPart>& parts, const ChainCosts& costs) {
  return Replay(costs).run(parts);
}

}  // namespace ebb::detail
