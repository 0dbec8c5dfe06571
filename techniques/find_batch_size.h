#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ebb/core/device_setup.h>
#include <ebb/nn/module.h>
#include <ebb/optim/optimizer.h>

namespace ebb {

/// What find_batch_size is told.
struct BatchSizeOptions {
  /// What the step changes and find_batch_size brings back: parameters, gradients and buffers of
  /// the module; parameters, gradients and state of the optimizer; and further tensors.
  nn::Module* module = nullptr;
  optim::Optimizer* optimizer = nullptr;
  std::vector<Tensor> tensors = {};
  /// The least batch that is of use.
  int64_t least = 1;
  /// How often the step runs with each batch. From the second time on the optimizer has its state
  /// and the parameters their gradients, so that a batch that fits then fits for good.
  int runs = 2;
  /// The device whose memory is short.
  Device device = get_default_device();
};

/// The largest batch, of at most `first` examples, for which step(batch), a whole training step,
/// does not run out of memory; found by bisection, which takes it that a batch fits if a larger one
/// does. Throws OutOfMemoryError if not even options.least fits. Any other exception of the step
/// passes.
///
///   const auto fits = ebb::find_batch_size(
///       [&](int64_t batch) { train(x.narrow(0, 0, batch), y.narrow(0, 0, batch)); }, 1024,
///       {.module = model.get(), .optimizer = &optimizer});
///
/// It leaves no trace, also where it throws: what the options name gets its values back, gradients
/// that were not there are gone, and the random generators of this thread for the CPU and the
/// device go on from where they were. The values are kept in the host's heap, which is not counted.
/// A gradient may be another tensor of the same values afterwards, as may a state object of the
/// optimizer. Cached memory of the device is released. A state class of the user's must define
/// tensors(). The step must change nothing else, such as a learning rate.
[[nodiscard]] EBB_API int64_t find_batch_size(const std::function<void(int64_t)>& step,
                                              int64_t first, const BatchSizeOptions& options = {});

}  // namespace ebb
