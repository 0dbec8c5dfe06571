#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <ebb/core/export.h>

namespace ebb {

template <typename T>
class intrusive_ptr;
template <typename T>
class weak_intrusive_ptr;

/// A base class with its own strong and weak counts, both atomic. All strong owners together hold
/// one weak count. When the last strong owner goes, `release_resources` runs; the object itself is
/// deleted with the last weak owner.
class EBB_API RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  [[nodiscard]] uint32_t use_count() const noexcept {
    return strong_.load(std::memory_order_acquire);
  }

 protected:
  /// Lets go of what the object holds although weak pointers keep the object itself.
  virtual void release_resources() noexcept {}
  /// Deletes the object: a class with a pool of its own gives its memory back there.
  virtual void destroy() noexcept { delete this; }

 private:
  template <typename T>
  friend class intrusive_ptr;
  template <typename T>
  friend class weak_intrusive_ptr;

  void retain() noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (strong_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (weak_.load(std::memory_order_acquire) == 1) {  // nobody can make a further weak pointer
      destroy();
      return;
    }
    release_resources();
    release_weak();
  }
  void retain_weak() noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }
  void release_weak() noexcept {
    if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  /// Takes a strong count unless there is none left.
  bool try_retain() noexcept {
    uint32_t count = strong_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (strong_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  std::atomic<uint32_t> strong_{1};
  std::atomic<uint32_t> weak_{1};
};

/// A shared owner of a RefCounted object: one pointer wide.
template <typename T>
class intrusive_ptr {
 public:
  using element_type = T;

  constexpr intrusive_ptr() noexcept = default;
  constexpr intrusive_ptr(std::nullptr_t) noexcept {}  // NOLINT: implicit
  intrusive_ptr(const intrusive_ptr& other) noexcept : pointer_(other.pointer_) {
    if (pointer_ != nullptr) counts()->retain();
  }
  intrusive_ptr(intrusive_ptr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  intrusive_ptr(const intrusive_ptr<U>& other) noexcept : pointer_(other.get()) {  // NOLINT
    if (pointer_ != nullptr) counts()->retain();
  }
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  intrusive_ptr(intrusive_ptr<U>&& other) noexcept : pointer_(other.detach()) {}  // NOLINT
  ~intrusive_ptr() { reset(); }

  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  /// Takes over a count that the caller holds, such as that of a new object.
  [[nodiscard]] static intrusive_ptr adopt(T* pointer) noexcept {
    intrusive_ptr result;
    result.pointer_ = pointer;
    return result;
  }
  /// Shares an object that somebody owns.
  [[nodiscard]] static intrusive_ptr share(T* pointer) noexcept {
    intrusive_ptr result;
    result.pointer_ = pointer;
    if (pointer != nullptr) result.counts()->retain();
    return result;
  }

  void reset() noexcept {
    if (pointer_ != nullptr) static_cast<RefCounted*>(std::exchange(pointer_, nullptr))->release();
  }
  /// Gives the count to the caller.
  [[nodiscard]] T* detach() noexcept { return std::exchange(pointer_, nullptr); }

  [[nodiscard]] T* get() const noexcept { return pointer_; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  [[nodiscard]] bool defined() const noexcept { return pointer_ != nullptr; }
  [[nodiscard]] uint32_t use_count() const noexcept {
    return pointer_ == nullptr ? 0 : pointer_->use_count();
  }

  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return a.pointer_ == b.pointer_;
  }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) noexcept {
    return a.pointer_ == nullptr;
  }

 private:
  RefCounted* counts() const noexcept { return static_cast<RefCounted*>(pointer_); }

  T* pointer_ = nullptr;
};

/// An observer of a RefCounted object that does not keep it alive.
template <typename T>
class weak_intrusive_ptr {
 public:
  constexpr weak_intrusive_ptr() noexcept = default;
  weak_intrusive_ptr(const intrusive_ptr<T>& strong) noexcept : pointer_(strong.get()) {  // NOLINT
    if (pointer_ != nullptr) counts()->retain_weak();
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& other) noexcept : pointer_(other.pointer_) {
    if (pointer_ != nullptr) counts()->retain_weak();
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)) {}
  ~weak_intrusive_ptr() { reset(); }
  weak_intrusive_ptr& operator=(weak_intrusive_ptr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  void reset() noexcept {
    if (pointer_ != nullptr) {
      static_cast<RefCounted*>(std::exchange(pointer_, nullptr))->release_weak();
    }
  }
  /// The object, or null if its last strong owner is gone.
  [[nodiscard]] intrusive_ptr<T> lock() const noexcept {
    return pointer_ != nullptr && counts()->try_retain() ? intrusive_ptr<T>::adopt(pointer_)
                                                         : intrusive_ptr<T>();
  }
  [[nodiscard]] bool expired() const noexcept {
    return pointer_ == nullptr || pointer_->use_count() == 0;
  }
  /// For comparing identities only.
  [[nodiscard]] const void* unsafe_get() const noexcept { return pointer_; }

 private:
  RefCounted* counts() const noexcept { return static_cast<RefCounted*>(pointer_); }

  T* pointer_ = nullptr;
};

template <typename T, typename... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace ebb

template <typename T>
struct std::hash<ebb::intrusive_ptr<T>> {
  size_t operator()(const ebb::intrusive_ptr<T>& p) const noexcept {
    return std::hash<T*>()(p.get());
  }
};
