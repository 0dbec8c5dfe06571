#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ebb/core/ops/functors/functor.h>

// The arithmetic of the reductions that fold one element after another. Elements are folded with
// `step` in the compute type T over short blocks; the blocks are merged in State, which is double
// for floats, so that the rounding error of a sum does not grow with its length.
//
//   identity()   what a block starts from
//   step(a, x)   a block with one more element
//   merge(a, b)  two runs of blocks
//   finish(s, n) the result for n elements

namespace ebb::functors {

template <typename T>
using ReduceState = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

template <typename T>
struct SumFold {
  using State = ReduceState<T>;
  EBB_INLINE explicit SumFold(double) {}
  EBB_INLINE static T identity() { return T{0}; }
  EBB_INLINE T step(T a, T x) const { return add(a, x); }
  EBB_INLINE static State merge(State a, State b) { return add(a, b); }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(s); }
};

template <typename T>
struct MeanFold : SumFold<T> {
  using State = ReduceState<T>;
  using SumFold<T>::SumFold;
  EBB_INLINE T finish(State s, int64_t n) const {
    return static_cast<T>(static_cast<double>(s) / static_cast<double>(n));
  }
};

template <typename T>
struct ProdFold {
  using State = ReduceState<T>;
  EBB_INLINE explicit ProdFold(double) {}
  EBB_INLINE static T identity() { return T{1}; }
  EBB_INLINE T step(T a, T x) const { return multiply(a, x); }
  EBB_INLINE static State merge(State a, State b) { return multiply(a, b); }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(s); }
};

/// The larger of two; NaN wins. Two selections without a branch, so that loops vectorise.
template <typename T>
EBB_INLINE T larger(T a, T x) {
  const T number = x > a ? x : a;
  return is_nan(x) ? x : number;
}

/// The smaller of two; NaN wins.
template <typename T>
EBB_INLINE T smaller(T a, T x) {
  const T number = x < a ? x : a;
  return is_nan(x) ? x : number;
}

/// NaN wins.
template <typename T>
struct MaxFold {
  using State = ReduceState<T>;
  EBB_INLINE explicit MaxFold(double) {}
  EBB_INLINE static T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                                 : -std::numeric_limits<T>::infinity();
  }
  EBB_INLINE T step(T a, T x) const { return larger(a, x); }
  EBB_INLINE static State merge(State a, State b) { return larger(a, b); }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(s); }
};

/// NaN wins.
template <typename T>
struct MinFold {
  using State = ReduceState<T>;
  EBB_INLINE explicit MinFold(double) {}
  EBB_INLINE static T identity() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::max()
                                 : std::numeric_limits<T>::infinity();
  }
  EBB_INLINE T step(T a, T x) const { return smaller(a, x); }
  EBB_INLINE static State merge(State a, State b) { return smaller(a, b); }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(s); }
};

/// 1 if no element is zero, else 0.
template <typename T>
struct AllFold : MinFold<T> {
  using MinFold<T>::MinFold;
  EBB_INLINE static T identity() { return T{1}; }
  EBB_INLINE T step(T a, T x) const { return x != T{0} ? a : T{0}; }
};

/// 1 if some element is not zero, else 0.
template <typename T>
struct AnyFold : MaxFold<T> {
  using MaxFold<T>::MaxFold;
  EBB_INLINE static T identity() { return T{0}; }
  EBB_INLINE T step(T a, T x) const { return x != T{0} ? T{1} : a; }
};

template <typename T>
struct CountNonzeroFold : SumFold<T> {
  using SumFold<T>::SumFold;
  EBB_INLINE T step(T a, T x) const { return add(a, x != T{0} ? T{1} : T{0}); }
};

template <typename T>
struct SumAbsFold : SumFold<T> {
  using SumFold<T>::SumFold;
  EBB_INLINE T step(T a, T x) const { return a + std::fabs(x); }
};

template <typename T>
struct Norm2Fold : SumFold<T> {
  using State = ReduceState<T>;
  using SumFold<T>::SumFold;
  EBB_INLINE T step(T a, T x) const { return a + x * x; }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(std::sqrt(s)); }
};

template <typename T>
struct NormPFold : SumFold<T> {
  using State = ReduceState<T>;
  EBB_INLINE explicit NormPFold(double p) : SumFold<T>(p), p(p) {}
  EBB_INLINE T step(T a, T x) const { return a + std::pow(std::fabs(x), static_cast<T>(p)); }
  EBB_INLINE T finish(State s, int64_t) const { return static_cast<T>(std::pow(s, 1 / p)); }
  double p;
};

template <typename T>
struct MaxAbsFold : MaxFold<T> {
  using MaxFold<T>::MaxFold;
  EBB_INLINE static T identity() { return T{0}; }
  EBB_INLINE T step(T a, T x) const { return MaxFold<T>::step(a, std::fabs(x)); }
};

template <typename T>
struct MinAbsFold : MinFold<T> {
  using MinFold<T>::MinFold;
  EBB_INLINE T step(T a, T x) const { return MinFold<T>::step(a, std::fabs(x)); }
};

}  // namespace ebb::functors
