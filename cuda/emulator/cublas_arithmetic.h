#pragma once

#include <cstdint>

namespace ebb::cuda::emulator {

// Blocks of the factors of a product, packed: kBlockLines rows of A or columns of B, kBlockDepth
// elements deep, those of one depth adjacent. What is missing at the edges is zero.
inline constexpr int kBlockLines = 64;
inline constexpr int kBlockDepth = 256;

/// sums[j * kBlockLines + i] += the sum over p < depth of a[p * kBlockLines + i] times
/// b[p * kBlockLines + j]. In a file that is never sanitized, since all of the time goes there.
void multiply_blocks(int depth, const float* a, const float* b, float* sums);
void multiply_blocks(int depth, const double* a, const double* b, double* sums);

}  // namespace ebb::cuda::emulator
