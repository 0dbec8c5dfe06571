#pragma once

#include <ebb/core/device.h>
#include <ebb/core/export.h>

namespace ebb {

namespace detail {
/// Makes the devices of a type known, on first use: their memory and their kernels. Throws an Error
/// that names the cause if there is none.
EBB_API void set_up_devices(DeviceType type);
[[nodiscard]] EBB_API Device resolve_slow(Device device);
}  // namespace detail

/// The device that a program named, as tensors carry it: a CUDA device always has an index, the
/// current one if none was named, and the CPU has none. Sets the device up on first use. Throws an
/// Error that names the cause if there is no such device.
[[nodiscard]] inline Device resolve(Device device) {
  return device.is_cpu() ? Device(kCPU) : detail::resolve_slow(device);
}

/// The device of tensors whose options name none: the CPU unless set_default_device said otherwise
/// (as torch.set_default_device, for all threads). from_blob always means the CPU.
[[nodiscard]] EBB_API Device get_default_device() noexcept;
/// Throws an Error if there is no such device.
EBB_API void set_default_device(Device device);

}  // namespace ebb
