#include <ebb/core/ops/factory.h>

namespace ebb::ops {

TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  const auto bytes =
      static_cast<size_t>(checked_numel(sizes, element_size(dtype))) * element_size(dtype);
  return TensorBase(
      make_intrusive<TensorImpl>(Storage::allocate(bytes, device), dtype, device, sizes));
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                         Device device) {
  EBB_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
            " must have the same length");
  int64_t last = 0;
  bool overflow = false;
  const bool is_empty = checked_numel(sizes) == 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    EBB_CHECK(strides[i] >= 0, "strides must not be negative, got ", strides);
    int64_t reach = 0;
    overflow = overflow || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
               __builtin_add_overflow(last, reach, &last);
  }
  int64_t bytes = 0;
  overflow = overflow || __builtin_mul_overflow(
                             last + 1, static_cast<int64_t>(element_size(dtype)), &bytes);
  EBB_CHECK(is_empty || !overflow, "sizes ", sizes, " and strides ", strides,
            " reach beyond 2^63 bytes");
  return TensorBase(make_intrusive<TensorImpl>(
      Storage::allocate(is_empty ? 0 : static_cast<size_t>(bytes), device), dtype, device, sizes,
      strides, 0));
}

TensorBase empty_like(const TensorBase& self, ScalarType dtype) {
  if (dtype == ScalarType::Undefined) dtype = self.scalar_type();
  if (!self.is_contiguous() && self.is_non_overlapping_and_dense()) {
    return empty_strided(self.sizes(), self.strides(), dtype, self.device());
  }
  return empty(self.sizes(), dtype, self.device());
}

}  // namespace ebb::ops
