#include <ebb/cuda/runtime/current_stream.h>

namespace ebb::cuda::detail {

constinit thread_local cudaStream_t current_streams[kMaxDevices] = {};

}  // namespace ebb::cuda::detail
