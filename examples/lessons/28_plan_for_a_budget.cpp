#include "lesson.h"

// plan_checkpoints: for a budget of bytes, the schedule that runs the fewest layers again. It
// measures each layer, and the peak that it states is the one that comes.

namespace {

int64_t peak_of_step(const ebb::nn::Sequential& net, const ebb::CheckpointPlan& plan,
                     const ebb::Tensor& x) {
  const auto step = ebb::testing::measure([&] {
    const ebb::Tensor y = ebb::checkpoint_sequential(net, plan, x);
    y.backward(ebb::ones_like(y));
  });
  for (const ebb::Tensor& p : net.ptr()->parameters()) p.mutable_grad().reset();
  x.mutable_grad().reset();
  return step.peak_bytes;
}

}  // namespace

int main() {
  ebb::nn::Sequential net;
  for (int layer = 0; layer < 6; ++layer) {
    net->push_back(ebb::nn::Linear(128, 128));
    net->push_back(ebb::nn::Tanh());
  }
  const ebb::Tensor x = ebb::randn({2048, 128}).requires_grad_();
  const auto costs = ebb::measure_stages(ebb::stages_of(net), x);

  // Linear keeps its input, which is Tanh's result: 6 of these, the gradient that backward starts
  // from and the one of the layer before; then, with the first layers, gradients of the weights.
  const auto plain = ebb::plan_checkpoints(costs, INT64_MAX);
  lesson::equal("a budget without end", plain.peak_bytes(), peak_of_step(net, plain, x));

  const int64_t budget = plain.peak_bytes() * 4 / 5;
  const auto plan = ebb::plan_checkpoints(costs, budget);
  lesson::equal("four fifths of that", plan.peak_bytes(), peak_of_step(net, plan, x));
  if (plan.peak_bytes() > budget) return 1;
  std::cout << plan;
}
