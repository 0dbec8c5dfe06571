#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <ebb/core/device.h>
#include <ebb/core/intrusive_ptr.h>
#include <ebb/core/tensor/array_ref.h>
#include <ebb/core/tensor/scalar_type.h>
#include <ebb/core/tensor/storage.h>
#include <ebb/core/thread_state.h>

namespace ebb {

/// What autograd keeps beside a tensor (autograd/autograd_meta.h). Core only owns it.
class EBB_API AutogradMetaInterface {
 public:
  virtual ~AutogradMetaInterface() = default;
  /// For a view: whether its base requires grad by now, so that the view does too.
  [[nodiscard]] virtual bool base_requires_grad() const noexcept = 0;
};

/// Counts the writes to memory that several tensors share: views and detached tensors.
class VersionCounter final : public RefCounted {
 public:
  explicit VersionCounter(uint32_t version) : version_(version) {}
  [[nodiscard]] uint32_t current() const noexcept {
    return version_.load(std::memory_order_acquire);
  }
  void bump() noexcept { version_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  std::atomic<uint32_t> version_;
};

/// The body of a tensor: a storage, the geometry of the elements in it, a dtype, a version, and
/// what autograd knows about it. `Tensor` is a counted pointer to one.
class EBB_API TensorImpl final : public RefCounted {
 public:
  /// A tensor over `storage`; strides count elements.
  TensorImpl(Storage storage, ScalarType dtype, Device device, IntArrayRef sizes,
             IntArrayRef strides, int64_t storage_offset);
  /// A contiguous tensor at the start of `storage`.
  TensorImpl(Storage storage, ScalarType dtype, Device device, IntArrayRef sizes);
  ~TensorImpl() override;

  static void* operator new(size_t bytes);
  static void operator delete(void* memory) noexcept;

  [[nodiscard]] IntArrayRef sizes() const noexcept { return sizes_; }
  [[nodiscard]] IntArrayRef strides() const noexcept { return strides_; }
  [[nodiscard]] int64_t dim() const noexcept { return static_cast<int64_t>(sizes_.size()); }
  [[nodiscard]] int64_t numel() const noexcept { return numel_; }
  [[nodiscard]] bool is_contiguous() const noexcept { return is_contiguous_; }
  [[nodiscard]] int64_t storage_offset() const noexcept { return storage_offset_; }
  [[nodiscard]] ScalarType dtype() const noexcept { return dtype_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }
  /// The first element; null if there is none.
  [[nodiscard]] void* data() const noexcept {
    auto* base = static_cast<char*>(storage_.data());
    return base == nullptr ? nullptr
                           : base + storage_offset_ * static_cast<int64_t>(element_size(dtype_));
  }

  /// Takes over storage, dtype and geometry of `other`, and keeps version, grad and identity
  /// (Tensor::set_data). Other tensors that shared memory with this one keep theirs.
  void set_data(const TensorImpl& other);
  /// Replaces sizes and strides, for in-place view ops (`unsqueeze_`, `t_`).
  void set_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset);

  /// A number that came from arithmetic with a Scalar: it takes part in promotion as one.
  [[nodiscard]] bool is_wrapped_number() const noexcept { return is_wrapped_number_; }
  void set_wrapped_number(bool value) noexcept { is_wrapped_number_ = value; }

  /// Made in inference mode: not tracked, without a version.
  [[nodiscard]] bool is_inference() const noexcept { return is_inference_; }
  void set_inference(bool value) noexcept { is_inference_ = value; }

  // --- version ---

  /// How often this memory was written in place.
  [[nodiscard]] uint32_t version() const noexcept {
    const VersionCounter* shared = shared_version_.load(std::memory_order_acquire);
    return shared == nullptr ? own_version_.load(std::memory_order_acquire) : shared->current();
  }
  void bump_version() noexcept {
    VersionCounter* shared = shared_version_.load(std::memory_order_acquire);
    if (shared != nullptr) {
      shared->bump();
    } else {
      own_version_.fetch_add(1, std::memory_order_acq_rel);
    }
  }
  /// For a factory that filled a tensor nobody has seen yet.
  void reset_version() noexcept { own_version_.store(0, std::memory_order_release); }
  /// The counter, made on the first call, for a view or a saved tensor to share.
  [[nodiscard]] intrusive_ptr<VersionCounter> share_version() const;
  /// Counts with `counter` from now on.
  void set_version(intrusive_ptr<VersionCounter> counter) noexcept;

  // --- autograd ---

  /// A leaf that requires grad, a result with a grad_fn, or a view of such.
  [[nodiscard]] bool requires_grad() const noexcept {
    return requires_grad_ || (is_view_ && autograd_meta_->base_requires_grad());
  }
  /// Kept by autograd: true for leaves that require grad and for whatever has a grad_fn.
  void set_requires_grad_flag(bool value) noexcept { requires_grad_ = value; }
  /// Kept by autograd: autograd_meta() is that of a differentiable view.
  [[nodiscard]] bool is_view() const noexcept { return is_view_; }
  void set_view_flag(bool value) noexcept { is_view_ = value; }
  [[nodiscard]] AutogradMetaInterface* autograd_meta() const noexcept {
    return autograd_meta_.get();
  }
  void set_autograd_meta(std::unique_ptr<AutogradMetaInterface> meta) noexcept {
    autograd_meta_ = std::move(meta);
  }

 private:
  void release_resources() noexcept override;
  void refresh();
  /// That this tensor was made (core/memory/observer.h).
  void tell_observers() const noexcept;

  Storage storage_;
  DimVector sizes_;
  DimVector strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 1;
  ScalarType dtype_;
  Device device_;
  bool is_contiguous_ = true;
  bool is_wrapped_number_ = false;
  bool is_inference_ = thread_state().inference_mode;
  bool requires_grad_ = false;
  bool is_view_ = false;
  mutable std::atomic<uint32_t> own_version_{0};
  mutable std::atomic<VersionCounter*> shared_version_{nullptr};
  std::unique_ptr<AutogradMetaInterface> autograd_meta_;
};

}  // namespace ebb
