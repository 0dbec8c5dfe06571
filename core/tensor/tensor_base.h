#pragma once

#include <cstdint>
#include <utility>

#include <ebb/core/intrusive_ptr.h>
#include <ebb/core/tensor/options.h>
#include <ebb/core/tensor/scalar.h>
#include <ebb/core/tensor/shape.h>
#include <ebb/core/tensor/tensor_accessor.h>
#include <ebb/core/tensor/tensor_impl.h>

namespace ebb {

/// A handle to a tensor and its metadata, without ops: what core, the CPU kernels and the devices
/// see. Copying a handle shares the tensor; an empty handle is "undefined". `Tensor` adds the ops
/// and autograd.
class EBB_API TensorBase {
 public:
  constexpr TensorBase() noexcept = default;
  explicit TensorBase(intrusive_ptr<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] bool defined() const noexcept { return impl_.defined(); }
  void reset() noexcept { impl_.reset(); }
  [[nodiscard]] TensorImpl* impl() const noexcept { return impl_.get(); }
  [[nodiscard]] TensorImpl* unsafeGetTensorImpl() const noexcept { return impl_.get(); }
  [[nodiscard]] const intrusive_ptr<TensorImpl>& impl_ptr() const noexcept { return impl_; }
  [[nodiscard]] intrusive_ptr<TensorImpl> release_impl() noexcept { return std::move(impl_); }
  /// Whether both handles are to the same tensor (not: to the same memory).
  [[nodiscard]] bool is_same(const TensorBase& other) const noexcept {
    return impl_ == other.impl_;
  }
  /// How many handles there are to this tensor.
  [[nodiscard]] size_t use_count() const noexcept { return impl_.use_count(); }

  [[nodiscard]] IntArrayRef sizes() const { return checked().sizes(); }
  [[nodiscard]] IntArrayRef strides() const { return checked().strides(); }
  [[nodiscard]] int64_t dim() const { return checked().dim(); }
  [[nodiscard]] int64_t ndimension() const { return dim(); }
  [[nodiscard]] int64_t numel() const { return checked().numel(); }
  /// The size of dimension `dim`; negative numbers count from the end.
  [[nodiscard]] int64_t size(int64_t dim) const {
    return sizes()[static_cast<size_t>(wrap_dim(dim, this->dim(), false))];
  }
  [[nodiscard]] int64_t stride(int64_t dim) const {
    return strides()[static_cast<size_t>(wrap_dim(dim, this->dim(), false))];
  }
  [[nodiscard]] int64_t storage_offset() const { return checked().storage_offset(); }
  [[nodiscard]] bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return checked().is_contiguous();
  }
  [[nodiscard]] bool is_non_overlapping_and_dense() const {
    return checked().is_contiguous() || ebb::is_non_overlapping_and_dense(sizes(), strides());
  }

  [[nodiscard]] ScalarType scalar_type() const { return checked().dtype(); }
  [[nodiscard]] ScalarType dtype() const { return checked().dtype(); }
  [[nodiscard]] bool is_floating_point() const { return ebb::is_floating_point(scalar_type()); }
  [[nodiscard]] bool is_complex() const { return false; }
  [[nodiscard]] bool is_signed() const {
    return scalar_type() != kUInt8 && scalar_type() != kBool;
  }
  [[nodiscard]] Device device() const { return checked().device(); }
  [[nodiscard]] bool is_cpu() const { return device().is_cpu(); }
  [[nodiscard]] bool is_cuda() const { return device().is_cuda(); }
  [[nodiscard]] int64_t get_device() const { return is_cpu() ? -1 : device().index(); }
  [[nodiscard]] Layout layout() const { return kStrided; }
  [[nodiscard]] bool is_sparse() const { return false; }
  /// dtype and device; says nothing about gradients.
  [[nodiscard]] TensorOptions options() const {
    return TensorOptions(scalar_type()).device(device());
  }

  /// Bytes of one element.
  [[nodiscard]] int64_t element_size() const {
    return static_cast<int64_t>(ebb::element_size(scalar_type()));
  }
  [[nodiscard]] size_t itemsize() const { return ebb::element_size(scalar_type()); }
  /// Bytes of all elements, were they contiguous.
  [[nodiscard]] size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }

  [[nodiscard]] const Storage& storage() const { return checked().storage(); }
  /// Whether the memory is pinned memory of the host that ebb allocated.
  [[nodiscard]] bool is_pinned() const;
  [[nodiscard]] bool has_storage() const { return defined() && storage().defined(); }
  /// Whether both share a storage.
  [[nodiscard]] bool is_alias_of(const TensorBase& other) const {
    return storage().is_alias_of(other.storage());
  }

  /// The first element. Throws if the tensor is undefined.
  [[nodiscard]] void* data_ptr() const { return checked().data(); }
  /// The first element; throws if T is not the tensor's dtype.
  template <typename T>
  [[nodiscard]] T* data_ptr() const {
    check_type(scalar_type_of<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }
  template <typename T>
  [[nodiscard]] const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  [[nodiscard]] const void* const_data_ptr() const { return data_ptr(); }
  template <typename T>
  [[nodiscard]] T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  [[nodiscard]] void* mutable_data_ptr() const { return data_ptr(); }

  /// Element access by N indices for a tensor on the CPU; throws if dtype, dimension or device do
  /// not fit. The tensor must outlive the accessor.
  template <typename T, size_t N>
  [[nodiscard]] TensorAccessor<T, N> accessor() const& {
    check_accessor(scalar_type_of<std::remove_const_t<T>>, N);
    return TensorAccessor<T, N>(static_cast<T*>(data_ptr()), sizes().data(), strides().data());
  }
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;

  /// How often the memory was written in place, counted for all tensors that share the counter.
  [[nodiscard]] int64_t _version() const;
  /// Whether results computed from this tensor are recorded for backward.
  [[nodiscard]] bool requires_grad() const { return checked().requires_grad(); }
  [[nodiscard]] bool is_inference() const { return checked().is_inference(); }

 protected:
  [[nodiscard]] const TensorImpl& checked() const {
    if (!impl_.defined()) [[unlikely]] raise_undefined();
    return *impl_;
  }

  intrusive_ptr<TensorImpl> impl_;

 private:
  [[noreturn]] static void raise_undefined();
  void check_type(ScalarType type) const;
  void check_accessor(ScalarType type, size_t ndim) const;
};

}  // namespace ebb
