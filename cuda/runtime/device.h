#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ebb/core/device.h>
#include <ebb/core/export.h>

namespace ebb::cuda {

/// How many CUDA devices there are: 0 without a driver or a GPU, or in ebb::emulated before
/// emulator::enable().
[[nodiscard]] EBB_API DeviceIndex device_count() noexcept;
/// Whether there is a CUDA device.
[[nodiscard]] EBB_API bool is_available() noexcept;
/// ebb's kernels are its own: cuDNN is not used.
[[nodiscard]] inline bool cudnn_is_available() noexcept { return false; }
/// Why there is no CUDA device, for people; empty if there is one.
[[nodiscard]] EBB_API std::string unavailable_reason();

/// The device that "cuda" without an index means on this thread. Throws an Error if there is none.
[[nodiscard]] EBB_API DeviceIndex current_device();
/// Makes `device` the current one of this thread. Throws an Error if there is no such device.
EBB_API void set_device(DeviceIndex device);

/// Waits for all work on a device (-1: the current one). Throws what went wrong in it: an IndexError
/// for an index that was out of range, a CUDAError for a fault.
EBB_API void synchronize(int64_t device_index = -1);

/// Within it, another device is the current one of this thread.
class EBB_API DeviceGuard {
 public:
  /// Throws an Error if there is no such device. An index of -1 changes nothing.
  explicit DeviceGuard(DeviceIndex device);
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Makes another device the current one until the end of the guard.
  void set_index(DeviceIndex device);
  void set_device(Device device);
  void reset_device(Device device) { set_device(device); }
  [[nodiscard]] Device original_device() const { return Device(kCUDA, original_); }
  [[nodiscard]] Device current_device() const { return Device(kCUDA, current_); }

 private:
  DeviceIndex original_;
  DeviceIndex current_;
};

/// A DeviceGuard that may be empty.
class EBB_API OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalDeviceGuard(DeviceIndex device) { guard_.emplace(device); }
  void set_device(Device device) { guard_ ? guard_->set_device(device) : void(guard_.emplace(device)); }
  void set_index(DeviceIndex device) { set_device(Device(kCUDA, device)); }
  void reset() { guard_.reset(); }
  [[nodiscard]] std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  [[nodiscard]] std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};

/// LibTorch's names (c10/cuda/CUDAGuard.h).
using CUDAGuard = DeviceGuard;
using OptionalCUDAGuard = OptionalDeviceGuard;

}  // namespace ebb::cuda
