#include <ebb/cuda/runtime/setup.h>

#include <array>
#include <mutex>
#include <optional>

#include <ebb/core/device_streams.h>
#include <ebb/core/error.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/allocator_streams.h>
#include <ebb/cuda/runtime/current_stream.h>
#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/event_pool.h>
#include <ebb/cuda/runtime/memory_hooks.h>
#include <ebb/cuda/runtime/pinned.h>
#include <ebb/cuda/runtime/source.h>
#include <ebb/cuda/runtime/stream.h>
#include <ebb/cuda/runtime/transfer.h>

namespace ebb::cuda {

namespace {

cudaStream_t handle_of(memory::StreamId stream) { return reinterpret_cast<cudaStream_t>(stream); }

memory::StreamId stream_for_copies(DeviceIndex device) {
  static std::mutex mutex;
  static std::array<std::optional<Stream>, kMaxDevices> streams;
  const std::lock_guard lock(mutex);
  std::optional<Stream>& stream = streams[static_cast<size_t>(device)];
  if (!stream) stream = getStreamFromPool(false, device);
  return stream->id();
}

const DeviceStreams& streams_for_autograd() {
  static const DeviceStreams streams{
      [](DeviceIndex device) { return reinterpret_cast<memory::StreamId>(current_stream(device)); },
      [](DeviceIndex device, memory::StreamId stream) {
        detail::current_streams[static_cast<size_t>(device)] = handle_of(stream);
      },
      [](DeviceIndex device, memory::StreamId stream, memory::StreamId awaited) {
        wait_for_stream(device, handle_of(stream), device, handle_of(awaited));
      },
      &stream_for_copies};
  return streams;
}

const Kernels& kernels_with_transfer() {
  static const Kernels table = [] {
    Kernels kernels = kernel_table();
    kernels.transfer = &transfer;
    return kernels;
  }();
  return table;
}

/// The device's allocator lives as long as the process, and so does all that it stands on.
void register_one(DeviceIndex device) {
  memory::DeviceMemory memory;
  memory.source = new DeviceSource(device);
  memory.streams = new AllocatorStreams(device);
  memory.hooks = memory_hooks();
  memory::register_device(Device(kCUDA, device), memory);
}

}  // namespace

void set_up() {
  static std::mutex mutex;
  static DeviceIndex known = 0;
  const DeviceIndex count = device_count();
  EBB_CHECK(count > 0, "there is no CUDA device: ", unavailable_reason());
  std::lock_guard lock(mutex);
  if (known == 0) {
    if (memory::find_pinned_allocator() == nullptr) register_pinned_memory();
    memory::set_current_device_query(kCUDA, &current_device);
    register_device_streams(kCUDA, streams_for_autograd());
    register_kernels(kCUDA, kernels_with_transfer());
  }
  for (; known < count; ++known) register_one(known);
}

}  // namespace ebb::cuda
