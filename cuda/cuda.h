#pragma once

// The CUDA device, for programs: devices, streams, events and memory. Tensors come here by
// .to("cuda") or .cuda(); none of these headers needs the CUDA toolkit.

#include <ebb/cuda/runtime/blas_settings.h>  // IWYU pragma: export
#include <ebb/cuda/runtime/device.h>         // IWYU pragma: export
#include <ebb/cuda/runtime/event.h>          // IWYU pragma: export
#include <ebb/cuda/runtime/exception.h>      // IWYU pragma: export
#include <ebb/cuda/runtime/memory.h>         // IWYU pragma: export
#include <ebb/cuda/runtime/seed.h>           // IWYU pragma: export
#include <ebb/cuda/runtime/stream.h>         // IWYU pragma: export
