#include <ebb/techniques/checkpoint_sequential.h>

#include <memory>

namespace ebb {

namespace {

/// Layers begin to end - 1, as a function of the input.
Stage part(const std::vector<Stage>& layers, int64_t begin, int64_t end) {
  return [stages = std::vector<Stage>(layers.begin() + begin, layers.begin() + end)](
             const Tensor& input) {
    Tensor x = input;
    for (const Stage& stage : stages) x = stage(x);
    return x;
  };
}

}  // namespace

std::vector<Stage> stages_of(const nn::Sequential& layers) {
  std::vector<Stage> stages;
  for (const nn::AnyModule& layer : *layers) {
    stages.emplace_back([module = nn::AnyModule(layer)](const Tensor& input) mutable {
      return module.forward<Tensor>(input);
    });
  }
  return stages;
}

Tensor checkpoint_sequential(const std::vector<Stage>& layers, int64_t segments,
                             const Tensor& input, const CheckpointOptions& options) {
  const auto count = static_cast<int64_t>(layers.size());
  EBB_CHECK(segments >= 1 && segments <= count, "checkpoint_sequential: ", segments,
            " segments of ", count, " layers; ask for 1 to ", count);
  const int64_t length = count / segments;
  Tensor x = input;
  for (int64_t begin = 0; begin < length * (segments - 1); begin += length) {
    x = checkpoint(options, part(layers, begin, begin + length), x);
  }
  return part(layers, length * (segments - 1), count)(x);
}

Tensor checkpoint_sequential(const nn::Sequential& layers, int64_t segments, const Tensor& input,
                             const CheckpointOptions& options) {
  return checkpoint_sequential(stages_of(layers), segments, input, options);
}

}  // namespace ebb
