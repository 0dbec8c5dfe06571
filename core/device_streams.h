#pragma once

#include <cstdint>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/stream.h>

namespace ebb {

/// What autograd must know of the streams of a device type, so that backward runs each node on the
/// stream of its forward pass, as PyTorch's does, and saved tensors move beside its work. `index` is always that of a device.
struct DeviceStreams {
  /// The stream on which the calling thread queues work for a device.
  memory::StreamId (*current)(DeviceIndex index) = nullptr;
  void (*set_current)(DeviceIndex index, memory::StreamId stream) = nullptr;
  /// What is queued on `stream` from now on runs after all that `awaited` holds by now.
  void (*wait)(DeviceIndex index, memory::StreamId stream, memory::StreamId awaited) = nullptr;
  /// The stream for copies that run beside the work of the current one; of each device one, made
  /// when it is first asked for.
  memory::StreamId (*copies)(DeviceIndex index) = nullptr;
};

/// Null: devices of this type have one stream. `streams` must live for ever.
EBB_API void register_device_streams(DeviceType type, const DeviceStreams& streams);
[[nodiscard]] EBB_API const DeviceStreams* device_streams(DeviceType type) noexcept;

/// The stream on which the calling thread queues work for `device`; 0 for the CPU.
[[nodiscard]] inline memory::StreamId current_stream_id(Device device) {
  if (device.is_cpu()) return 0;
  const DeviceStreams* streams = device_streams(device.type());
  return streams == nullptr ? 0 : streams->current(device.index());
}

/// Within it, the thread queues work for `device` on `stream`.
class EBB_API StreamIdGuard {
 public:
  StreamIdGuard(Device device, memory::StreamId stream)
      : device_(device), outer_(current_stream_id(device)), changed_(outer_ != stream) {
    if (changed_) device_streams(device.type())->set_current(device.index(), stream);
  }
  ~StreamIdGuard() {
    if (changed_) device_streams(device_.type())->set_current(device_.index(), outer_);
  }
  StreamIdGuard(const StreamIdGuard&) = delete;
  StreamIdGuard& operator=(const StreamIdGuard&) = delete;

 private:
  Device device_;
  memory::StreamId outer_;
  bool changed_;
};

}  // namespace ebb
