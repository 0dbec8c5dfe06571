#include <ebb/techniques/plan_checkpoints.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

namespace ebb {

namespace {

/// The layers, shared by the regions of one run.
using Layers = std::shared_ptr<const std::vector<Stage>>;

Tensor run_parts(const Layers& layers, const std::vector<PlannedPart>& parts, const Tensor& input) {
  Tensor x = input;
  for (const PlannedPart& part : parts) {
    if (part.is_region && !GradMode::is_enabled()) {
      // Nothing is saved, so a region within would only hold its input longer.
      for (int64_t i = part.begin; i < part.end; ++i) x = (*layers)[static_cast<size_t>(i)](x);
    } else if (part.is_region) {
      x = checkpoint([layers, inside = part.inside](
                         const Tensor& in) { return run_parts(layers, inside, in); },
                     x);
    } else {
      x = (*layers)[static_cast<size_t>(part.begin)](x);
    }
  }
  return x;
}

void print(std::ostream& stream, const std::vector<PlannedPart>& parts, int indent) {
  for (const PlannedPart& part : parts) {
    stream << std::string(static_cast<size_t>(indent) * 2, ' ');
    if (!part.is_region) {
      stream << "layer " << part.begin << ": keep all\n";
      continue;
    }
    stream << "layers " << part.begin << " to " << part.end - 1
           << ": keep the input; in backward again:\n";
    print(stream, part.inside, indent + 1);
  }
}

std::string in_bytes(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

CheckpointPlan::CheckpointPlan(std::vector<PlannedPart> parts, const ChainCosts& costs)
    : parts_(std::move(parts)) {
  const detail::Replayed replayed = detail::replay(parts_, costs);
  peak_bytes_ = replayed.peak_bytes;
  extra_forward_seconds_ = replayed.extra_forward_seconds;
  for (const StageCost& stage : costs.stages) forward_seconds_ += stage.forward_seconds;
}

double CheckpointPlan::extra_forward_ratio() const {
  return forward_seconds_ > 0 ? extra_forward_seconds_ / forward_seconds_ : 0;
}

std::string CheckpointPlan::str() const {
  std::ostringstream stream;
  stream << "peak " << in_bytes(peak_bytes_) << ", " << static_cast<int>(extra_forward_ratio() * 100 + 0.5)
         << " % of a forward again\n";
  print(stream, parts_, 0);
  return stream.str();
}

std::ostream& operator<<(std::ostream& stream, const CheckpointPlan& plan) {
  return stream << plan.str();
}

CheckpointPlan plan_checkpoints(const ChainCosts& costs, int64_t budget_bytes) {
  EBB_CHECK(!costs.stages.empty(), "plan_checkpoints: the chain has no layers");
  std::optional<CheckpointPlan> best;
  int64_t least = INT64_MAX;
  for (auto& parts : detail::candidate_schedules(costs)) {
    CheckpointPlan plan(std::move(parts), costs);
    least = std::min(least, plan.peak_bytes());
    if (plan.peak_bytes() > budget_bytes) continue;
    const bool better =
        !best || plan.extra_forward_seconds() < best->extra_forward_seconds() ||
        (plan.extra_forward_seconds() == best->extra_forward_seconds() &&
         plan.peak_bytes() < best->peak_bytes());
    if (better) best = std::move(plan);
  }
  EBB_CHECK(best.has_value(), "plan_checkpoints: no schedule of the ", costs.stages.size(),
            " layers needs as little as the budget of ", in_bytes(budget_bytes),
            "; the least possible is ", in_bytes(least));
  return *std::move(best);
}

CheckpointPlan plan_checkpoints(const std::vector<Stage>& layers, const Tensor& example,
                                int64_t budget_bytes) {
  return plan_checkpoints(measure_stages(layers, example), budget_bytes);
}
CheckpointPlan plan_checkpoints(const nn::Sequential& layers, const Tensor& example,
                                int64_t budget_bytes) {
  return plan_checkpoints(stages_of(layers), example, budget_bytes);
}

Tensor checkpoint_sequential(const std::vector<Stage>& layers, const CheckpointPlan& plan,
                             const Tensor& input) {
  const int64_t planned = plan.parts().empty() ? 0 : plan.parts().back().end;
  EBB_CHECK(planned == static_cast<int64_t>(layers.size()), "checkpoint_sequential: a plan for ",
            planned, " layers does not fit the ", layers.size(), " that were given");
  return run_parts(std::make_shared<const std::vector<Stage>>(layers), plan.parts(), input);
}
Tensor checkpoint_sequential(const nn::Sequential& layers, const CheckpointPlan& plan,
                             const Tensor& input) {
  return checkpoint_sequential(stages_of(layers), plan, input);
}

}  // namespace ebb
