#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include <ebb/core/error.h>
#include <ebb/core/export.h>
#include <ebb/core/half.h>

namespace ebb {

/// The ten dtypes, with LibTorch's names.
enum class ScalarType : int8_t {
  Byte,      ///< uint8
  Char,      ///< int8
  Short,     ///< int16
  Int,       ///< int32
  Long,      ///< int64
  Half,      ///< IEEE binary16
  Float,     ///< float32
  Double,    ///< float64
  Bool,
  BFloat16,  ///< the upper half of a float32
  Undefined,
};
inline constexpr int kScalarTypes = 10;

using Dtype = ScalarType;

inline constexpr ScalarType kUInt8 = ScalarType::Byte, kByte = ScalarType::Byte;
inline constexpr ScalarType kInt8 = ScalarType::Char, kChar = ScalarType::Char;
inline constexpr ScalarType kInt16 = ScalarType::Short, kShort = ScalarType::Short;
inline constexpr ScalarType kInt32 = ScalarType::Int, kInt = ScalarType::Int;
inline constexpr ScalarType kInt64 = ScalarType::Long, kLong = ScalarType::Long;
inline constexpr ScalarType kFloat16 = ScalarType::Half, kHalf = ScalarType::Half;
inline constexpr ScalarType kFloat32 = ScalarType::Float, kFloat = ScalarType::Float;
inline constexpr ScalarType kFloat64 = ScalarType::Double, kDouble = ScalarType::Double;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

/// Bytes per element.
constexpr size_t element_size(ScalarType type) {
  constexpr uint8_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 1, 2, 0};
  return sizes[static_cast<int>(type)];
}
constexpr size_t elementSize(ScalarType type) { return element_size(type); }

/// float16, bfloat16, float32 or float64.
constexpr bool is_floating_point(ScalarType type) {
  return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16;
}
constexpr bool isFloatingType(ScalarType type) { return is_floating_point(type); }
/// An integer type; bool counts where `include_bool`.
constexpr bool is_integral(ScalarType type, bool include_bool) {
  return type <= ScalarType::Long || (include_bool && type == ScalarType::Bool);
}
constexpr bool isIntegralType(ScalarType type, bool include_bool = false) {
  return is_integral(type, include_bool);
}
/// float16 or bfloat16.
constexpr bool is_reduced_floating_point(ScalarType type) {
  return type == kHalf || type == kBFloat16;
}

/// The type that both convert to in arithmetic, as torch.promote_types.
EBB_API ScalarType promote_types(ScalarType a, ScalarType b);
/// Whether a value of `from` may be written to a tensor of `to`: not float to integer, and nothing
/// but bool to bool (torch.can_cast).
EBB_API bool can_cast(ScalarType from, ScalarType to);
/// "Float", "Long", ... as LibTorch prints them.
EBB_API const char* to_string(ScalarType type);
inline const char* toString(ScalarType type) { return to_string(type); }
EBB_API std::ostream& operator<<(std::ostream& stream, ScalarType type);

/// float32 unless set_default_dtype said otherwise: the dtype of factories that are given none.
EBB_API ScalarType get_default_dtype();
/// Throws unless `type` is a floating-point type.
EBB_API void set_default_dtype(ScalarType type);

/// ScalarType of a C++ type.
template <typename T>
inline constexpr ScalarType scalar_type_of = [] {
  if constexpr (std::is_same_v<T, bool>) return kBool;
  else if constexpr (std::is_same_v<T, Half>) return kHalf;
  else if constexpr (std::is_same_v<T, BFloat16>) return kBFloat16;
  else if constexpr (std::is_same_v<T, float>) return kFloat;
  else if constexpr (std::is_same_v<T, double>) return kDouble;
  else if constexpr (std::is_same_v<T, uint8_t>) return kUInt8;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return sizeof(T) == 1 ? kInt8 : sizeof(T) == 2 ? kInt16 : sizeof(T) == 4 ? kInt32 : kInt64;
  } else return ScalarType::Undefined;
}();

/// Calls f(T{}) with the C++ type of `type`. The one switch over dtypes. Kernels do not use it for
/// arithmetic (they compute in float, double or int64, see core/cpu/loops.h), only code that moves
/// or converts single elements does.
template <typename F>
decltype(auto) dispatch(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Byte: return f(uint8_t{});
    case ScalarType::Char: return f(int8_t{});
    case ScalarType::Short: return f(int16_t{});
    case ScalarType::Int: return f(int32_t{});
    case ScalarType::Long: return f(int64_t{});
    case ScalarType::Half: return f(Half{});
    case ScalarType::Float: return f(float{});
    case ScalarType::Double: return f(double{});
    case ScalarType::Bool: return f(bool{});
    case ScalarType::BFloat16: return f(BFloat16{});
    case ScalarType::Undefined: break;
  }
  detail::raise<Error>("the tensor has no dtype");
}

/// The type that arithmetic on `type` is done in: float for the 16-bit floats, int64 for the
/// integers and bool, else the type itself.
constexpr ScalarType compute_type(ScalarType type) {
  return type == kDouble ? kDouble : is_floating_point(type) ? kFloat : kLong;
}

/// Calls f(T{}) with T one of float, double, int64_t: the compute type of `type`.
template <typename F>
decltype(auto) dispatch_compute(ScalarType type, F&& f) {
  switch (compute_type(type)) {
    case ScalarType::Float: return f(float{});
    case ScalarType::Double: return f(double{});
    default: return f(int64_t{});
  }
}

/// As dispatch_compute, for ops on floating-point tensors: T is float or double.
template <typename F>
decltype(auto) dispatch_floating(ScalarType type, F&& f) {
  EBB_CHECK(is_floating_point(type), "expected a floating-point tensor, got ", to_string(type));
  return type == kDouble ? f(double{}) : f(float{});
}

}  // namespace ebb
