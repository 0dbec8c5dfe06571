#include <ebb/core/ops/fill.h>

#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill_kernels.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::ops {

void fill_fresh(const TensorBase& self, const Scalar& value) {
  const FillKernels& table = *kernels(self.device()).fill;
  if (self.is_contiguous()) {
    TensorIterator it(TensorIterator::Contiguous{}, self.numel());
    it.add_contiguous(self.data_ptr(), self.scalar_type());
    table.fill(it, value);
    return;
  }
  TensorIterator it(self.sizes());
  it.add(self);
  it.build();
  table.fill(it, value);
}

void fill_(const TensorBase& self, const Scalar& value) {
  check_writable(self);
  fill_fresh(self, value);
  self.impl()->bump_version();
}

TensorBase filled_like(const TensorBase& self, const Scalar& value) {
  TensorBase result = self.is_contiguous()
                          ? empty(self.sizes(), self.scalar_type(), self.device())
                          : empty_strided(self.sizes(), dense_strides(self.sizes(), {&self}),
                                          self.scalar_type(), self.device());
  fill_fresh(result, value);
  return result;
}

}  // namespace ebb::ops
