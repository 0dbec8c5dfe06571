#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <ebb/autograd/node.h>
#include <ebb/core/device_streams.h>
#include <ebb/core/memory/registry.h>

namespace ebb::autograd {

/// The streams of one run of backward: each node runs on the stream of its forward pass, gradients
/// are handed over between streams by events, and whoever called backward may use the results on
/// the current stream at once (as PyTorch, "Stream semantics of backward passes"). Nothing to do on
/// the CPU.
class BackwardStreams {
 public:
  /// Makes the stream on which `node` computed in the forward pass the current one, for the life of
  /// the guard.
  void enter(const Node& node, std::optional<StreamIdGuard>& guard) {
    if (node.num_inputs() == 0 || node.input_metadata(0).device.is_cpu()) return;
    const InputMetadata& metadata = node.input_metadata(0);
    guard.emplace(metadata.device, metadata.stream);
    const std::pair used(metadata.device, metadata.stream);
    if (std::find(used_.begin(), used_.end(), used) == used_.end()) used_.push_back(used);
  }
  /// The stream of `metadata` may read `grad`, which the current stream computes.
  static void hand_over(const Tensor& grad, const InputMetadata& metadata) {
    if (grad.is_cpu() || !(grad.device() == metadata.device)) return;
    const memory::StreamId current = current_stream_id(grad.device());
    if (current == metadata.stream) return;
    device_streams(grad.device().type())->wait(grad.device().index(), metadata.stream, current);
    memory::record_stream(grad.storage().block(), metadata.stream);
  }
  /// What the caller queues from now on comes after all that backward has queued.
  void join() const {
    for (const auto& [device, stream] : used_) {
      const memory::StreamId current = current_stream_id(device);
      if (current == stream) continue;
      device_streams(device.type())->wait(device.index(), current, stream);
    }
  }

 private:
  std::vector<std::pair<Device, memory::StreamId>> used_;
};

}  // namespace ebb::autograd
