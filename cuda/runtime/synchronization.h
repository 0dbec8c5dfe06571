#pragma once

#include <ebb/core/device.h>
#include <ebb/cuda/runtime/error.h>

namespace ebb::cuda {

/// Throws the IndexError that kernels of the device have reported since the last call, if any. To
/// be called when the host has waited for the device: until then a report may be on its way.
void check_index_errors(DeviceIndex device);

/// Waits for what `stream` of `device` holds, and throws what went wrong in it. `site` is the call
/// that the error names.
void synchronize_stream(DeviceIndex device, cudaStream_t stream, const CallSite& site);

}  // namespace ebb::cuda
