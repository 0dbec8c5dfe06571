#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include <ebb/core/cpu/capability.h>

// The innermost part of a matrix product: a tile of kRows x kColumns results stays in registers
// while it runs along k (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008).

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::type;

template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

/// Rows of a tile: with two vectors of columns it fills the registers but a few (32 of AVX-512 and
/// arm64, 16 otherwise).
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif
template <typename T>
constexpr int kTileColumns = 2 * kLanes<T>;

/// a * b + c in each lane, rounded once where the CPU can.
template <typename T>
__attribute__((always_inline)) inline Vector<T> multiply_add(Vector<T> a, Vector<T> b,
                                                             Vector<T> c) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
  if constexpr (std::is_same_v<T, double>) return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  if constexpr (std::is_same_v<T, float>) return _mm256_fmadd_ps(a, b, c);
  if constexpr (std::is_same_v<T, double>) return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<T, float>) return vfmaq_f32(c, a, b);
  if constexpr (std::is_same_v<T, double>) return vfmaq_f64(c, a, b);
#endif
  return a * b + c;
}

template <typename T>
__attribute__((always_inline)) inline Vector<T> repeat(T x) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_set1_ps(x);
  if constexpr (std::is_same_v<T, double>) return _mm512_set1_pd(x);
#endif
  Vector<T> result;
  for (int lane = 0; lane < kLanes<T>; ++lane) result[lane] = x;
  return result;
}

/// tile[i][j] = sum over p of a[p][i] * b[p][j] for the first `rows` rows, where the rows of `a`
/// are kTileRows long and those of `b` and `tile` kTileColumns<T>. `b` and `tile` are aligned to a
/// vector.
template <int rows, typename T>
void multiply_rows(int64_t k, const T* a, const T* b, T* tile) {
  constexpr int lanes = kLanes<T>;
  Vector<T> sums[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    sums[i][0] = Vector<T>{};
    sums[i][1] = Vector<T>{};
  }
  for (int64_t p = 0; p < k; ++p) {
    const auto* row = reinterpret_cast<const Vector<T>*>(b);
    const Vector<T> left = row[0];
    const Vector<T> right = row[1];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector<T> factor = repeat(a[i]);
      sums[i][0] = multiply_add<T>(factor, left, sums[i][0]);
      sums[i][1] = multiply_add<T>(factor, right, sums[i][1]);
    }
    a += kTileRows;
    b += 2 * lanes;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto* row = reinterpret_cast<Vector<T>*>(tile + i * 2 * lanes);
    row[0] = sums[i][0];
    row[1] = sums[i][1];
  }
}

/// The same for any number of rows: rounded up to a third of a tile.
template <typename T>
void multiply_tile(int64_t k, int64_t rows, const T* a, const T* b, T* tile) {
  constexpr int third = kTileRows / 3;
  if (rows <= third) return multiply_rows<third>(k, a, b, tile);
  if (rows <= 2 * third) return multiply_rows<2 * third>(k, a, b, tile);
  multiply_rows<kTileRows>(k, a, b, tile);
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
