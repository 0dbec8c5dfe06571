#include <ebb/cuda/runtime/device.h>

#include <algorithm>

#include <ebb/core/device_setup.h>
#include <ebb/core/error.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/synchronization.h>

namespace ebb::cuda {

namespace {

/// The number of devices, or the error that says why there is none.
cudaError_t count_devices(int& count) noexcept {
  count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (!succeeded(error)) count = 0;
  return error;
}

[[noreturn]] void raise_no_device(DeviceIndex device) {
  const int count = device_count();
  ebb::detail::raise<Error>(ebb::detail::concat(
      "there is no device ", Device(kCUDA, device), "; ",
      count == 0 ? unavailable_reason() : "this program sees " + std::to_string(count)));
}

}  // namespace

DeviceIndex device_count() noexcept {
  int count = 0;
  count_devices(count);
  return static_cast<DeviceIndex>(std::min(count, kMaxDevices));
}

bool is_available() noexcept { return device_count() > 0; }

std::string unavailable_reason() {
  int count = 0;
  const cudaError_t error = count_devices(count);
  if (error == cudaSuccess && count > 0) return "";
#ifdef EBB_CUDA_EMULATED
  return "the emulated CUDA device is not enabled; call ebb::cuda::emulator::enable() or set "
         "EBB_CUDA_EMULATOR=1";
#else
  if (error == cudaErrorInsufficientDriver) {
    return "no NVIDIA driver was found, or one too old for the CUDA runtime that ebb was built "
           "with; install a driver, or keep the tensors on the CPU";
  }
  if (error == cudaSuccess || error == cudaErrorNoDevice) {
    return "no CUDA GPU was found (see nvidia-smi, and CUDA_VISIBLE_DEVICES); keep the tensors on "
           "the CPU";
  }
  return std::string("the CUDA runtime reports ") + cudaGetErrorName(error) + " (" +
         cudaGetErrorString(error) + ")";
#endif
}

DeviceIndex current_device() {
  int device = 0;
  EBB_CUDA_CHECK(cudaGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void set_device(DeviceIndex device) {
  const cudaError_t error = cudaSetDevice(device);
  if (succeeded(error)) return;
  if (error == cudaErrorInvalidDevice || !is_available()) raise_no_device(device);
  check_call(error, CallSite{"cudaSetDevice", __FILE__, __LINE__});
}

void synchronize(int64_t device_index) {
  if (device_index < 0) {
    if (!is_available()) ebb::detail::set_up_devices(kCUDA);  // throws the reason
    device_index = current_device();
  }
  const DeviceGuard guard(static_cast<DeviceIndex>(device_index));
  EBB_CUDA_CHECK(cudaDeviceSynchronize());
  check_index_errors(guard.current_device().index());
}

DeviceGuard::DeviceGuard(DeviceIndex device)
    : original_(cuda::current_device()), current_(original_) {
  set_index(device);
}

DeviceGuard::DeviceGuard(Device device) : DeviceGuard(device.index()) {
  EBB_CHECK(device.is_cuda(), "DeviceGuard: expected a CUDA device, got ", device);
}

DeviceGuard::~DeviceGuard() {
  if (current_ == original_) return;
  // A second try: the first may return a fault of earlier work instead.
  if (!succeeded(cudaSetDevice(original_))) static_cast<void>(cudaSetDevice(original_));
}

void DeviceGuard::set_index(DeviceIndex device) {
  if (device < 0 || device == current_) return;
  cuda::set_device(device);
  current_ = device;
}

void DeviceGuard::set_device(Device device) {
  EBB_CHECK(device.is_cuda(), "DeviceGuard: expected a CUDA device, got ", device);
  set_index(device.index());
}

}  // namespace ebb::cuda
