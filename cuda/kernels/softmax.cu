#include <ebb/core/ops/softmax_kernels.h>

#include <cmath>
#include <limits>

#include <ebb/core/ops/functors/math.h>
#include <ebb/core/ops/functors/reduce.h>
#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Softmax along lines, each by a team of threads in three passes: the largest element, the sum of
// exponentials, the result. The second and third pass find the line in the caches.

namespace ebb::cuda {

namespace {

struct Larger {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return functors::larger(a, b);
  }
};

/// The largest element of a line (NaN if there is one) and the sum of exp(x - shift).
template <typename T>
struct Statistics {
  T shift;
  double sum;

  /// `finite_shift`: an infinite largest element is not subtracted, since inf - inf is NaN.
  template <typename E>
  __device__ __forceinline__ Statistics(const E& in, const Team& team, const Line& line,
                                        bool finite_shift) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    T largest = -kInfinity;
    for_each_element<T>(in, team, line,
                        [&](T x, int64_t, int64_t) { largest = functors::larger(largest, x); });
    shift = team.reduce(largest, Larger(), -kInfinity);
    if (finite_shift && std::fabs(shift) == kInfinity) shift = T{0};
    BlockedSum<T> exponentials;
    for_each_element<T>(in, team, line, [&](T x, int64_t, int64_t) {
      exponentials.add(functors::math::exp(x - shift));
    });
    sum = team.reduce(exponentials.total(), Plus(), 0.0);
  }
};

template <typename T, typename S, typename R>
__global__ void softmax_forward(Lines lines, Elements<T, S> in, Elements<T, R> out, bool log) {
  const Team team(lines.teams);
  lines.for_each(team, [&](const Line& line) {
    const Statistics<T> s(in, team, line, false);
    const T factor = static_cast<T>(log ? std::log(s.sum) : 1 / s.sum);
    for_each_element<T>(in, team, line, [&](T x, int64_t, int64_t at) {
      out.store(at, log ? x - s.shift - factor : functors::math::exp(x - s.shift) * factor);
    });
  });
}

template <typename T, typename S, typename R>
__global__ void softmax_backward(Lines lines, Elements<T, S> grad, Elements<T, R> result,
                                 Elements<T, R> out, bool log) {
  const Team team(lines.teams);
  lines.for_each(team, [&](const Line& line) {
    BlockedSum<T> products;
    for_each_element<T>(grad, team, line, [&](T g, int64_t, int64_t at) {
      products.add(log ? g : g * result.load(at));
    });
    const T total = static_cast<T>(team.reduce(products.total(), Plus(), 0.0));
    for_each_element<T>(grad, team, line, [&](T g, int64_t, int64_t at) {
      const T y = result.load(at);
      out.store(at, log ? g - functors::math::exp(y) * total : y * (g - total));
    });
  });
}

template <typename T, typename S, typename R>
__global__ void log_sum_exp(Lines lines, Elements<T, S> in, Elements<T, R> out) {
  const Team team(lines.teams);
  lines.for_each(team, [&](const Line& line) {
    const Statistics<T> s(in, team, line, true);
    if (team.member() == 0 && line.exists) {
      out.store(line.number, static_cast<T>(std::log(s.sum) + static_cast<double>(s.shift)));
    }
  });
}

/// Calls f(T{}, S{}, R{}): the type to compute in, and the dtypes of what is read and written.
template <typename F>
void dispatch_softmax(const SoftmaxArguments& a, F&& f) {
  dispatch_float_or_double(a.compute, [&](auto zero) {
    using T = decltype(zero);
    if (a.input_dtype != a.output_dtype) return f(T{}, AnyType(), AnyType());
    dispatch_elements<T>(a.input_dtype, [&](auto element) { f(T{}, element, element); });
  });
}

void forward(const SoftmaxArguments& a) {
  const KernelDevice device;
  const Lines lines(a.shape);
  dispatch_softmax(a, [&]<typename T, typename S, typename R>(T, S, R) {
    launch(&softmax_forward<T, S, R>, lines.blocks(), kTeamThreads, 0, device.stream(), lines,
           Elements<T, S>(a.input, a.input_dtype), Elements<T, R>(a.output, a.output_dtype), a.log);
  });
}

void backward(const SoftmaxArguments& a) {
  const KernelDevice device;
  const Lines lines(a.shape);
  dispatch_softmax(a, [&]<typename T, typename S, typename R>(T, S, R) {
    launch(&softmax_backward<T, S, R>, lines.blocks(), kTeamThreads, 0, device.stream(), lines,
           Elements<T, S>(a.input, a.input_dtype), Elements<T, R>(a.result, a.result_dtype),
           Elements<T, R>(a.output, a.output_dtype), a.log);
  });
}

void logsumexp(const SoftmaxArguments& a) {
  const KernelDevice device;
  const Lines lines(a.shape);
  dispatch_softmax(a, [&]<typename T, typename S, typename R>(T, S, R) {
    launch(&log_sum_exp<T, S, R>, lines.blocks(), kTeamThreads, 0, device.stream(), lines,
           Elements<T, S>(a.input, a.input_dtype), Elements<T, R>(a.output, a.output_dtype));
  });
}

}  // namespace

extern const SoftmaxKernels softmax_kernels = {&forward, &backward, &logsumexp};

}  // namespace ebb::cuda
