#include <ebb/core/ops/copy.h>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::ops {

namespace {

const CopyKernels& copies(Device device) {
  const CopyKernels* table = kernels(device).copy;
  EBB_CHECK(table != nullptr, "there is no kernel for copies on ", device);
  return *table;
}

/// Both on one device.
void run_local(const TensorBase& self, const TensorBase& source) {
  const Device device = self.device();
  if (self.is_contiguous() && source.is_contiguous() && self.sizes() == source.sizes()) {
    TensorIterator it(TensorIterator::Contiguous{}, self.numel());
    it.set_compute_type(source.scalar_type());
    it.add_contiguous(self.data_ptr(), self.scalar_type());
    it.add_contiguous(source.data_ptr(), source.scalar_type());
    copies(device).copy(it);
    return;
  }
  TensorIterator it(self.sizes());
  it.set_compute_type(source.scalar_type());
  it.add(self);
  it.add(source);
  it.build();
  copies(device).copy(it);
}

/// `source` as a contiguous tensor of memory's order: the same elements for a dense one.
TensorBase flat(const TensorBase& source) {
  const auto numel = source.numel();
  return TensorBase(make_intrusive<TensorImpl>(source.storage(), source.scalar_type(),
                                               source.device(), IntArrayRef(numel),
                                               IntArrayRef(int64_t{1}), source.storage_offset()));
}

void transfer(const TensorBase& self, const TensorBase& source, bool non_blocking) {
  if (self.numel() == 0) return;
  const Device device = self.is_cpu() ? source.device() : self.device();
  kernels(device).transfer(flat(self), flat(source), non_blocking);
}

/// Whether the bytes of one, as they lie, are those of the other.
bool same_layout(const TensorBase& self, const TensorBase& source) {
  return self.scalar_type() == source.scalar_type() && self.sizes() == source.sizes() &&
         self.strides() == source.strides() && self.is_non_overlapping_and_dense();
}

/// From one device to another. What is not laid out alike goes through dense copies: on the source's
/// device where that has fewer bytes to move, then on that of self.
void run_between(const TensorBase& self, const TensorBase& source, bool non_blocking) {
  if (same_layout(self, source)) return transfer(self, source, non_blocking);
  const bool narrow_first =
      element_size(self.scalar_type()) <= element_size(source.scalar_type());
  const ScalarType moved = narrow_first ? self.scalar_type() : source.scalar_type();
  TensorBase packed = source;
  if (!source.is_contiguous() || source.scalar_type() != moved) {
    packed = empty(source.sizes(), moved, source.device());
    run_local(packed, source);
  }
  // What is staged on the host must be there before the staging ends or is read.
  const bool from_staging = source.is_cpu() && !packed.is_same(source);
  if (same_layout(self, packed)) return transfer(self, packed, non_blocking && !from_staging);
  const TensorBase arrived = empty(source.sizes(), moved, self.device());
  transfer(arrived, packed, non_blocking && !from_staging && !self.is_cpu());
  run_local(self, arrived);
}

void run(const TensorBase& self, const TensorBase& source, bool non_blocking = false) {
  if (self.numel() == 0) return;
  if (self.device() == source.device()) return run_local(self, source);
  run_between(self, source, non_blocking);
}

}  // namespace

void copy_(const TensorBase& self, const TensorBase& source, bool non_blocking) {
  EBB_CHECK(is_expandable_to(source.sizes(), self.sizes()), "a tensor of sizes ", source.sizes(),
            " does not broadcast to the sizes ", self.sizes(), " of the tensor it is copied to");
  check_writable(self);
  check_no_partial_overlap(self, source);
  run(self, source, non_blocking);
  self.impl()->bump_version();
}

TensorBase clone(const TensorBase& self) { return to(self, self.scalar_type(), self.device()); }

TensorBase clone_contiguous(const TensorBase& self) {
  TensorBase result = empty(self.sizes(), self.scalar_type(), self.device());
  run(result, self);
  return result;
}

TensorBase to(const TensorBase& self, ScalarType dtype, Device device, bool non_blocking) {
  TensorBase result =
      self.is_contiguous()
          ? empty(self.sizes(), dtype, device)
          : empty_strided(self.sizes(), dense_strides(self.sizes(), {&self}), dtype, device);
  run(result, self, non_blocking);
  return result;
}

TensorBase pin_memory(const TensorBase& self) {
  EBB_CHECK(self.is_cpu(), "only tensors on the CPU can be pinned, this one is on ", self.device(),
            "; call .cpu() first");
  TensorBase result = empty_pinned(self.sizes(), dense_strides(self.sizes(), {&self}),
                                   self.scalar_type());
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
