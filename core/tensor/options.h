#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// Dense strided tensors are the only layout.
enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;

/// How the elements of a result are laid out: row-major, or as in the input.
enum class MemoryFormat : int8_t { Contiguous, Preserve };

/// What a factory needs beside the sizes. Each part may be absent; absent parts take the defaults
/// (dtype: get_default_dtype(), device: get_default_device(), requires_grad: false) or, in `*_like` and `to`, those
/// of the tensor at hand. Setters return a changed copy.
class EBB_API TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType dtype) : dtype_(dtype) {}        // NOLINT: implicit
  constexpr TensorOptions(Device device) : device_(device) {}         // NOLINT
  constexpr TensorOptions(DeviceType type) : device_(Device(type)) {}  // NOLINT
  constexpr TensorOptions(Layout) {}                                  // NOLINT
  /// "cpu", "cuda:1". A template, so that a literal 0 is no text.
  template <typename Text>
    requires(std::is_convertible_v<const Text&, std::string_view>)
  TensorOptions(const Text& device) : device_(Device(std::string(device))) {}  // NOLINT

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> dtype) const {
    TensorOptions result = *this;
    result.dtype_ = dtype;
    return result;
  }
  template <typename T>
  [[nodiscard]] constexpr TensorOptions dtype() const {
    return dtype(scalar_type_of<T>);
  }
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> device) const {
    TensorOptions result = *this;
    result.device_ = device;
    return result;
  }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] constexpr TensorOptions device_index(DeviceIndex index) const {
    return device(Device(DeviceType::CUDA, index));
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    TensorOptions result = *this;
    result.requires_grad_ = requires_grad;
    return result;
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> pinned) const {
    TensorOptions result = *this;
    result.pinned_ = pinned;
    return result;
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout>) const { return *this; }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> format) const {
    TensorOptions result = *this;
    result.memory_format_ = format;
    return result;
  }

  [[nodiscard]] ScalarType dtype() const { return dtype_.value_or(get_default_dtype()); }
  [[nodiscard]] Device device() const { return device_ ? *device_ : get_default_device(); }
  [[nodiscard]] constexpr bool requires_grad() const { return requires_grad_.value_or(false); }
  [[nodiscard]] constexpr bool pinned_memory() const { return pinned_.value_or(false); }
  [[nodiscard]] constexpr Layout layout() const { return kStrided; }
  [[nodiscard]] constexpr std::optional<ScalarType> dtype_opt() const { return dtype_; }
  [[nodiscard]] constexpr std::optional<Device> device_opt() const { return device_; }
  [[nodiscard]] constexpr std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  [[nodiscard]] constexpr std::optional<MemoryFormat> memory_format_opt() const {
    return memory_format_;
  }
  [[nodiscard]] constexpr bool has_dtype() const { return dtype_.has_value(); }
  [[nodiscard]] constexpr bool has_device() const { return device_.has_value(); }

  /// The parts of `other` where it has them, else those of this.
  [[nodiscard]] constexpr TensorOptions merge_in(const TensorOptions& other) const {
    TensorOptions result = *this;
    if (other.dtype_) result.dtype_ = other.dtype_;
    if (other.device_) result.device_ = other.device_;
    if (other.requires_grad_) result.requires_grad_ = other.requires_grad_;
    if (other.pinned_) result.pinned_ = other.pinned_;
    if (other.memory_format_) result.memory_format_ = other.memory_format_;
    return result;
  }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_;
  std::optional<MemoryFormat> memory_format_;
};

EBB_API std::ostream& operator<<(std::ostream& stream, const TensorOptions& options);

/// Shorthands: `ebb::dtype(kInt).requires_grad(true)`.
inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
template <typename T>
TensorOptions dtype() {
  return TensorOptions(scalar_type_of<T>);
}
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }

}  // namespace ebb
