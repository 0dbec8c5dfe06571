#pragma once

#include <any>
#include <string>
#include <typeinfo>
#include <utility>

#include <ebb/core/error.h>

namespace ebb::nn {

namespace detail {
/// The name of a C++ type, as people write it.
EBB_API std::string type_name(const std::type_info& type);
}  // namespace detail

/// A value of any type that can be copied: what goes into and comes out of an AnyModule.
class AnyValue {
 public:
  template <typename T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::forward<T>(value)) {}

  /// The value as a T; null, or an Error, if it is of another type.
  template <typename T>
  [[nodiscard]] T* try_get() noexcept {
    return std::any_cast<T>(&value_);
  }
  template <typename T>
  [[nodiscard]] T& get() {
    T* value = try_get<T>();
    EBB_CHECK(value != nullptr, "Attempted to cast AnyValue to ", detail::type_name(typeid(T)),
              ", but its actual type is ", detail::type_name(type_info()));
    return *value;
  }
  [[nodiscard]] const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

}  // namespace ebb::nn
