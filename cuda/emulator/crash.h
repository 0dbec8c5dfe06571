#pragma once

namespace ebb::cuda::emulator {

/// From now on a fault that ends the process (an access outside memory, a report of a sanitizer) is
/// preceded or followed by a report that names the kernel and the thread. Called on the host's
/// stack of each thread that runs kernels; quick after the first time.
void watch_for_crashes();

}  // namespace ebb::cuda::emulator
