#pragma once

#include <cstddef>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/cuda/emulator/runtime_api.h>

// The part of cuBLAS that ebb uses, with cuBLAS's names, values and meaning: products run on the
// handle's stream, matrices are stored by columns, scalars are read at the call unless the handle
// is in device pointer mode, and where beta is zero C is not read.

/// Opaque, as in cuBLAS. Bound to the device that was current when it was made.
struct cublasContext;
using cublasHandle_t = cublasContext*;

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};

enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };

enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};

enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};

enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };

enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
};
using cudaDataType = cudaDataType_t;

EBB_API const char* cublasGetStatusName(cublasStatus_t status);
EBB_API const char* cublasGetStatusString(cublasStatus_t status);

EBB_API cublasStatus_t cublasCreate(cublasHandle_t* handle);
EBB_API cublasStatus_t cublasDestroy(cublasHandle_t handle);
/// Takes the handle's workspace away, as cuBLAS does.
EBB_API cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
/// `workspace`: device memory, a multiple of 256 in its address.
EBB_API cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
EBB_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
EBB_API cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);

/// C = alpha op(A) op(B) + beta C, where op(A) is m x k and op(B) k x n.
EBB_API cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                       cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                       const void* alpha, const void* A, cudaDataType Atype,
                                       int64_t lda, const void* B, cudaDataType Btype, int64_t ldb,
                                       const void* beta, void* C, cudaDataType Ctype, int64_t ldc,
                                       cublasComputeType_t computeType, cublasGemmAlgo_t algo);
/// The same for a batch of matrices at the given distances, in elements.
EBB_API cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType Atype, int64_t lda, long long strideA,
    const void* B, cudaDataType Btype, int64_t ldb, long long strideB, const void* beta, void* C,
    cudaDataType Ctype, int64_t ldc, long long strideC, int64_t batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo);
/// The same for a batch of matrices at the addresses in three arrays in device memory.
EBB_API cublasStatus_t cublasGemmBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* const Aarray[], cudaDataType Atype, int64_t lda,
    const void* const Barray[], cudaDataType Btype, int64_t ldb, const void* beta,
    void* const Carray[], cudaDataType Ctype, int64_t ldc, int64_t batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo);
