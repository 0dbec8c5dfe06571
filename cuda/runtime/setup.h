#pragma once

namespace ebb::cuda {

/// Makes the CUDA devices known to core: their memory, streams, kernels and copies. Called on first
/// use, and again for a device that is not known yet. Throws an Error that names the cause if there
/// is no device.
void set_up();

}  // namespace ebb::cuda
