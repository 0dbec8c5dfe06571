#pragma once

#include <ebb/core/ops/index_kernels.h>

// The members of IndexKernels whose results are as long as the data say.

namespace ebb::cuda {

int64_t start_nonzero(const TensorIterator& iterator, int64_t piece, int64_t* starts);
void masked_select(const TensorIterator& iterator, int64_t piece, const int64_t* starts, void* out);
void nonzero(const TensorIterator& iterator, int64_t piece, const int64_t* starts,
             IntArrayRef sizes, int64_t* out);

}  // namespace ebb::cuda
