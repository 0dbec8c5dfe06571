#include <ebb/core/device_streams.h>

#include <atomic>

namespace ebb {

namespace {
constinit std::atomic<const DeviceStreams*> registered[kDeviceTypes] = {};
}

void register_device_streams(DeviceType type, const DeviceStreams& streams) {
  registered[static_cast<int>(type)].store(&streams, std::memory_order_release);
}

const DeviceStreams* device_streams(DeviceType type) noexcept {
  return registered[static_cast<int>(type)].load(std::memory_order_acquire);
}

}  // namespace ebb
