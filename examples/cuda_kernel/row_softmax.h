#pragma once

#include <ebb/cuda/runtime/api.h>

/// Softmax of each row of a matrix in device memory, `out` like `in`: rows x columns, row-major.
void row_softmax(const float* in, float* out, int rows, int columns, cudaStream_t stream);
