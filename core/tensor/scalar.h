#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include <ebb/core/export.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb {

/// A number on the host: a double, an int64 or a bool. Ops treat it as a number without a dtype of
/// its own, so that `half * 0.5` stays half and `int * 0.5` becomes the default float type.
class EBB_API Scalar {
 public:
  constexpr Scalar() : kind_(Kind::integer), integer_(0) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value)  // NOLINT: implicit
      : kind_(std::is_same_v<T, bool>        ? Kind::boolean
              : std::is_floating_point_v<T> ? Kind::floating
                                            : Kind::integer) {
    if constexpr (std::is_floating_point_v<T>) {
      floating_ = static_cast<double>(value);
    } else {
      integer_ = static_cast<int64_t>(value);
    }
  }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}      // NOLINT
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}  // NOLINT

  [[nodiscard]] constexpr bool is_floating_point() const { return kind_ == Kind::floating; }
  [[nodiscard]] constexpr bool is_integral(bool include_bool) const {
    return kind_ == Kind::integer || (include_bool && kind_ == Kind::boolean);
  }
  [[nodiscard]] constexpr bool is_boolean() const { return kind_ == Kind::boolean; }
  [[nodiscard]] constexpr bool isFloatingPoint() const { return is_floating_point(); }
  [[nodiscard]] constexpr bool isIntegral(bool include_bool) const {
    return is_integral(include_bool);
  }
  [[nodiscard]] constexpr bool isBoolean() const { return is_boolean(); }

  /// Double, Long or Bool: the dtype a tensor of this number gets (Double stands for the default
  /// floating-point type in promotion).
  [[nodiscard]] constexpr ScalarType type() const {
    return kind_ == Kind::floating ? kDouble : kind_ == Kind::integer ? kLong : kBool;
  }

  /// The value as T. To bool: whether it is not zero. From floating point to integer: towards zero;
  /// NaN and values out of range give the least int64, as the hardware does.
  template <typename T>
  [[nodiscard]] constexpr T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::floating ? floating_ != 0 : integer_ != 0;
    } else if (kind_ == Kind::floating) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(to_int64(floating_));
      } else {
        return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(floating_));
      }
    } else {
      if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
        return static_cast<T>(integer_);
      } else {
        return T(static_cast<float>(integer_));
      }
    }
  }
  [[nodiscard]] double toDouble() const { return to<double>(); }
  [[nodiscard]] float toFloat() const { return to<float>(); }
  [[nodiscard]] int64_t toLong() const { return to<int64_t>(); }
  [[nodiscard]] int toInt() const { return to<int>(); }
  [[nodiscard]] bool toBool() const { return to<bool>(); }

  [[nodiscard]] Scalar operator-() const {
    return kind_ == Kind::floating ? Scalar(-floating_) : Scalar(-integer_);
  }

  template <typename T>
    requires std::is_arithmetic_v<T>
  [[nodiscard]] bool equal(T value) const {
    return kind_ == Kind::floating ? floating_ == static_cast<double>(value)
                                   : static_cast<double>(integer_) == static_cast<double>(value);
  }

 private:
  enum class Kind : uint8_t { floating, integer, boolean };

  static constexpr int64_t to_int64(double value) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    return value >= -limit && value < limit ? static_cast<int64_t>(value) : INT64_MIN;
  }

  Kind kind_;
  union {
    double floating_;
    int64_t integer_;
  };
};

EBB_API std::ostream& operator<<(std::ostream& stream, const Scalar& scalar);

}  // namespace ebb
