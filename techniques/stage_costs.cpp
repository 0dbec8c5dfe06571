#include <algorithm>
#include <chrono>
#include <unordered_set>

#include <ebb/autograd/accumulate_grad.h>
#include <ebb/autograd/autograd.h>
#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/factories.h>
#include <ebb/core/device_setup.h>
#include <ebb/core/memory/peak_tracker.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/random/generator.h>
#include <ebb/techniques/plan_checkpoints.h>

namespace ebb {

namespace {

using memory::detail::PeakTracker;

int64_t rounded_bytes(const Tensor& tensor) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(tensor.nbytes())));
}

/// Waits until what was asked of the tensor's device is done.
void wait_for(const Tensor& tensor) {
  if (!tensor.is_cpu() && tensor.numel() > 0) {
    static_cast<void>(tensor.detach().reshape({-1}).slice(0, 0, 1).cpu());
  }
}

/// The leaves that the graph behind a tensor leads to.
std::vector<Tensor> leaves_behind(const Tensor& tensor) {
  std::vector<Tensor> leaves;
  std::vector<const autograd::Node*> stack;
  std::unordered_set<const autograd::Node*> seen;
  const auto visit = [&](const autograd::Node* node) {
    if (node != nullptr && seen.insert(node).second) stack.push_back(node);
  };
  visit(autograd::gradient_edge(tensor).node.get());
  while (!stack.empty()) {
    const autograd::Node* node = stack.back();
    stack.pop_back();
    if (node->is_accumulate_grad()) {
      const Tensor leaf = static_cast<const autograd::AccumulateGrad*>(node)->leaf();
      if (leaf.defined()) leaves.push_back(leaf);
    }
    for (const autograd::Edge& edge : node->next_edges()) visit(edge.node.get());
  }
  return leaves;
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Forward and backward of one layer.
class StageMeasurement {
 public:
  StageMeasurement(const Stage& stage, const Tensor& input)
      : stage_(stage), input_(input), allocator_(memory::allocator(input.device())) {}

  StageCost run() {
    stage_(input_);  // what is set up once is there, and the clock sees warm caches
    measure_region();
    measure_forward();
    if (result_.requires_grad()) measure_backward();
    return cost_;
  }
  /// What the next layer is measured on.
  [[nodiscard]] Tensor result() const { return result_.detach(); }

 private:
  void measure_region() {
    PeakTracker tracker(allocator_);
    const Tensor result = checkpoint(stage_, input_);
    cost_.region_forward_bytes = tracker.read().peak_bytes;
  }

  void measure_forward() {
    const auto held = input_.storage().use_count();
    PeakTracker tracker(allocator_);
    const Stopwatch watch;
    result_ = stage_(input_);
    wait_for(result_);
    cost_.forward_seconds = watch.seconds();
    const auto reading = tracker.read();
    const bool shares = result_.storage().is_alias_of(input_.storage());
    cost_.forward_bytes = reading.peak_bytes;
    cost_.gradient_bytes = rounded_bytes(result_);
    cost_.result_bytes =
        shares ? 0 : static_cast<int64_t>(memory::rounded(result_.storage().nbytes()));
    cost_.kept_bytes = reading.net_bytes - cost_.result_bytes;
    cost_.keeps_input = input_.storage().use_count() > held + (shares ? 1 : 0);
    cost_.keeps_result = !shares && result_.storage().use_count() > 1;
  }

  void measure_backward() {
    std::vector<Tensor> wanted = leaves_behind(result_);
    const Tensor gradient = ones_like(result_);
    PeakTracker tracker(allocator_);
    const Stopwatch watch;
    const auto gradients = autograd::grad({result_}, wanted, {gradient}, /*retain_graph=*/false,
                                          /*create_graph=*/false, /*allow_unused=*/true);
    for (const Tensor& found : gradients) {
      if (found.defined()) wait_for(found);
    }
    cost_.backward_seconds = watch.seconds();
    cost_.backward_bytes = tracker.read().peak_bytes;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (gradients[i].defined() && !wanted[i].is_same(input_)) {
        cost_.parameter_gradient_bytes += rounded_bytes(gradients[i]);
      }
    }
  }

  const Stage& stage_;
  const Tensor& input_;
  memory::CachingAllocator& allocator_;
  Tensor result_;
  StageCost cost_;
};

}  // namespace

ChainCosts measure_stages(const std::vector<Stage>& layers, const Tensor& example) {
  const autograd::detail::RecomputingScope without_trace;
  const GeneratorGuard on_host(current_generator(kCPU).clone());
  const GeneratorGuard on_device(current_generator(example.device()).clone());
  ChainCosts costs;
  Tensor input = example.detach();
  input.requires_grad_(example.requires_grad());
  if (example.requires_grad()) costs.input_gradient_bytes = rounded_bytes(example);
  for (const Stage& layer : layers) {
    StageMeasurement measurement(layer, input);
    costs.stages.push_back(measurement.run());
    const bool has_gradient = costs.stages.back().backward_bytes > 0 || input.requires_grad();
    Tensor next = measurement.result();
    input = std::move(next);
    if (has_gradient && is_floating_point(input.scalar_type())) input.requires_grad_();
  }
  return costs;
}

}  // namespace ebb
