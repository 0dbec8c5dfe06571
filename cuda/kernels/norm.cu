#include <ebb/core/ops/norm_kernels.h>

#include <cmath>

#include <ebb/cuda/kernels/batch_norm.h>
#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Layer norm: rows by teams, the mean first, then the squares of the differences from it, then the
// result. Batch norm is in batch_norm.h.

namespace ebb::cuda {

namespace {

/// Calls f(T{}, S{}): the type to compute in and the dtype of all `data`, AnyType where they
/// differ.
template <typename F>
void dispatch_norm(ScalarType compute, std::initializer_list<const TypedData*> data, F&& f) {
  const ScalarType first = (*data.begin())->dtype;
  bool same = true;
  for (const TypedData* one : data) same = same && (!*one || one->dtype == first);
  dispatch_float_or_double(compute, [&](auto zero) {
    using T = decltype(zero);
    if (!same) return f(T{}, AnyType());
    dispatch_elements<T>(first, [&](auto element) { f(T{}, element); });
  });
}

template <typename T, typename S>
__global__ void layer_norm_forward(Lines rows, double eps, Elements<T, S> in, Elements<T, S> weight,
                                   Elements<T, S> bias, Elements<T, S> out, T* means, T* rstds) {
  const Team team(rows.teams);
  rows.for_each(team, [&](const Line& row) {
    const auto count = static_cast<double>(rows.shape.n);
    BlockedSum<T> sum;
    for_each_element<T>(in, team, row, [&](T x, int64_t, int64_t) { sum.add(x); });
    const T mean = static_cast<T>(team.reduce(sum.total(), Plus(), 0.0) / count);
    BlockedSum<T> squares;
    for_each_element<T>(in, team, row,
                        [&](T x, int64_t, int64_t) { squares.add((x - mean) * (x - mean)); });
    const double variance = team.reduce(squares.total(), Plus(), 0.0) / count;
    const T rstd = static_cast<T>(1 / std::sqrt(variance + eps));
    if (team.member() == 0 && row.exists) {
      means[row.number] = mean;
      rstds[row.number] = rstd;
    }
    for_each_element<T>(in, team, row, [&](T x, int64_t i, int64_t at) {
      out.store(at, (x - mean) * rstd * load_or(weight, i, T{1}) + load_or(bias, i, T{0}));
    });
  });
}

template <typename T, typename S>
__global__ void layer_norm_input_gradient(Lines rows, Elements<T, S> in, Elements<T, S> grad,
                                          Elements<T, S> weight, const T* means, const T* rstds,
                                          Elements<T, S> out) {
  struct Sums {
    double plain;     // of g w
    double weighted;  // of g w (x - mean) rstd
  };
  const Team team(rows.teams);
  rows.for_each(team, [&](const Line& row) {
    const T mean = row.exists ? means[row.number] : T{0};
    const T rstd = row.exists ? rstds[row.number] : T{0};
    BlockedSum<T> plain;
    BlockedSum<T> weighted;
    for_each_element<T>(grad, team, row, [&](T g, int64_t i, int64_t at) {
      const T product = g * load_or(weight, i, T{1});
      plain.add(product);
      weighted.add(product * ((in.load(at) - mean) * rstd));
    });
    const auto plus = [](const Sums& a, const Sums& b) {
      return Sums{a.plain + b.plain, a.weighted + b.weighted};
    };
    const Sums sums = team.reduce(Sums{plain.total(), weighted.total()}, plus, Sums{0, 0});
    const auto count = static_cast<double>(rows.shape.n);
    const T offset = static_cast<T>(sums.plain / count);
    const T slope = static_cast<T>(sums.weighted / count);
    for_each_element<T>(grad, team, row, [&](T g, int64_t i, int64_t at) {
      const T product = g * load_or(weight, i, T{1});
      out.store(at, rstd * (product - offset - (in.load(at) - mean) * rstd * slope));
    });
  });
}

/// What the rows of each piece add to the gradients of weight and bias: `sums` is [pieces, 2, n].
template <typename T, typename S>
__global__ void layer_norm_column_sums(TeamShape teams, int64_t rows, int64_t n, int64_t pieces,
                                       Elements<T, S> in, Elements<T, S> grad, const T* means,
                                       const T* rstds, T* sums) {
  struct Sums {
    double weight;
    double bias;
  };
  const Team team(teams);
  const int64_t groups = (n + team.teams() - 1) / team.teams();
  const int64_t length = (rows + pieces - 1) / pieces;
  for (int64_t block = blockIdx.x; block < groups * pieces; block += gridDim.x) {
    const int64_t piece = block / groups;
    const int64_t column = (block - piece * groups) * team.teams() + team.line();
    const int64_t begin = piece * length;
    const int64_t end = begin + length < rows ? begin + length : rows;
    BlockedSum<T> weight;
    BlockedSum<T> bias;
    for (int64_t row = begin + team.member(); column < n && row < end; row += team.members()) {
      const T g = grad.load(row * n + column);
      weight.add(g * ((in.load(row * n + column) - means[row]) * rstds[row]));
      bias.add(g);
    }
    const auto plus = [](const Sums& a, const Sums& b) {
      return Sums{a.weight + b.weight, a.bias + b.bias};
    };
    const Sums all = team.reduce(Sums{weight.total(), bias.total()}, plus, Sums{0, 0});
    if (team.member() != 0 || column >= n) continue;
    sums[2 * piece * n + column] = static_cast<T>(all.weight);
    sums[(2 * piece + 1) * n + column] = static_cast<T>(all.bias);
  }
}

template <typename T>
__global__ void layer_norm_add_pieces(int64_t n, int64_t pieces, const T* sums,
                                      Elements<T, AnyType> grad_weight,
                                      Elements<T, AnyType> grad_bias) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    T weight = T{0};
    T bias = T{0};
    for (int64_t piece = 0; piece < pieces; ++piece) {
      weight += sums[2 * piece * n + i];
      bias += sums[(2 * piece + 1) * n + i];
    }
    if (grad_weight.data != nullptr) grad_weight.store(i, weight);
    if (grad_bias.data != nullptr) grad_bias.store(i, bias);
  }
}

