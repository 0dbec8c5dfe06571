#pragma once

#include <cstdint>
#include <string>

#include <ebb/cuda/cuda.h>
#include <ebb/cuda/emulator.h>
#include <ebb/ebb.h>

#include "catch.h"

namespace test {

inline const ebb::Device kCuda0{ebb::kCUDA, 0};
inline const ebb::Device kCuda1{ebb::kCUDA, 1};

/// Two emulated devices with room, nothing cached on them, and no work under way, before and after.
class CleanDevices {
 public:
  CleanDevices() { reset(); }
  ~CleanDevices() { reset(); }
  CleanDevices(const CleanDevices&) = delete;
  CleanDevices& operator=(const CleanDevices&) = delete;

 private:
  static void reset() {
    ebb::cuda::emulator::stop_failing();
    for (int device = 0; device < 2; ++device) {
      ebb::cuda::synchronize(device);
      ebb::cuda::set_per_process_memory_fraction(1, device);
    }
    ebb::cuda::empty_cache();
    ebb::cuda::empty_host_cache();
    for (int device = 0; device < 2; ++device) ebb::cuda::reset_peak_memory_stats(device);
    ebb::cuda::reset_peak_host_memory_stats();
  }
};

/// The values of a float tensor, wherever it is.
inline std::vector<float> values(const ebb::Tensor& tensor) {
  const ebb::Tensor host = tensor.detach().to(ebb::kCPU, ebb::kFloat).contiguous();
  const auto* data = host.const_data_ptr<float>();
  return {data, data + host.numel()};
}

/// 0, 1, 2, ... as floats on the CPU.
inline ebb::Tensor counting(ebb::IntArrayRef sizes) {
  ebb::Tensor result = ebb::empty(sizes, ebb::device(ebb::kCPU));
  for (int64_t i = 0; i < result.numel(); ++i) result.data_ptr<float>()[i] = static_cast<float>(i);
  return result;
}

/// The message of what `f` throws; empty if it throws nothing.
template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace test
