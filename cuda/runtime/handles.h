#pragma once

// The handles of the CUDA runtime, as its headers declare them, so that ebb's headers need none of
// them.

struct CUstream_st;
struct CUevent_st;

namespace ebb::cuda {

/// A cudaStream_t.
using StreamHandle = CUstream_st*;
/// A cudaEvent_t.
using EventHandle = CUevent_st*;

}  // namespace ebb::cuda
