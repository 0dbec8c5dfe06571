#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb {

/// One value of a few kinds: what `AutogradContext::saved_data` holds. Each `to...` throws an Error
/// if the value is of another kind.
class IValue {
 public:
  IValue() = default;
  IValue(bool value) : value_(value) {}                                 // NOLINT: implicit
  IValue(int value) : value_(static_cast<int64_t>(value)) {}            // NOLINT
  IValue(long value) : value_(static_cast<int64_t>(value)) {}           // NOLINT
  IValue(long long value) : value_(static_cast<int64_t>(value)) {}      // NOLINT
  IValue(unsigned value) : value_(static_cast<int64_t>(value)) {}       // NOLINT
  IValue(unsigned long value) : value_(static_cast<int64_t>(value)) {}  // NOLINT
  IValue(double value) : value_(value) {}                               // NOLINT
  IValue(float value) : value_(static_cast<double>(value)) {}           // NOLINT
  IValue(const char* value) : value_(std::string(value)) {}             // NOLINT
  IValue(std::string value) : value_(std::move(value)) {}               // NOLINT
  IValue(Tensor value) : value_(std::move(value)) {}                    // NOLINT
  IValue(ScalarType value) : value_(value) {}                           // NOLINT
  IValue(Device value) : value_(value) {}                               // NOLINT
  IValue(const Scalar& value) : value_(value) {}                        // NOLINT
  IValue(std::vector<int64_t> value) : value_(std::move(value)) {}      // NOLINT
  IValue(IntArrayRef value) : value_(value.vec()) {}                    // NOLINT
  IValue(std::vector<double> value) : value_(std::move(value)) {}       // NOLINT
  IValue(std::vector<bool> value) : value_(std::move(value)) {}         // NOLINT
  IValue(std::vector<Tensor> value) : value_(std::move(value)) {}       // NOLINT

  [[nodiscard]] bool isNone() const { return holds<std::monostate>(); }
  [[nodiscard]] bool isBool() const { return holds<bool>(); }
  [[nodiscard]] bool isInt() const { return holds<int64_t>(); }
  [[nodiscard]] bool isDouble() const { return holds<double>(); }
  [[nodiscard]] bool isString() const { return holds<std::string>(); }
  [[nodiscard]] bool isTensor() const { return holds<Tensor>(); }
  [[nodiscard]] bool isScalar() const {
    return isInt() || isDouble() || isBool() || holds<Scalar>();
  }
  [[nodiscard]] bool isIntList() const { return holds<std::vector<int64_t>>(); }
  [[nodiscard]] bool isTensorList() const { return holds<std::vector<Tensor>>(); }

  [[nodiscard]] bool toBool() const { return get<bool>("a bool"); }
  [[nodiscard]] int64_t toInt() const { return get<int64_t>("an integer"); }
  [[nodiscard]] double toDouble() const { return get<double>("a double"); }
  [[nodiscard]] const std::string& toString() const { return get<std::string>("a string"); }
  [[nodiscard]] const std::string& toStringRef() const { return toString(); }
  [[nodiscard]] const Tensor& toTensor() const { return get<Tensor>("a tensor"); }
  [[nodiscard]] Scalar toScalar() const {
    if (isInt()) return toInt();
    if (isDouble()) return toDouble();
    if (isBool()) return toBool();
    return get<Scalar>("a number");
  }
  [[nodiscard]] ScalarType toScalarType() const { return get<ScalarType>("a dtype"); }
  [[nodiscard]] Device toDevice() const { return get<Device>("a device"); }
  [[nodiscard]] const std::vector<int64_t>& toIntVector() const {
    return get<std::vector<int64_t>>("a list of integers");
  }
  [[nodiscard]] const std::vector<int64_t>& toIntList() const { return toIntVector(); }
  [[nodiscard]] const std::vector<double>& toDoubleVector() const {
    return get<std::vector<double>>("a list of doubles");
  }
  [[nodiscard]] const std::vector<double>& toDoubleList() const { return toDoubleVector(); }
  [[nodiscard]] const std::vector<bool>& toBoolList() const {
    return get<std::vector<bool>>("a list of bools");
  }
  [[nodiscard]] const std::vector<Tensor>& toTensorVector() const {
    return get<std::vector<Tensor>>("a list of tensors");
  }
  [[nodiscard]] const std::vector<Tensor>& toTensorList() const { return toTensorVector(); }

 private:
  template <typename T>
  [[nodiscard]] bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <typename T>
  [[nodiscard]] const T& get(const char* kind) const {
    EBB_CHECK(holds<T>(), "IValue: expected ", kind, ", but another kind of value was stored");
    return std::get<T>(value_);
  }

  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, ScalarType, Device,
               Scalar, std::vector<int64_t>, std::vector<double>, std::vector<bool>,
               std::vector<Tensor>>
      value_;
};

}  // namespace ebb
