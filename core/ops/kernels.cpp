#include <ebb/core/ops/kernels.h>

#include <ebb/core/cpu/dispatch.h>
#include <ebb/core/device_setup.h>
#include <ebb/core/error.h>

namespace ebb {

namespace detail {

constinit std::atomic<const Kernels*> kernel_tables[kDeviceTypes] = {};

const Kernels& find_kernels(DeviceType type) {
  if (type == kCPU) {
    register_kernels(kCPU, cpu::choose_kernels());
  } else {
    set_up_devices(type);
  }
  const Kernels* table = kernel_tables[static_cast<int>(type)].load(std::memory_order_acquire);
  EBB_CHECK(table != nullptr, "there are no kernels for device type ", type,
            "; move the tensors to the CPU with .cpu()");
  return *table;
}

void raise_unsupported(ScalarType dtype) {
  raise<NotImplementedError>(concat("not implemented for tensors of dtype ", dtype));
}

}  // namespace detail

void register_kernels(DeviceType type, const Kernels& table) {
  detail::kernel_tables[static_cast<int>(type)].store(&table, std::memory_order_release);
}

}  // namespace ebb
