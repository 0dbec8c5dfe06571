#include <ebb/techniques/save_on_cpu.h>

#include <ebb/core/device_streams.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/techniques/saved_copy.h>

namespace ebb {

using autograd::PackedTensor;
using autograd::SavedTensorHooks;

namespace {

TensorBase empty_on_host(const Tensor& like, bool pinned) {
  const DimVector strides = like.is_non_overlapping_and_dense() ? DimVector(like.strides())
                                                                : contiguous_strides(like.sizes());
  return pinned ? ops::empty_pinned(like.sizes(), strides, like.scalar_type())
                : ops::empty_strided(like.sizes(), strides, like.scalar_type(), kCPU);
}

/// A tensor of a device, in the host's memory.
class HostCopy final : public detail::SavedCopy {
 public:
  HostCopy(const Tensor& tensor, bool pinned)
      : SavedCopy(tensor),
        device_(tensor.device()),
        stream_(streams().copies(device_.index())),
        host_(empty_on_host(tensor, pinned)) {
    streams().wait(device_.index(), stream_, current_stream_id(device_));
    // Before the copy begins: whatever happens, the memory is not given away under it.
    memory::record_stream(tensor.storage().block(), stream_);
    const StreamIdGuard guard(device_, stream_);
    ops::copy_(host_, tensor, /*non_blocking=*/true);
  }

  /// The tensor on its device again, for the current stream.
  [[nodiscard]] Tensor on_device() const {
    check_version();
    Tensor result;
    {
      const StreamIdGuard guard(device_, stream_);
      result = Tensor(ops::to(host_, host_.scalar_type(), device_, /*non_blocking=*/true));
    }
    const memory::StreamId user = current_stream_id(device_);
    memory::record_stream(result.storage().block(), user);
    streams().wait(device_.index(), user, stream_);
    return result;
  }

 private:
  [[nodiscard]] const DeviceStreams& streams() const { return *device_streams(device_.type()); }

  Device device_;
  memory::StreamId stream_;
  TensorBase host_;
};

SavedTensorHooks::Pack pack(const SaveOnCpuOptions& options) {
  return [options, copies = std::make_shared<detail::SavedCopies>()](const Tensor& tensor) {
    if (tensor.is_cpu() || detail::stays_as_it_is(tensor, options.min_bytes)) {
      return PackedTensor{{tensor}, {}};
    }
    return PackedTensor{{}, copies->get(tensor, [&] {
                          return std::make_shared<const HostCopy>(tensor, options.pin_memory);
                        })};
  };
}

Tensor unpack(const PackedTensor& packed) {
  if (!packed.tensors.empty()) return packed.tensors[0];
  const auto& copy = std::any_cast<const std::shared_ptr<const detail::SavedCopy>&>(packed.state);
  return static_cast<const HostCopy&>(*copy).on_device();
}

}  // namespace

SaveOnCpu::SaveOnCpu(SaveOnCpuOptions options) : hooks_(pack(options), unpack) {}

}  // namespace ebb
