#include <ebb/cuda/runtime/allocator_streams.h>

#include <ebb/cuda/runtime/current_stream.h>
#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/event_pool.h>

namespace ebb::cuda {

namespace {

cudaStream_t handle_of(memory::StreamId stream) noexcept {
  return reinterpret_cast<cudaStream_t>(stream);
}

}  // namespace

cudaEvent_t record_event(DeviceIndex device, cudaStream_t stream) noexcept {
  cudaEvent_t event = event_pool(device).try_take(device);
  try {
    const DeviceGuard guard(device);
    if (event != nullptr && succeeded(cudaEventRecord(event, stream))) return event;
    event_pool(device).give(event);
    if (!succeeded(cudaStreamSynchronize(stream))) {
      static_cast<void>(succeeded(cudaDeviceSynchronize()));
    }
  } catch (const Error&) {
    event_pool(device).give(event);
    static_cast<void>(succeeded(cudaStreamSynchronize(stream)));
  }
  return nullptr;
}

bool has_passed(cudaEvent_t event) noexcept {
  if (event == nullptr) return true;
  const cudaError_t state = cudaEventQuery(event);
  if (succeeded(state)) return true;
  if (state == cudaErrorNotReady) return false;
  wait_for_event(event);
  return true;
}

void wait_for_event(cudaEvent_t event) noexcept {
  // A second try: the first may return a fault of earlier work without waiting.
  if (event == nullptr || succeeded(cudaEventSynchronize(event))) return;
  static_cast<void>(succeeded(cudaEventSynchronize(event)));
}

memory::StreamId AllocatorStreams::current() const noexcept {
  return reinterpret_cast<memory::StreamId>(current_stream(device_));
}

memory::Streams::Event AllocatorStreams::record(memory::StreamId stream) noexcept {
  return record_event(device_, handle_of(stream));
}

bool AllocatorStreams::query(Event event) noexcept {
  return has_passed(static_cast<cudaEvent_t>(event));
}

void AllocatorStreams::wait(Event event) noexcept {
  wait_for_event(static_cast<cudaEvent_t>(event));
}

void AllocatorStreams::destroy(Event event) noexcept {
  event_pool(device_).give(static_cast<cudaEvent_t>(event));
}

}  // namespace ebb::cuda
