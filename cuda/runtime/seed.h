#pragma once

#include <cstdint>

#include <ebb/core/memory/registry.h>
#include <ebb/core/random/generator.h>

namespace ebb::cuda {

/// Starts the default generator of the current device anew from `seed`. ebb::manual_seed does so for
/// all devices and the CPU.
inline void manual_seed(uint64_t seed) {
  Generator generator = default_generator(kCUDA);
  generator.set_current_seed(seed);
}
/// The same for all CUDA devices.
inline void manual_seed_all(uint64_t seed) {
  for (int i = 0; i < kMaxDevices; ++i) {
    Generator generator = default_generator(Device(kCUDA, static_cast<DeviceIndex>(i)));
    generator.set_current_seed(seed);
  }
}

}  // namespace ebb::cuda
