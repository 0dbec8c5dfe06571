#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <ebb/cuda/emulator.h>
#include <ebb/cuda/emulator/random.h>

// What the files of the emulator share. One lock guards all of it: a call of the runtime holds it
// from beginning to end.

namespace ebb::cuda::emulator {

/// The most devices that can be emulated.
inline constexpr int kMaxEmulatedDevices = 16;

/// The configuration in force.
struct State {
  bool enabled = false;
  int devices = 1;
  size_t memory[kMaxEmulatedDevices] = {};
  uint64_t seed = 1;
  bool eager = false;
  bool early_exit = false;
  bool protect = false;
  bool print_reports = true;
  std::string test;
  Random random{1};
  /// What every call returns after a fault, until recover or cudaDeviceReset.
  cudaError_t sticky = cudaSuccess;
  /// The report of that fault; "" if it was not the emulator that found it.
  std::string fault;
};

/// The state; made on first use, from the environment.
State& state();
std::recursive_mutex& mutex();

/// The device of the calling thread.
int& current_device();
/// What cudaGetLastError gives to the calling thread.
cudaError_t& last_error();

/// Queues work on a stream, as cuBLAS does; the call that asks for it has begun. Null is the legacy
/// default stream of the current device.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

}  // namespace ebb::cuda::emulator