void layer_norm(const LayerNormArguments& a) {
  const KernelDevice device;
  const Lines rows({a.rows, a.n, 1});
  dispatch_norm(a.compute, {&a.input, &a.weight, &a.bias}, [&]<typename T, typename S>(T, S) {
    launch(&layer_norm_forward<T, S>, rows.blocks(), kTeamThreads, 0, device.stream(), rows, a.eps,
           elements<T, S>(a.input), elements<T, S>(a.weight), elements<T, S>(a.bias),
           elements<T, S>(a.output), static_cast<T*>(a.mean.data), static_cast<T*>(a.rstd.data));
  });
}

/// The gradients of weight and bias.
template <typename T, typename S>
void run_column_sums(const LayerNormArguments& a, cudaStream_t stream) {
  const TeamShape teams = column_teams((a.rows + a.pieces - 1) / a.pieces, a.n);
  T* const sums = static_cast<T*>(a.workspace);
  const int64_t groups = (a.n + teams.teams() - 1) / teams.teams();
  launch(&layer_norm_column_sums<T, S>, blocks_for(groups * a.pieces, 1), kTeamThreads, 0, stream,
         teams, a.rows, a.n, a.pieces, elements<T, S>(a.input), elements<T, S>(a.grad_output),
         static_cast<const T*>(a.mean.data), static_cast<const T*>(a.rstd.data), sums);
  launch(&layer_norm_add_pieces<T>, blocks_for(a.n), kBlockThreads, 0, stream, a.n, a.pieces, sums,
         elements<T, AnyType>(a.grad_weight), elements<T, AnyType>(a.grad_bias));
}

void layer_norm_backward(const LayerNormArguments& a) {
  const KernelDevice device;
  const Lines rows({a.rows, a.n, 1});
  dispatch_norm(
      a.compute, {&a.input, &a.weight, &a.grad_output}, [&]<typename T, typename S>(T, S) {
        if (a.grad_input && a.rows > 0) {
          launch(&layer_norm_input_gradient<T, S>, rows.blocks(), kTeamThreads, 0, device.stream(),
                 rows, elements<T, S>(a.input), elements<T, S>(a.grad_output),
                 elements<T, S>(a.weight), static_cast<const T*>(a.mean.data),
                 static_cast<const T*>(a.rstd.data), elements<T, S>(a.grad_input));
        }
        if (a.grad_weight || a.grad_bias) run_column_sums<T, S>(a, device.stream());
      });
}

void batch_norm(const BatchNormArguments& a) {
  dispatch_norm(a.compute, {&a.input},
                [&]<typename T, typename S>(T, S) { run_batch_norm<T, S>(a); });
}

void batch_norm_backward(const BatchNormArguments& a) {
  dispatch_norm(a.compute, {&a.input, &a.grad_output},
                [&]<typename T, typename S>(T, S) { run_batch_norm_backward<T, S>(a); });
}

}  // namespace

extern const NormKernels norm_kernels = {&batch_norm, &batch_norm_backward, &layer_norm,
                                         &layer_norm_backward};

}  // namespace ebb::cuda
