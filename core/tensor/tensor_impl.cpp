#include <ebb/core/tensor/tensor_impl.h>

#include <new>
#include <utility>

#include <ebb/core/memory/observer.h>
#include <ebb/core/tensor/shape.h>

namespace ebb {

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, Device device, IntArrayRef sizes,
                       IntArrayRef strides, int64_t storage_offset)
    : storage_(std::move(storage)),
      sizes_(sizes),
      strides_(strides),
      storage_offset_(storage_offset),
      dtype_(dtype),
      device_(device) {
  refresh();
  if (memory::detail::observed()) [[unlikely]]
    tell_observers();
}

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, Device device, IntArrayRef sizes)
    : storage_(std::move(storage)), sizes_(sizes), dtype_(dtype), device_(device) {
  strides_.resize(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    strides_[i] = numel_ == 0 ? 1 : numel_;
    numel_ *= sizes[i];
  }
  // An empty tensor has the strides that its sizes would give with each zero taken as one.
  if (numel_ == 0) strides_ = contiguous_strides(sizes);
  if (memory::detail::observed()) [[unlikely]]
    tell_observers();
}

void TensorImpl::tell_observers() const noexcept {
  memory::detail::tell_tensor_made(storage_.block(), sizes_.data(), sizes_.size(), dtype_);
}

TensorImpl::~TensorImpl() {
  if (VersionCounter* shared = shared_version_.load(std::memory_order_acquire)) {
    intrusive_ptr<VersionCounter>::adopt(shared).reset();
  }
}

namespace {

// A thread keeps a few bodies for reuse: most ops make one, and most of these die at once.
struct FreeImpls {
  static constexpr int kMost = 64;
  void* slots[kMost];
  int count = 0;
  ~FreeImpls() {
    while (count > 0) ::operator delete(slots[--count]);
    count = kMost;  // from now on, during thread exit, nothing is kept
  }
};
thread_local FreeImpls free_impls;

}  // namespace

void* TensorImpl::operator new(size_t bytes) {
  FreeImpls& free = free_impls;
  if (free.count > 0 && free.count < FreeImpls::kMost) return free.slots[--free.count];
  return ::operator new(bytes);
}

void TensorImpl::operator delete(void* memory) noexcept {
  FreeImpls& free = free_impls;
  if (free.count < FreeImpls::kMost - 1) {
    free.slots[free.count++] = memory;
  } else {
    ::operator delete(memory);
  }
}

void TensorImpl::release_resources() noexcept {
  storage_.reset();
  autograd_meta_.reset();
  is_view_ = false;
}

void TensorImpl::refresh() {
  numel_ = 1;
  for (const int64_t size : sizes_) numel_ *= size;
  is_contiguous_ = ebb::is_contiguous(sizes_, strides_);
}

void TensorImpl::set_data(const TensorImpl& other) {
  storage_ = other.storage_;
  dtype_ = other.dtype_;
  device_ = other.device_;
  set_geometry(other.sizes_, other.strides_, other.storage_offset_);
}

void TensorImpl::set_geometry(IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset) {
  sizes_ = DimVector(sizes);
  strides_ = DimVector(strides);
  storage_offset_ = storage_offset;
  refresh();
}

intrusive_ptr<VersionCounter> TensorImpl::share_version() const {
  VersionCounter* shared = shared_version_.load(std::memory_order_acquire);
  if (shared == nullptr) {
    auto fresh = make_intrusive<VersionCounter>(own_version_.load(std::memory_order_acquire));
    if (shared_version_.compare_exchange_strong(shared, fresh.get(), std::memory_order_acq_rel)) {
      shared = fresh.detach();
    }
  }
  return intrusive_ptr<VersionCounter>::share(shared);
}

void TensorImpl::set_version(intrusive_ptr<VersionCounter> counter) noexcept {
  VersionCounter* old = shared_version_.exchange(counter.detach(), std::memory_order_acq_rel);
  intrusive_ptr<VersionCounter>::adopt(old).reset();
}

}  // namespace ebb
