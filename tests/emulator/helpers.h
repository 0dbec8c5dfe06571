#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ebb/cuda/emulator.h>
#include <ebb/cuda/emulator/sanitizer.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/launch.h>

#include "catch.h"

namespace ebb::cuda {

/// Device memory that holds a vector.
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count, T value = T()) : Buffer(std::vector<T>(count, value)) {}
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    REQUIRE(cudaMalloc(&data_, count_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  ~Buffer() { static_cast<void>(cudaFree(data_)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    REQUIRE(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

/// A test's own emulator: enabled, reports kept and not printed, and all settings as they were
/// afterwards.
class Emulated {
 public:
  Emulated() : seed_(emulator::seed()) {
    emulator::enable({.devices = 2});
    emulator::set_print_reports(false);
    static_cast<void>(emulator::recover());
  }
  ~Emulated() {
    static_cast<void>(emulator::recover());
    emulator::set_print_reports(true);
    emulator::set_early_exit(false);
    emulator::set_eager(false);
    emulator::set_seed(seed_);
    static_cast<void>(cudaSetDevice(0));
  }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;

 private:
  uint64_t seed_;
};

/// Runs what is queued and gives the report of its fault, "" if there is none.
inline std::string run_and_report() {
  const cudaError_t error = cudaDeviceSynchronize();
  const std::vector<std::string> reports = emulator::recover();
  CHECK((error == cudaSuccess) == reports.empty());
  return reports.empty() ? "" : reports.front();
}

}  // namespace ebb::cuda
