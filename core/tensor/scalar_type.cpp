#include <ebb/core/tensor/scalar_type.h>

#include <atomic>

namespace ebb {

namespace {

std::atomic<ScalarType> default_dtype{ScalarType::Float};

// Within one kind the higher rank wins; between kinds the kind (bool < integer < float).
constexpr int kind(ScalarType type) { return type == kBool ? 0 : is_integral(type, false) ? 1 : 2; }

}  // namespace

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (kind(a) == 2) {
    if (is_reduced_floating_point(a) && is_reduced_floating_point(b)) return kFloat;
    if (is_reduced_floating_point(a)) return b;
    if (is_reduced_floating_point(b)) return a;
    return kDouble;
  }
  if (a == kUInt8 || b == kUInt8) {  // uint8 with int8 needs 16 bits
    const ScalarType other = a == kUInt8 ? b : a;
    return other == kInt8 ? kInt16 : other;
  }
  return a > b ? a : b;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_floating_point(from) && is_integral(to, true)) return false;
  return from == kBool || to != kBool;
}

const char* to_string(ScalarType type) {
  constexpr const char* names[] = {"Byte",  "Char",   "Short", "Int",      "Long",     "Half",
                                   "Float", "Double", "Bool",  "BFloat16", "Undefined"};
  return names[static_cast<int>(type)];
}

std::ostream& operator<<(std::ostream& stream, ScalarType type) {
  return stream << to_string(type);
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType type) {
  EBB_CHECK(is_floating_point(type), "set_default_dtype: only floating-point types can be the ",
            "default, not ", type);
  default_dtype.store(type, std::memory_order_relaxed);
}

}  // namespace ebb
