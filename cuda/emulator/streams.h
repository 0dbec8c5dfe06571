#pragma once

#include <functional>

#include <ebb/cuda/emulator/types.h>

// Queued work. Each stream has a queue; whenever the host must wait, a piece of work is chosen at
// random among those that CUDA could run next, until what is waited for is done.

namespace ebb::cuda::emulator {

/// The stream that a handle names; null if there is none. Null is the legacy default stream of the
/// current device.
CUstream_st* find_stream(cudaStream_t handle);
int device_of(const CUstream_st* stream);

/// Puts work at the end of a stream's queue, or, in eager mode, runs it.
void push(CUstream_st* stream, std::function<void()> work);
/// Runs what may come first until the stream, all streams of a device, or all streams are empty.
void run_stream(CUstream_st* stream);
void run_device(int device);
void run_everything();
/// Drops all queued work, as after a fault.
void drop_everything();
/// Whether a callback of cudaLaunchHostFunc runs.
bool in_host_function();

}  // namespace ebb::cuda::emulator
