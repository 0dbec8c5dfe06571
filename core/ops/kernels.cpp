#include <ebb/core/ops/kernels.h>

#include <ebb/core/cpu/dispatch.h>
#include <ebb/core/error.h>

namespace ebb {

namespace detail {

constinit std::atomic<const Kernels*> kernel_tables[kDeviceTypes] = {};

const Kernels& find_kernels(DeviceType type) {
  EBB_CHECK(type == kCPU, "ebb was built without kernels for device type ", type,
            "; move the tensors to the CPU with .cpu()");
  const Kernels& table = cpu::choose_kernels();
  register_kernels(kCPU, table);
  return table;
}

void raise_unsupported(ScalarType dtype) {
  raise<NotImplementedError>(concat("not implemented for tensors of dtype ", dtype));
}

}  // namespace detail

void register_kernels(DeviceType type, const Kernels& table) {
  detail::kernel_tables[static_cast<int>(type)].store(&table, std::memory_order_release);
}

}  // namespace ebb
