#include <ebb/core/ops/copy.h>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::ops {

namespace {

void run(const TensorBase& self, const TensorBase& source) {
  const Device device = self.is_cpu() ? source.device() : self.device();
  if (self.is_contiguous() && source.is_contiguous() && self.sizes() == source.sizes()) {
    TensorIterator it(TensorIterator::Contiguous{}, self.numel());
    it.set_compute_type(source.scalar_type());
    it.add_contiguous(self.data_ptr(), self.scalar_type());
    it.add_contiguous(source.data_ptr(), source.scalar_type());
    kernels(device).copy->copy(it);
    return;
  }
  TensorIterator it(self.sizes());
  it.set_compute_type(source.scalar_type());
  it.add(self);
  it.add(source);
  it.build();
  kernels(device).copy->copy(it);
}

}  // namespace

void copy_(const TensorBase& self, const TensorBase& source) {
  EBB_CHECK(is_expandable_to(source.sizes(), self.sizes()), "a tensor of sizes ", source.sizes(),
            " does not broadcast to the sizes ", self.sizes(), " of the tensor it is copied to");
  check_writable(self);
  check_no_partial_overlap(self, source);
  run(self, source);
  self.impl()->bump_version();
}

TensorBase clone(const TensorBase& self) { return to(self, self.scalar_type(), self.device()); }

TensorBase clone_contiguous(const TensorBase& self) {
  TensorBase result = empty(self.sizes(), self.scalar_type(), self.device());
  run(result, self);
  return result;
}

TensorBase to(const TensorBase& self, ScalarType dtype, Device device) {
  TensorBase result =
      self.is_contiguous()
          ? empty(self.sizes(), dtype, device)
          : empty_strided(self.sizes(), dense_strides(self.sizes(), {&self}), dtype, device);
  run(result, self);
  return result;
}

Scalar item(const TensorBase& self) {
  EBB_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
            " elements cannot be converted to Scalar; its sizes are ", self.sizes());
  if (!self.is_cpu()) return item(to(self, self.scalar_type(), kCPU));
  return dispatch(self.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const auto value = *static_cast<const cpu::Stored<T>*>(self.data_ptr());
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar(value != 0);
    } else {
      return Scalar(value);
    }
  });
}

}  // namespace ebb::ops
