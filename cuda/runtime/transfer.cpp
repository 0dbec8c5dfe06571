#include <ebb/cuda/runtime/transfer.h>

#include <ebb/core/memory/pinned.h>
#include <ebb/cuda/runtime/current_stream.h>
#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/event_pool.h>
#include <ebb/cuda/runtime/pinned.h>
#include <ebb/cuda/runtime/synchronization.h>

namespace ebb::cuda {

namespace {

/// Between the host and a device, on the device's current stream. The host need not wait for a copy
/// from or to pinned memory, which stays out of use until the stream has passed it, nor for a copy
/// from pageable memory, which the runtime has read when the call returns.
void transfer_host(const TensorBase& to, const TensorBase& from, DeviceIndex device,
                   bool non_blocking) {
  const DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const cudaMemcpyKind kind = to.is_cpu() ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  memory::Block* on_host = (to.is_cpu() ? to : from).storage().block();
  const bool pinned = non_blocking && memory::is_pinned(on_host);
  if (pinned) record_pinned_use(on_host, device, stream);
  EBB_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), from.data_ptr(), from.nbytes(), kind, stream));
  if (pinned || (non_blocking && from.is_cpu())) return;
  synchronize_stream(device, stream, {"cudaStreamSynchronize", __FILE__, __LINE__});
}

/// Between two devices: on the stream of the source, between what the stream of the destination
/// holds by now and what it is given later, so that both may go on with their tensors at once.
void transfer_peer(const TensorBase& to, const TensorBase& from) {
  const DeviceIndex to_device = to.device().index();
  const DeviceIndex from_device = from.device().index();
  const cudaStream_t to_stream = current_stream(to_device);
  const cudaStream_t stream = current_stream(from_device);
  wait_for_stream(from_device, stream, to_device, to_stream);
  {
    const DeviceGuard guard(from_device);
    EBB_CUDA_CHECK(cudaMemcpyPeerAsync(to.data_ptr(), to_device, from.data_ptr(), from_device,
                                       from.nbytes(), stream));
  }
  try {
    wait_for_stream(to_device, to_stream, from_device, stream);
  } catch (...) {
    // The copy is under way all the same: nobody may have the memory of the tensors before its end.
    const DeviceGuard guard(from_device);
    (void)cudaStreamSynchronize(stream);
    throw;
  }
}

}  // namespace

void transfer(const TensorBase& to, const TensorBase& from, bool non_blocking) {
  if (to.is_cuda() && from.is_cuda()) return transfer_peer(to, from);
  const Device device = to.is_cuda() ? to.device() : from.device();
  transfer_host(to, from, device.index(), non_blocking);
}

}  // namespace ebb::cuda
