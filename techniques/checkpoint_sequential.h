#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ebb/autograd/checkpoint.h>
#include <ebb/nn/modules/container/sequential.h>

namespace ebb {

/// One layer of a chain: a function of the result of the layer before.
using Stage = std::function<Tensor(const Tensor& input)>;

/// The layers of a Sequential, each of which takes and gives one tensor; they share its modules.
[[nodiscard]] EBB_API std::vector<Stage> stages_of(const nn::Sequential& layers);

/// Runs the layers one after another, in `segments` parts of equal length (the last has the rest),
/// each but the last a checkpoint region: between the runs only the inputs of the parts are held,
/// and backward has one part's activations at a time. One further forward of all but the last part
/// is the price; about sqrt(layers) segments need the least memory (Chen et al., 2016). The stages
/// are copied. Throws an Error unless segments lie between 1 and the number of layers. As PyTorch's
/// torch.utils.checkpoint.checkpoint_sequential.
EBB_API Tensor checkpoint_sequential(const std::vector<Stage>& layers, int64_t segments,
                                     const Tensor& input, const CheckpointOptions& options = {});
EBB_API Tensor checkpoint_sequential(const nn::Sequential& layers, int64_t segments,
                                     const Tensor& input, const CheckpointOptions& options = {});

}  // namespace ebb
