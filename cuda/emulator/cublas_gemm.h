#pragma once

#include <cstdint>

#include <ebb/cuda/emulator/cublas_api.h>

namespace ebb::cuda::emulator {

/// One product as cuBLAS is asked for it.
struct Gemm {
  cublasOperation_t transa;
  cublasOperation_t transb;
  int64_t m;
  int64_t n;
  int64_t k;
  cudaDataType factor_type;
  int64_t lda;
  int64_t ldb;
  cudaDataType result_type;
  int64_t ldc;
  cublasComputeType_t compute;
  double alpha = 1;
  double beta = 0;
};

/// Bytes of an element.
size_t size_of(cudaDataType type);

/// Computes c. Every element that is read or written is touched by instrumented code, so that a
/// sanitizer sees what lies outside of live memory.
void run(const Gemm& gemm, const void* a, const void* b, void* c);

/// The scalar at `data`, which is of the type that `compute` computes in.
double read_scalar(const void* data, cublasComputeType_t compute);

}  // namespace ebb::cuda::emulator
