#pragma once

#include <cstdint>

#include <ebb/autograd/saved_tensor_hooks.h>

namespace ebb {

struct SaveOnCpuOptions {
  /// Copies go to pinned memory, beside the work of the device. Without it the host waits for each.
  bool pin_memory = true;
  /// Smaller tensors stay on the device: below this a copy costs more time than it saves memory.
  int64_t min_bytes = 256 * 1024;
};

/// Until the end of the scope, what ops on this thread save for backward is kept in the host's
/// memory: backward's share of the device is what one node needs at a time.
///
///     ebb::Tensor loss;
///     {
///       const ebb::SaveOnCpu offload;
///       loss = model->forward(x).sum();
///     }
///     loss.backward();
///
/// A tensor is copied once, however many ops in a row save it, on a stream of the device's own for
/// copies; its memory is free for others when the copy is done. Backward copies it back on that
/// stream, and the stream of the node waits. On the device stay parameters, buffers, small tensors,
/// foreign memory and expanded views; tensors on the CPU stay where they are, and nothing is
/// copied. A saved tensor that is written in place before backward is an Error there, as without
/// the scope. Hooks outside of this scope do not see what went to the host, hooks inside decide
/// what goes: see docs/saving.md. PyTorch's torch.autograd.graph.save_on_cpu.
class EBB_API SaveOnCpu {
 public:
  explicit SaveOnCpu(SaveOnCpuOptions options = {});

 private:
  autograd::SavedTensorHooks hooks_;
};

}  // namespace ebb
