#include <limits>
#include <vector>

#include <ebb/core/half.h>
#include <ebb/cuda/emulator.h>
#include <ebb/cuda/runtime/cublas_api.h>

#include "catch.h"

using namespace ebb;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Numbers in device memory.
template <typename T>
class Numbers {
 public:
  explicit Numbers(const std::vector<T>& numbers) : count_(numbers.size()) {
    REQUIRE(cudaMalloc(&data_, count_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, numbers.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  ~Numbers() { static_cast<void>(cudaFree(data_)); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> result(count_);
    REQUIRE(cudaMemcpy(result.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return result;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

struct Blas {
  cublasHandle_t handle = nullptr;
  Blas() {
    cuda::emulator::enable();
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  }
  ~Blas() { cublasDestroy(handle); }

  /// A float32 product of 2 x 2 matrices with these leading dimensions.
  cublasStatus_t multiply(const float* a, const float* b, float* c, const float* alpha,
                          const float* beta, int64_t lda = 2, int64_t ldc = 2) const {
    return cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, alpha, a, CUDA_R_32F, lda, b,
                           CUDA_R_32F, 2, beta, c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT);
  }
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("The emulated cuBLAS reads alpha and beta at the call, and C only where beta is not 0",
          "[emulator][cublas]") {
  const Blas blas;
  const Numbers<float> a({1, 2, 3, 4});  // columns (1, 2) and (3, 4)
  const Numbers<float> b({5, 6, 7, 8});  // its transpose: rows (5, 6) and (7, 8)
  const Numbers<float> c({kNan, kNan, kNan, kNan});
  float alpha = 2;
  float beta = 0;
  CHECK(blas.multiply(a.data(), b.data(), c.data(), &alpha, &beta) == CUBLAS_STATUS_SUCCESS);
  alpha = beta = kNan;
  CHECK(c.read() == std::vector<float>{52, 76, 60, 88});
  alpha = 1;
  beta = 1;
  CHECK(blas.multiply(a.data(), b.data(), c.data(), &alpha, &beta) == CUBLAS_STATUS_SUCCESS);
  CHECK(c.read() == std::vector<float>{78, 114, 90, 132});
  // alpha = 0 does not read the factors.
  const Numbers<float> nan({kNan, kNan, kNan, kNan});
  alpha = 0;
  CHECK(blas.multiply(nan.data(), nan.data(), c.data(), &alpha, &beta) == CUBLAS_STATUS_SUCCESS);
  CHECK(c.read() == std::vector<float>{78, 114, 90, 132});
}

TEST_CASE("The emulated cuBLAS reads scalars on the device where it is told to",
          "[emulator][cublas]") {
  const Blas blas;
  const Numbers<float> a({1, 0, 0, 1});
  const Numbers<float> c({1, 1, 1, 1});
  const Numbers<float> scalars({3, 2});
  REQUIRE(cublasSetPointerMode(blas.handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  CHECK(blas.multiply(a.data(), a.data(), c.data(), scalars.data(), scalars.data() + 1) ==
        CUBLAS_STATUS_SUCCESS);
  CHECK(c.read() == std::vector<float>{5, 2, 2, 5});
}

TEST_CASE("The emulated cuBLAS takes half scalars where it computes in half",
          "[emulator][cublas]") {
  const Blas blas;
  const Numbers<Half> a({1.0f, 2.0f, 3.0f, 4.0f});
  const Numbers<Half> one({1.0f, 0.0f, 0.0f, 1.0f});
  const Numbers<Half> c({0.0f, 0.0f, 0.0f, 0.0f});
  const Half alpha(0.5f);
  const Half beta(0.0f);
  CHECK(cublasGemmEx_64(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a.data(),
                        CUDA_R_16F, 2, one.data(), CUDA_R_16F, 2, &beta, c.data(), CUDA_R_16F, 2,
                        CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const std::vector<Half> result = c.read();
  for (size_t i = 0; i < 4; ++i) CHECK(static_cast<float>(result[i]) == 0.5f * (i + 1));
}

TEST_CASE("The emulated cuBLAS refuses what cuBLAS refuses", "[emulator][cublas]") {
  const Blas blas;
  const Numbers<float> a({1, 2, 3, 4});
  const float one = 1;
  float* const m = a.data();
  CHECK(blas.multiply(m, m, m, &one, &one, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(blas.multiply(m, m, m, &one, &one, 2, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetWorkspace(blas.handle, m + 1, 8) == CUBLAS_STATUS_INVALID_VALUE);
  const auto typed = [&](cudaDataType a_type, cudaDataType b_type, cudaDataType c_type,
                         cublasComputeType_t compute) {
    return cublasGemmEx_64(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, m, a_type, 1, m,
                           b_type, 1, &one, m, c_type, 1, compute, CUBLAS_GEMM_DEFAULT);
  };
  CHECK(typed(CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F) ==
        CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(typed(CUDA_R_32F, CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F) ==
        CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(typed(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_64F) ==
        CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(cublasSetStream(nullptr, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE)) ==
        "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_CASE("A matrix beyond its memory is reported, with its sizes and where it lies",
          "[emulator][cublas]") {
  const Blas blas;
  const Numbers<float> a({1, 2, 3, 4});
  const Numbers<float> small({1, 2, 3});
  const float one = 1;
  cuda::emulator::set_print_reports(false);
  CHECK(blas.multiply(a.data(), small.data(), a.data(), &one, &one) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  std::vector<std::string> reports = cuda::emulator::recover();
  REQUIRE(reports.size() == 1);
  CHECK_THAT(reports[0], ContainsSubstring("matrix B of 16 bytes") &&
                             ContainsSubstring("cublasGemmEx (m 2, n 2, k 2)"));
  float on_host[4] = {};
  CHECK(blas.multiply(a.data(), on_host, a.data(), &one, &one) == CUBLAS_STATUS_SUCCESS);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  reports = cuda::emulator::recover();
  REQUIRE(reports.size() == 1);
  CHECK_THAT(reports[0], ContainsSubstring("matrix B"));
  cuda::emulator::set_print_reports(true);
}
