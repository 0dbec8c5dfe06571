#pragma once

// Symbols are hidden unless a declaration says EBB_API, so that the shared library exports its
// interface and nothing else, and two copies of ebb in one process cannot meet by accident.
#if defined(EBB_SHARED_LIBRARY)
#define EBB_API __attribute__((visibility("default")))
#else
#define EBB_API
#endif

// The arithmetic in core/ops/functors compiles for the host and for CUDA devices.
#if defined(__CUDACC__)
#define EBB_HOST_DEVICE __host__ __device__
#else
#define EBB_HOST_DEVICE
#endif

// For such arithmetic in headers: kernel files are compiled for several CPUs, and a function that
// one of them emits out of line could replace the copy of a lesser CPU when the linker merges them.
// These are never emitted.
#define EBB_INLINE EBB_HOST_DEVICE __attribute__((always_inline)) inline

// For thread-local variables of the library's own: the address is an offset, not a call. nvcc's
// front end does not know the attribute, and the model that it takes instead links with this one.
#if defined(__CUDACC__)
#define EBB_INITIAL_EXEC
#else
#define EBB_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#endif
