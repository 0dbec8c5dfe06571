#include <ebb/core/device.h>

#include <ebb/core/error.h>

namespace ebb {

Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  const auto colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const std::string index = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool digits = !index.empty() && index.size() <= 2 &&
                      index.find_first_not_of("0123456789") == std::string::npos;
  EBB_CHECK((type == "cpu" || type == "cuda") && (colon == std::string::npos || digits),
            "\"", text, "\" is not a device; use \"cpu\", \"cuda\" or \"cuda:N\"");
  type_ = type == "cpu" ? DeviceType::CPU : DeviceType::CUDA;
  if (digits) index_ = static_cast<DeviceIndex>(std::stoi(index));
  EBB_CHECK(index_ < kMaxDevices, "\"", text, "\": device indices end at ", kMaxDevices - 1);
}

std::string Device::str() const {
  std::string text = is_cpu() ? "cpu" : "cuda";
  return has_index() ? text + ":" + std::to_string(index_) : text;
}

std::ostream& operator<<(std::ostream& stream, DeviceType type) {
  return stream << (type == DeviceType::CPU ? "cpu" : "cuda");
}

std::ostream& operator<<(std::ostream& stream, const Device& device) {
  return stream << device.str();
}

}  // namespace ebb
