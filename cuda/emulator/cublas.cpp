#include <ebb/cuda/emulator/cublas_api.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <ebb/core/error.h>
#include <ebb/cuda/emulator/call.h>
#include <ebb/cuda/emulator/cublas_gemm.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/report.h>

using ebb::cuda::emulator::Call;
using ebb::cuda::emulator::Gemm;

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};

namespace ebb::cuda::emulator {

namespace {

cublasStatus_t status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
      return CUBLAS_STATUS_ALLOC_FAILED;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    case cudaErrorInvalidValue:
      return CUBLAS_STATUS_INVALID_VALUE;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

struct StatusText {
  cublasStatus_t status;
  const char* name;
  const char* text;
};

const StatusText& text_of(cublasStatus_t status) {
  static constexpr StatusText kTexts[] = {
      {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
      {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
       "the library was not initialized"},
      {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
      {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
       "an invalid numerical value was used as an argument"},
      {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
       "an absent device architectural feature is required"},
      {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
       "an access to GPU memory space failed"},
      {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
       "the GPU program failed to execute"},
      {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR",
       "an internal operation failed"},
      {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
       "the functionality requested is not supported"},
      {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "a licence is missing"},
  };
  for (const StatusText& known : kTexts) {
    if (known.status == status) return known;
  }
  static constexpr StatusText kUnknown = {CUBLAS_STATUS_INTERNAL_ERROR, "unknown status",
                                          "unknown status"};
  return kUnknown;
}

/// The matrices of a batch: at distances in bytes, or at addresses in device memory.
struct Matrices {
  const char* data;
  int64_t stride = 0;
  const void* const* addresses = nullptr;

  [[nodiscard]] char* operator[](int64_t i) const {
    const void* at = addresses == nullptr ? data + i * stride : addresses[i];
    return static_cast<char*>(const_cast<void*>(at));
  }
};

bool is_supported(const Gemm& g) {
  const bool is_half = g.factor_type == CUDA_R_16F || g.factor_type == CUDA_R_16BF;
  switch (g.compute) {
    case CUBLAS_COMPUTE_16F:
      return g.factor_type == CUDA_R_16F && g.result_type == CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
      return g.factor_type == CUDA_R_64F && g.result_type == CUDA_R_64F;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return g.factor_type == CUDA_R_32F && g.result_type == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F:
      return (is_half && (g.result_type == g.factor_type || g.result_type == CUDA_R_32F)) ||
             (g.factor_type == CUDA_R_32F && g.result_type == CUDA_R_32F);
  }
  return false;
}

bool has_valid_sizes(const Gemm& g, int64_t batch) {
  const int64_t a_rows = g.transa == CUBLAS_OP_N ? g.m : g.k;
  const int64_t b_rows = g.transb == CUBLAS_OP_N ? g.k : g.n;
  return g.m >= 0 && g.n >= 0 && g.k >= 0 && batch >= 0 && g.lda >= std::max<int64_t>(1, a_rows) &&
         g.ldb >= std::max<int64_t>(1, b_rows) && g.ldc >= std::max<int64_t>(1, g.m);
}

bool is_aligned(const void* data, size_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

/// Bytes from the first element of a matrix stored by columns to the end of its last.
size_t extent(int64_t rows, int64_t columns, int64_t ld, cudaDataType type) {
  return static_cast<size_t>((columns - 1) * ld + rows) * size_of(type);
}

/// Whether a matrix lies in one live allocation of the device; if not, that is reported.
bool check_matrix(const char* name, const char* function, const Gemm& g, int device,
                  const char* data, size_t bytes) {
  const size_t element = name[0] == 'C' ? size_of(g.result_type) : size_of(g.factor_type);
  const MemoryInfo memory = find_memory(data);
  const bool is_live = memory.type == cudaMemoryTypeHost ||
                       (memory.type == cudaMemoryTypeDevice && memory.device == device);
  if (is_live && is_aligned(data, element) && data + bytes <= memory.begin + memory.bytes) {
    return true;
  }
  std::string where = describe_address(is_live ? memory.begin + memory.bytes : data);
  if (where.empty()) where = "it is not memory of the device";
  report(
      ebb::detail::concat("matrix ", name, " of ", bytes, " bytes at ",
                          static_cast<const void*>(data), " in ", function, " (m ", g.m, ", n ",
                          g.n, ", k ", g.k, ") on device ", device, ": ", where),
      is_live && !is_aligned(data, element) ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress);
  return false;
}

/// A product that was asked for, with what the handle said then.
struct Work {
  const char* function;
  Gemm gemm;
  Matrices a;
  Matrices b;
  Matrices c;
  int64_t batch;
  const void* device_alpha;  ///< null in host pointer mode
  const void* device_beta;
  int device;
  void* workspace;
  size_t workspace_bytes;

  bool check(const char* a_data, const char* b_data, const char* c_data) const {
    const Gemm& g = gemm;
    const bool reads = g.k > 0 && g.alpha != 0;
    const auto [a_rows, a_columns] =
        g.transa == CUBLAS_OP_N ? std::pair(g.m, g.k) : std::pair(g.k, g.m);
    const auto [b_rows, b_columns] =
        g.transb == CUBLAS_OP_N ? std::pair(g.k, g.n) : std::pair(g.n, g.k);
    return (!reads || (check_matrix("A", function, g, device, a_data,
                                    extent(a_rows, a_columns, g.lda, g.factor_type)) &&
                       check_matrix("B", function, g, device, b_data,
                                    extent(b_rows, b_columns, g.ldb, g.factor_type)))) &&
           check_matrix("C", function, g, device, c_data, extent(g.m, g.n, g.ldc, g.result_type));
  }

  void operator()() {
    if (device_alpha != nullptr) gemm.alpha = read_scalar(device_alpha, gemm.compute);
    if (device_beta != nullptr) gemm.beta = read_scalar(device_beta, gemm.compute);
    // What lies in the workspace is lost, as where cuBLAS uses it.
    if (workspace != nullptr) std::memset(workspace, 0xff, std::min<size_t>(workspace_bytes, 1024));
    for (int64_t i = 0; i < batch; ++i) {
      if (!check(a[i], b[i], c[i])) return;
      run(gemm, a[i], b[i], c[i]);
    }
  }
};

/// Checks a product as cuBLAS does and queues it.
cublasStatus_t ask(const char* function, cublasHandle_t handle, Gemm gemm, const void* alpha,
                   const void* beta, cudaDataType b_type, const Matrices& a, const Matrices& b,
                   const Matrices& c, int64_t batch) {
  const Call call(function);
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (call.failed()) return status_of(call.error());
  if (!has_valid_sizes(gemm, batch)) return CUBLAS_STATUS_INVALID_VALUE;
  if (b_type != gemm.factor_type || !is_supported(gemm)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (gemm.m == 0 || gemm.n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // The stream and the workspace belong to another device.
  if (handle->device != current_device()) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (handle->math == CUBLAS_TF32_TENSOR_OP_MATH && gemm.compute == CUBLAS_COMPUTE_32F) {
    gemm.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  const bool on_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (on_host) {
    gemm.alpha = read_scalar(alpha, gemm.compute);
    gemm.beta = read_scalar(beta, gemm.compute);
  }
  return status_of(enqueue(
      handle->stream,
      Work{function, gemm, a, b, c, batch, on_host ? nullptr : alpha, on_host ? nullptr : beta,
           handle->device, handle->workspace, handle->workspace_bytes}));
}

const char* bytes_of(const void* data) { return static_cast<const char*>(data); }

}  // namespace
}  // namespace ebb::cuda::emulator

using namespace ebb::cuda::emulator;

const char* cublasGetStatusName(cublasStatus_t status) { return text_of(status).name; }
const char* cublasGetStatusString(cublasStatus_t status) { return text_of(status).text; }

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  const Call call("cublasCreate");
  if (call.failed()) return status_of(call.error());
  *handle = new cublasContext{.device = current_device()};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const Call call("cublasDestroy");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  const Call call("cublasSetStream");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (call.failed()) return status_of(call.error());
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  const Call call("cublasSetWorkspace");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (call.failed()) return status_of(call.error());
  if (!is_aligned(workspace, 256)) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  const Call call("cublasSetMathMode");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (call.failed()) return status_of(call.error());
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  const Call call("cublasSetPointerMode");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (call.failed()) return status_of(call.error());
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* A, cudaDataType Atype, int64_t lda,
                               const void* B, cudaDataType Btype, int64_t ldb, const void* beta,
                               void* C, cudaDataType Ctype, int64_t ldc,
                               cublasComputeType_t computeType, cublasGemmAlgo_t) {
  const Gemm gemm{transa, transb, m, n, k, Atype, lda, ldb, Ctype, ldc, computeType};
  return ask("cublasGemmEx", handle, gemm, alpha, beta, Btype, {bytes_of(A)}, {bytes_of(B)},
             {bytes_of(C)}, 1);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType Atype, int64_t lda, long long strideA,
    const void* B, cudaDataType Btype, int64_t ldb, long long strideB, const void* beta, void* C,
    cudaDataType Ctype, int64_t ldc, long long strideC, int64_t batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t) {
  const Gemm gemm{transa, transb, m, n, k, Atype, lda, ldb, Ctype, ldc, computeType};
  const auto factor = static_cast<int64_t>(size_of(Atype));
  const auto result = static_cast<int64_t>(size_of(Ctype));
  return ask("cublasGemmStridedBatchedEx", handle, gemm, alpha, beta, Btype,
             {bytes_of(A), strideA * factor}, {bytes_of(B), strideB * factor},
             {bytes_of(C), strideC * result}, batchCount);
}

cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                      cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                      const void* alpha, const void* const Aarray[],
                                      cudaDataType Atype, int64_t lda, const void* const Barray[],
                                      cudaDataType Btype, int64_t ldb, const void* beta,
                                      void* const Carray[], cudaDataType Ctype, int64_t ldc,
                                      int64_t batchCount, cublasComputeType_t computeType,
                                      cublasGemmAlgo_t) {
  const Gemm gemm{transa, transb, m, n, k, Atype, lda, ldb, Ctype, ldc, computeType};
  return ask("cublasGemmBatchedEx", handle, gemm, alpha, beta, Btype, {nullptr, 0, Aarray},
             {nullptr, 0, Barray}, {nullptr, 0, Carray}, batchCount);
}
