#include <ebb/cuda/runtime/event_pool.h>

#include <array>

#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>

namespace ebb::cuda {

namespace {

struct PooledEvent {
  DeviceIndex device;
  cudaEvent_t event = event_pool(device).take(device);
  explicit PooledEvent(DeviceIndex of) : device(of) {}
  ~PooledEvent() { event_pool(device).give(event); }
  PooledEvent(const PooledEvent&) = delete;
  PooledEvent& operator=(const PooledEvent&) = delete;
};

}  // namespace

cudaEvent_t EventPool::try_take(DeviceIndex device) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      const cudaEvent_t event = spare_.back();
      spare_.pop_back();
      return event;
    }
  }
  try {
    const DeviceGuard guard(device);
    cudaEvent_t event = nullptr;
    if (!succeeded(cudaEventCreateWithFlags(&event, cudaEventDisableTiming))) return nullptr;
    return event;
  } catch (const Error&) {
    return nullptr;
  }
}

cudaEvent_t EventPool::take(DeviceIndex device) {
  if (const cudaEvent_t event = try_take(device)) return event;
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  EBB_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

void EventPool::give(cudaEvent_t event) noexcept {
  if (event == nullptr) return;
  try {
    std::lock_guard lock(mutex_);
    spare_.push_back(event);
  } catch (const std::bad_alloc&) {
    static_cast<void>(succeeded(cudaEventDestroy(event)));
  }
}

EventPool& event_pool(DeviceIndex device) noexcept {
  static auto* pools = new std::array<EventPool, kMaxDevices>;
  return (*pools)[static_cast<size_t>(device)];
}

void wait_for_stream(DeviceIndex device, cudaStream_t stream, DeviceIndex awaited_device,
                     cudaStream_t awaited) {
  if (device == awaited_device && stream == awaited) return;
  const PooledEvent mark(awaited_device);
  {
    const DeviceGuard guard(awaited_device);
    EBB_CUDA_CHECK(cudaEventRecord(mark.event, awaited));
  }
  const DeviceGuard guard(device);
  EBB_CUDA_CHECK(cudaStreamWaitEvent(stream, mark.event, 0));
}

}  // namespace ebb::cuda
