#include <ebb/core/ops/same_device.h>

namespace ebb::ops {

void raise_devices(const char* name, const TensorBase& tensor, const char* other_name,
                   const TensorBase& other) {
  const auto described = [](const char* of, const TensorBase& t) {
    return ebb::detail::concat(of, " (", t.scalar_type(), " of sizes ", t.sizes(), ") is on ",
                               t.device());
  };
  ebb::detail::raise<Error>("expected all tensors to be on the same device, but " +
                            described(name, tensor) + " and " + described(other_name, other) +
                            "; move one with .to(device)");
}

}  // namespace ebb::ops
