#include <ebb/core/device_setup.h>

#include <atomic>

#include <ebb/core/error.h>
#include <ebb/core/memory/registry.h>

// The one file that differs between a library with the CUDA device (EBB_HAS_CUDA) and one without.

#ifdef EBB_HAS_CUDA
namespace ebb::cuda {
void set_up();  // cuda/runtime/setup.h, which core may not include
}
#endif

namespace ebb {

namespace {
// As one number, which every compiler can load at once.
constexpr int number_of(Device device) {
  return static_cast<int>(device.type()) * 256 + device.index() + 1;
}
constinit std::atomic<int> default_device{number_of(Device(kCPU))};
}

void detail::set_up_devices(DeviceType type) {
  if (type == kCPU) return;
#ifdef EBB_HAS_CUDA
  cuda::set_up();
#else
  raise("this build of ebb has no CUDA device; keep the tensors on the CPU, or configure with "
        "-DEBB_CUDA=native");
#endif
}

Device detail::resolve_slow(Device device) {
  if (const auto* known = memory::find_allocator(device)) return known->device();
  set_up_devices(device.type());
  return memory::allocator(device).device();
}

Device get_default_device() noexcept {
  const int number = default_device.load(std::memory_order_relaxed);
  return {static_cast<DeviceType>(number / 256), static_cast<DeviceIndex>(number % 256 - 1)};
}

void set_default_device(Device device) {
  default_device.store(number_of(resolve(device)), std::memory_order_relaxed);
}

}  // namespace ebb
