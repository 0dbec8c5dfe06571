#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <ebb/techniques/checkpoint_sequential.h>

namespace ebb {

/// What one layer of a chain costs. Bytes are those of the allocator, rounded as it rounds.
struct StageCost {
  int64_t result_bytes = 0;    ///< its result; 0 if that shares the memory of its input
  int64_t gradient_bytes = 0;  ///< the gradient of its result
  int64_t kept_bytes = 0;      ///< what it keeps for backward beside its input and its result
  bool keeps_input = false;
  bool keeps_result = false;
  int64_t parameter_gradient_bytes = 0;  ///< gradients of parameters, which stay
  /// The most above the start that its forward needs, its result among it: where all is kept for
  /// backward, and within a checkpoint region.
  int64_t forward_bytes = 0;
  int64_t region_forward_bytes = 0;
  /// The most above the start that its backward needs, the gradient of its input among it.
  int64_t backward_bytes = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
};

/// The costs of a chain.
struct ChainCosts {
  std::vector<StageCost> stages;
  int64_t input_gradient_bytes = 0;  ///< 0 if the input needs no gradient
};

/// Runs each layer forward and backward on what `example` makes of the layers before, and measures
/// it. Leaves no trace: random state, gradients and running statistics are as before, and no memory
/// stays. Parameters count as having no gradient yet.
[[nodiscard]] EBB_API ChainCosts measure_stages(const std::vector<Stage>& layers,
                                                const Tensor& example);

/// A part of a schedule: a layer all of whose activations are kept, or a region, which keeps its
/// input and goes by `inside` when backward runs it again.
struct PlannedPart {
  int64_t begin = 0;
  int64_t end = 0;
  bool is_region = false;
  std::vector<PlannedPart> inside;
};

/// How a chain is run in a given number of bytes.
class EBB_API CheckpointPlan {
 public:
  CheckpointPlan(std::vector<PlannedPart> parts, const ChainCosts& costs);

  [[nodiscard]] const std::vector<PlannedPart>& parts() const { return parts_; }
  /// The most bytes above those live at the call, in forward and backward: with the result and the
  /// gradient that backward starts from, both live to the end, and the gradients.
  [[nodiscard]] int64_t peak_bytes() const { return peak_bytes_; }
  /// The time of the layers that backward runs again.
  [[nodiscard]] double extra_forward_seconds() const { return extra_forward_seconds_; }
  /// That over the time of one forward.
  [[nodiscard]] double extra_forward_ratio() const;
  /// The schedule, a line for each part, indented by region.
  [[nodiscard]] std::string str() const;

 private:
  std::vector<PlannedPart> parts_;
  int64_t peak_bytes_ = 0;
  double extra_forward_seconds_ = 0;
  double forward_seconds_ = 0;
};
EBB_API std::ostream& operator<<(std::ostream& stream, const CheckpointPlan& plan);

/// The schedule with the least extra forward work whose peak is within `budget_bytes` above what is
/// live at the call. Each layer may keep nothing, its input or all, in regions nested as deep as it
/// pays: the dynamic programme of Beaumont et al., "Optimal checkpointing for heterogeneous chains"
/// (2019), over exact bytes; schedules of equal segments take part too. Each candidate's peak is
/// found by replaying it, and the programme counts as the replay does, so that no schedule of kept
/// layers and regions is better. The time grows with the cube of the layers: 100 take seconds.
/// Throws an Error that states the least possible peak if no schedule fits.
[[nodiscard]] EBB_API CheckpointPlan plan_checkpoints(const ChainCosts& costs,
                                                      int64_t budget_bytes);
/// The same after measure_stages.
[[nodiscard]] EBB_API CheckpointPlan plan_checkpoints(const std::vector<Stage>& layers,
                                                      const Tensor& example, int64_t budget_bytes);
[[nodiscard]] EBB_API CheckpointPlan plan_checkpoints(const nn::Sequential& layers,
                                                      const Tensor& example, int64_t budget_bytes);

/// Runs the layers by a plan.
EBB_API Tensor checkpoint_sequential(const std::vector<Stage>& layers, const CheckpointPlan& plan,
                                     const Tensor& input);
EBB_API Tensor checkpoint_sequential(const nn::Sequential& layers, const CheckpointPlan& plan,
                                     const Tensor& input);

namespace detail {
/// What a schedule costs, found by going through it step by step.
struct Replayed {
  int64_t peak_bytes;
  double extra_forward_seconds;
};
Replayed replay(const std::vector<PlannedPart>& parts, const ChainCosts& costs);
/// The result whose memory a result is: layers may pass on the memory of their input.
size_t owner_of(const std::vector<StageCost>& stages, size_t result);
/// Schedules from which plan_checkpoints chooses: all of which none is worse than another in bytes
/// and in time, and all equal segments.
std::vector<std::vector<PlannedPart>> candidate_schedules(const ChainCosts& costs);
}  // namespace detail

}  // namespace ebb
