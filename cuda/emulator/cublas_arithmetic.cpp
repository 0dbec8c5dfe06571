#include <ebb/cuda/emulator/cublas_arithmetic.h>

namespace ebb::cuda::emulator {

namespace {

// Few enough sums to stay in the registers of any CPU.
constexpr int kRows = 8;
constexpr int kColumns = 4;

template <typename T>
void multiply(int depth, const T* a, const T* b, T* sums) {
  for (int j = 0; j < kBlockLines; j += kColumns) {
    for (int i = 0; i < kBlockLines; i += kRows) {
      T tile[kColumns][kRows];
      for (int c = 0; c < kColumns; ++c) {
        for (int r = 0; r < kRows; ++r) tile[c][r] = sums[(j + c) * kBlockLines + i + r];
      }
      for (int p = 0; p < depth; ++p) {
        for (int c = 0; c < kColumns; ++c) {
          const T factor = b[p * kBlockLines + j + c];
          for (int r = 0; r < kRows; ++r) tile[c][r] += a[p * kBlockLines + i + r] * factor;
        }
      }
      for (int c = 0; c < kColumns; ++c) {
        for (int r = 0; r < kRows; ++r) sums[(j + c) * kBlockLines + i + r] = tile[c][r];
      }
    }
  }
}

}  // namespace

void multiply_blocks(int depth, const float* a, const float* b, float* sums) {
  multiply(depth, a, b, sums);
}
void multiply_blocks(int depth, const double* a, const double* b, double* sums) {
  multiply(depth, a, b, sums);
}

}  // namespace ebb::cuda::emulator
