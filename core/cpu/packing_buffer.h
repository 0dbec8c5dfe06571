#pragma once

#include <cstddef>

namespace ebb::cpu {

/// Room for the panels of a matrix product, 64-byte aligned, kept by the calling thread until it
/// ends. It is what a BLAS keeps too, depends on the number of threads, and is not counted as
/// tensor memory. A later call on the same thread may move it. Throws std::bad_alloc.
void* packing_buffer(size_t bytes);

}  // namespace ebb::cpu
