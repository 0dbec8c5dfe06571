#include <ebb/core/tensor/options.h>

#include <ebb/core/tensor/scalar.h>

namespace ebb {

std::ostream& operator<<(std::ostream& stream, const TensorOptions& options) {
  return stream << "TensorOptions(dtype=" << options.dtype() << ", device=" << options.device()
                << ", requires_grad=" << (options.requires_grad() ? "true" : "false") << ")";
}

std::ostream& operator<<(std::ostream& stream, const Scalar& scalar) {
  if (scalar.is_boolean()) return stream << (scalar.toBool() ? "true" : "false");
  if (scalar.is_floating_point()) return stream << scalar.toDouble();
  return stream << scalar.toLong();
}

}  // namespace ebb
