#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <ebb/core/ops/functors/math.h>
#include <ebb/core/ops/functors/reduce.h>
#include <ebb/core/ops/reduce_kernels.h>
#include <ebb/cuda/kernels/lines.h>

// The reductions as the device runs them. A reducer has
//
//   State                    what is known of some of the elements
//   identity()               of none
//   merge(a, b)              of both
//   reduce(source, team, p)  of the elements that the team walks over: all members get it
//   finish(state, n, p)      the result for n elements, p the op's parameter
//
// where source.for_each(f) calls f(x, i, at) with the elements of the calling thread, their numbers
// and where they are.

namespace ebb::cuda {

/// What folds one element after another (functors/reduce.h): in T over short blocks, in State over
/// those.
template <typename Fold, typename T>
struct FoldReducer {
  using State = typename Fold::State;

  struct Merge {
    __device__ __forceinline__ State operator()(State a, State b) const {
      return Fold::merge(a, b);
    }
  };
  __device__ __forceinline__ static State identity() {
    return static_cast<State>(Fold::identity());
  }
  template <typename Source>
  __device__ __forceinline__ static State reduce(const Source& source, const Team& team,
                                                 double parameter) {
    constexpr int kBlock = 32;
    const Fold op(parameter);
    State state = identity();
    T block = Fold::identity();
    int count = 0;
    source.for_each([&](T x, int64_t, int64_t) {
      block = op.step(block, x);
      if (++count < kBlock) return;
      state = Fold::merge(state, static_cast<State>(block));
      block = Fold::identity();
      count = 0;
    });
    return team.reduce(Fold::merge(state, static_cast<State>(block)), Merge(), identity());
  }
  __device__ __forceinline__ static T finish(State state, int64_t count, double parameter) {
    return Fold(parameter).finish(state, count);
  }
};

struct VarState {
  double count;
  double mean;
  double squares;  ///< sum (x - mean)^2
};

/// Mean and squared deviations in two passes, merged as in Chan, Golub and LeVeque, "Updating
/// formulae and a pairwise algorithm for computing sample variances" (1979).
template <typename T, bool kRoot>
struct VarReducer {
  using State = VarState;
  struct Deviations {
    double squares;
    double rest;  ///< sum of deviations: what rounding took from the mean
  };

  struct Merge {
    __device__ __forceinline__ State operator()(const State& a, const State& b) const {
      if (b.count == 0) return a;
      if (a.count == 0) return b;
      const double count = a.count + b.count;
      const double delta = b.mean - a.mean;
      return {count, a.mean + delta * (b.count / count),
              a.squares + b.squares + delta * delta * (a.count * b.count / count)};
    }
  };
  __device__ __forceinline__ static State identity() { return {0, 0, 0}; }
  template <typename Source>
  __device__ __forceinline__ static State reduce(const Source& source, const Team& team, double) {
    const auto count = static_cast<double>(source.count());
    BlockedSum<T> sum;
    source.for_each([&](T x, int64_t, int64_t) { sum.add(x); });
    const T mean = static_cast<T>(team.reduce(sum.total(), Plus(), 0.0) / count);
    BlockedSum<T> squares;
    BlockedSum<T> rest;
    source.for_each([&](T x, int64_t, int64_t) {
      const T deviation = x - mean;
      squares.add(deviation * deviation);
      rest.add(deviation);
    });
    const auto plus = [](const Deviations& a, const Deviations& b) {
      return Deviations{a.squares + b.squares, a.rest + b.rest};
    };
    const Deviations all =
        team.reduce(Deviations{squares.total(), rest.total()}, plus, Deviations{0, 0});
    if (count == 0) return identity();
    const double shift = all.rest / count;
    const double around = all.squares - shift * shift * count;
    return {count, static_cast<double>(mean) + shift, around < 0 ? 0 : around};
  }
  __device__ __forceinline__ static T finish(const State& state, int64_t count, double correction) {
    const double divisor = static_cast<double>(count) - correction;
    const double variance = state.squares / (divisor > 0 ? divisor : 0);
    return static_cast<T>(kRoot ? std::sqrt(variance) : variance);
  }
};

/// The largest element and the sum of exp(x - largest); an infinite largest element counts as 0.
template <typename T>
struct LogSumExpReducer {
  struct State {
    double largest;
    double sum;
  };

  template <typename U>
  __device__ __forceinline__ static U finite(U x) {
    return std::fabs(x) == std::numeric_limits<U>::infinity() ? U{0} : x;
  }
  struct Merge {
    __device__ __forceinline__ State operator()(const State& a, const State& b) const {
      if (a.sum == 0) return b;  // nothing yet, or nothing but -inf
      if (b.sum == 0) return a;
      const double largest = functors::larger(a.largest, b.largest);
      const double shift = finite(largest);
      return {largest, a.sum * std::exp(finite(a.largest) - shift) +
                           b.sum * std::exp(finite(b.largest) - shift)};
    }
  };
  __device__ __forceinline__ static State identity() {
    return {-std::numeric_limits<double>::infinity(), 0};
  }
  template <typename Source>
  __device__ __forceinline__ static State reduce(const Source& source, const Team& team, double) {
    T most = functors::MaxFold<T>::identity();
    source.for_each([&](T x, int64_t, int64_t) { most = functors::larger(most, x); });
    const auto larger = [](T a, T b) { return functors::larger(a, b); };
    const T largest = team.reduce(most, larger, functors::MaxFold<T>::identity());
    const T shift = finite(largest);
    BlockedSum<T> sum;
    source.for_each([&](T x, int64_t, int64_t) { sum.add(functors::math::exp(x - shift)); });
    return {static_cast<double>(largest), team.reduce(sum.total(), Plus(), 0.0)};
  }
  __device__ __forceinline__ static T finish(const State& state, int64_t, double) {
    return static_cast<T>(std::log(state.sum) + finite(state.largest));
  }
};

/// The largest (or least) element and its first index; NaN wins.
template <typename T, bool kLargest>
struct ArgReducer {
  struct State {
    T value;
    int64_t index;  ///< -1: none yet
  };

  struct Merge {
    __device__ __forceinline__ State operator()(const State& a, const State& b) const {
      if (b.index < 0) return a;
      if (a.index < 0) return b;
      const bool a_nan = functors::is_nan(a.value);
      const bool b_nan = functors::is_nan(b.value);
      if (a_nan != b_nan) return a_nan ? a : b;
      if (beats(a.value, b.value)) return a;
      if (beats(b.value, a.value)) return b;
      return a.index < b.index ? a : b;
    }
  };
  __device__ __forceinline__ static bool beats(T a, T b) { return kLargest ? a > b : a < b; }
  __device__ __forceinline__ static State identity() { return {T{0}, -1}; }
  template <typename Source>
  __device__ __forceinline__ static State reduce(const Source& source, const Team& team, double) {
    State best = identity();
    source.for_each([&](T x, int64_t i, int64_t) { best = Merge()(best, State{x, i}); });
    return team.reduce(best, Merge(), identity());
  }
  __device__ __forceinline__ static T finish(const State& state, int64_t, double) {
    return state.value;
  }
};

}  // namespace ebb::cuda
