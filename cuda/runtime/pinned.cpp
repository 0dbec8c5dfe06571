#include <ebb/cuda/runtime/pinned.h>

#include <cstdint>

#include <ebb/core/memory/host_source.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/core/memory/registry.h>
#include <ebb/cuda/runtime/allocator_streams.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/event_pool.h>

namespace ebb::cuda {

namespace {

// Pinned blocks belong to no stream, but streams of all devices may use them, so a handle goes with
// the index of its device, in the top byte, which addresses leave free.
constexpr int kDeviceShift = 56;
constexpr memory::StreamId kNoStream = ~memory::StreamId{0};

template <typename Handle>
uint64_t with_device(DeviceIndex device, Handle handle) {
  return reinterpret_cast<uint64_t>(handle) | static_cast<uint64_t>(device) << kDeviceShift;
}

DeviceIndex device_of(uint64_t tagged) { return static_cast<DeviceIndex>(tagged >> kDeviceShift); }

template <typename Handle>
Handle handle_of(uint64_t tagged) {
  return reinterpret_cast<Handle>(tagged & ((uint64_t{1} << kDeviceShift) - 1));
}

/// The streams of all devices, as the pinned memory's allocator sees them.
class PinnedStreams final : public memory::Streams {
 public:
  [[nodiscard]] memory::StreamId current() const noexcept override { return kNoStream; }
  [[nodiscard]] Event record(memory::StreamId stream) noexcept override {
    const DeviceIndex device = device_of(stream);
    const cudaEvent_t event = record_event(device, handle_of<cudaStream_t>(stream));
    return reinterpret_cast<Event>(with_device(device, event));
  }
  [[nodiscard]] bool query(Event event) noexcept override { return has_passed(event_of(event)); }
  void wait(Event event) noexcept override { wait_for_event(event_of(event)); }
  void destroy(Event event) noexcept override {
    event_pool(device_of(reinterpret_cast<uint64_t>(event))).give(event_of(event));
  }

 private:
  static cudaEvent_t event_of(Event event) {
    return handle_of<cudaEvent_t>(reinterpret_cast<uint64_t>(event));
  }
};

}  // namespace

void* PinnedSource::allocate(size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  if (succeeded(error)) return data;
  if (error == cudaErrorMemoryAllocation) return nullptr;
  raise_cuda_error(error, {"cudaHostAlloc", __FILE__, __LINE__});
}

void PinnedSource::free(void* data, size_t) noexcept {
  // A second try: the first may return a fault of earlier work instead of freeing.
  if (!succeeded(cudaFreeHost(data))) static_cast<void>(succeeded(cudaFreeHost(data)));
}

size_t PinnedSource::capacity() const noexcept { return memory::host_capacity(); }

size_t PinnedSource::available() const noexcept { return memory::host_capacity(); }

void register_pinned_memory() {
  memory::AllocatorOptions options;
  options.hooks = memory::host_hooks();
  options.streams = new PinnedStreams;  // as long as the process, like what it serves
  memory::register_pinned_allocator(
      *new memory::CachingAllocator(Device(kCPU), *new PinnedSource, options));
}

void record_pinned_use(memory::Block* block, DeviceIndex device, cudaStream_t stream) {
  memory::record_stream(block, with_device(device, stream));
}

}  // namespace ebb::cuda
