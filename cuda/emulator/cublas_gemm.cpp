#include <ebb/cuda/emulator/cublas_gemm.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include <ebb/core/half.h>
#include <ebb/cuda/emulator/cublas_arithmetic.h>

namespace ebb::cuda::emulator {

namespace {

/// A factor as lines along k: rows of op(A) or columns of op(B).
template <typename S>
struct Lines {
  const S* data;
  int64_t line_stride;
  int64_t k_stride;
};

/// The nearest number with ten bits of mantissa, ties to even: what tensor cores read.
float round_to_tf32(float x) {
  auto bits = __builtin_bit_cast(uint32_t, x);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0xfffu + ((bits >> 13) & 1u);
  return __builtin_bit_cast(float, bits & ~0x1fffu);
}

template <typename S, typename T>
void pack(const Lines<S>& from, int64_t first, int64_t lines, int64_t k, int depth, bool tf32,
          T* to) {
  std::fill(to, to + depth * kBlockLines, T{0});
  for (int p = 0; p < depth; ++p) {
    const S* element = from.data + first * from.line_stride + (k + p) * from.k_stride;
    for (int64_t i = 0; i < lines; ++i, element += from.line_stride) {
      const auto x = static_cast<T>(*element);
      to[p * kBlockLines + i] = tf32 ? static_cast<T>(round_to_tf32(static_cast<float>(x))) : x;
    }
  }
}

template <typename S, typename R, typename T>
void run_as(const Gemm& g, const S* a, const S* b, R* c) {
  const Lines<S> rows = g.transa == CUBLAS_OP_N ? Lines<S>{a, 1, g.lda} : Lines<S>{a, g.lda, 1};
  const Lines<S> columns = g.transb == CUBLAS_OP_N ? Lines<S>{b, g.ldb, 1} : Lines<S>{b, 1, g.ldb};
  const bool tf32 = g.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && std::is_same_v<S, float>;
  const auto alpha = static_cast<T>(g.alpha);
  const auto beta = static_cast<T>(g.beta);
  struct Buffers {
    T a[kBlockLines * kBlockDepth];
    T b[kBlockLines * kBlockDepth];
    T sums[kBlockLines * kBlockLines];
  };
  const auto buffers = std::make_unique<Buffers>();
  for (int64_t j = 0; j < g.n; j += kBlockLines) {
    const int64_t across = std::min<int64_t>(kBlockLines, g.n - j);
    for (int64_t i = 0; i < g.m; i += kBlockLines) {
      const int64_t down = std::min<int64_t>(kBlockLines, g.m - i);
      std::fill(std::begin(buffers->sums), std::end(buffers->sums), T{0});
      // As in BLAS, alpha = 0 does not read the factors.
      for (int64_t k = 0; k < g.k && alpha != T{0}; k += kBlockDepth) {
        const int depth = static_cast<int>(std::min<int64_t>(kBlockDepth, g.k - k));
        pack(rows, i, down, k, depth, tf32, buffers->a);
        pack(columns, j, across, k, depth, tf32, buffers->b);
        multiply_blocks(depth, buffers->a, buffers->b, buffers->sums);
      }
      for (int64_t y = 0; y < across; ++y) {
        for (int64_t x = 0; x < down; ++x) {
          R& out = c[(j + y) * g.ldc + i + x];
          T result = alpha * buffers->sums[y * kBlockLines + x];
          if (beta != T{0}) result += beta * static_cast<T>(out);
          out = static_cast<R>(result);
        }
      }
    }
  }
}

template <typename S>
void run_half(const Gemm& g, const void* a, const void* b, void* c) {
  if (g.result_type == CUDA_R_32F) {
    run_as<S, float, float>(g, static_cast<const S*>(a), static_cast<const S*>(b),
                            static_cast<float*>(c));
  } else {
    run_as<S, S, float>(g, static_cast<const S*>(a), static_cast<const S*>(b), static_cast<S*>(c));
  }
}

}  // namespace

size_t size_of(cudaDataType type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }

void run(const Gemm& g, const void* a, const void* b, void* c) {
  switch (g.factor_type) {
    case CUDA_R_16F:
      return run_half<Half>(g, a, b, c);
    case CUDA_R_16BF:
      return run_half<BFloat16>(g, a, b, c);
    case CUDA_R_64F:
      return run_as<double, double, double>(g, static_cast<const double*>(a),
                                            static_cast<const double*>(b), static_cast<double*>(c));
    case CUDA_R_32F:
      return run_as<float, float, float>(g, static_cast<const float*>(a),
                                         static_cast<const float*>(b), static_cast<float*>(c));
  }
}

double read_scalar(const void* data, cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_64F: {
      return *static_cast<const double*>(data);
    }
    case CUBLAS_COMPUTE_16F:
      return static_cast<float>(*static_cast<const Half*>(data));
    default:
      return static_cast<double>(*static_cast<const float*>(data));
  }
}

}  // namespace ebb::cuda::emulator
