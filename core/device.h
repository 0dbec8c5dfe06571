#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include <ebb/core/export.h>

namespace ebb {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };

inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;

/// How many device types there are; tables with a slot for each are sized by it.
inline constexpr int kDeviceTypes = 2;
/// How many devices of one type ebb can address.
inline constexpr int kMaxDevices = 16;

using DeviceIndex = int8_t;

/// Where a tensor's bytes are: a device type and, for CUDA, an index. An index of -1 means "the
/// current device of that type".
class EBB_API Device {
 public:
  using Type = DeviceType;

  constexpr Device(DeviceType type = DeviceType::CPU, DeviceIndex index = -1)  // NOLINT: implicit
      : type_(type), index_(index) {}
  /// Parses "cpu", "cuda" or "cuda:1". Throws an Error that lists what is accepted.
  Device(const std::string& text);         // NOLINT: implicit, as in LibTorch
  Device(const char* text) : Device(std::string(text)) {}  // NOLINT

  [[nodiscard]] constexpr DeviceType type() const { return type_; }
  [[nodiscard]] constexpr DeviceIndex index() const { return index_; }
  [[nodiscard]] constexpr bool has_index() const { return index_ >= 0; }
  [[nodiscard]] constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  [[nodiscard]] constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  /// "cpu", "cuda" or "cuda:1".
  [[nodiscard]] std::string str() const;

  constexpr bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

EBB_API std::ostream& operator<<(std::ostream& stream, DeviceType type);
EBB_API std::ostream& operator<<(std::ostream& stream, const Device& device);

}  // namespace ebb
