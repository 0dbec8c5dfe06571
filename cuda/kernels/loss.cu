#include <ebb/core/ops/loss_kernels.h>

#include <cmath>
#include <optional>

#include <ebb/core/ops/functors/math.h>
#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/index_error.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Losses over classes. A row whose loss needs one element is taken by one thread, others by teams;
// the losses of rows are added up piece by piece and the pieces by one block.

namespace ebb::cuda {

namespace {

/// What LossArguments say, as a kernel argument.
template <typename T, typename S>
struct ClassLoss {
  Lines lines;
  Elements<T, S> input;
  Elements<T, S> probabilities;
  const int64_t* target;
  const T* weights;
  const T* log_sum_exp;
  int64_t ignore_index;
  T keep;
  T spread;
  IndexCheck check;

  explicit ClassLoss(const LossArguments& a)
      : lines(a.shape),
        input(a.input, a.input_dtype),
        probabilities(a.probabilities, a.input_dtype),
        target(a.target),
        weights(static_cast<const T*>(a.weight)),
        log_sum_exp(static_cast<const T*>(a.log_sum_exp)),
        ignore_index(a.ignore_index),
        keep(static_cast<T>(1 - a.smoothing)),
        spread(static_cast<T>(a.smoothing / static_cast<double>(std::max<int64_t>(1, a.shape.n)))),
        check(index_check()) {}

  [[nodiscard]] bool reads_rows() const { return probabilities.data != nullptr || spread != 0; }

  __device__ __forceinline__ T weight(int64_t c) const {
    return weights == nullptr ? T{1} : weights[c];
  }
  __device__ __forceinline__ T shift(int64_t row) const {
    return log_sum_exp == nullptr ? T{0} : log_sum_exp[row];
  }
  __device__ __forceinline__ bool has_classes() const { return probabilities.data == nullptr; }
  /// The class of a row; -1 where the row counts for nothing: it is ignored, or the class is out of
  /// range, which is reported.
  __device__ __forceinline__ int64_t class_of(int64_t row) const {
    const int64_t c = target[row];
    if (c == ignore_index) return -1;
    if (c >= 0 && c < lines.shape.n) return c;
    report_index_error(check, c, lines.shape.n);
    return -1;
  }
  __device__ __forceinline__ int64_t at(int64_t row, int64_t c) const {
    const int64_t inner = lines.shape.inner;
    const int64_t outer = inner == 1 ? row : row / inner;
    return (outer * lines.shape.n + c) * inner + (row - outer * inner);
  }
  /// The target probability of a class, with its weight, given what the target says of it.
  __device__ __forceinline__ T term(int64_t c, T y) const {
    return weight(c) * (keep * y + spread);
  }
};

struct Sums {
  double loss;
  double total;
  struct Merge {
    __device__ __forceinline__ Sums operator()(const Sums& a, const Sums& b) const {
      return {a.loss + b.loss, a.total + b.total};
    }
  };
};

/// The losses of rows that need all their elements.
template <typename T, typename S>
__global__ void row_losses(ClassLoss<T, S> loss, T* losses) {
  const Team team(loss.lines.teams);
  loss.lines.for_each(team, [&](const Line& line) {
    const int64_t row = line.number;
    const bool classes = loss.has_classes();
    const int64_t c = line.exists && classes ? loss.class_of(row) : -1;
    const bool counts = line.exists && (!classes || c >= 0);
    const T shift = counts ? loss.shift(row) : T{0};
    double sum = 0;
    if (counts) {
      for_each_element<T>(loss.input, team, line, [&](T x, int64_t i, int64_t at) {
        const T t = loss.term(i, classes ? T{0} : loss.probabilities.load(at));
        if (t != 0) sum += static_cast<double>(t * (shift - x));
        if (i == c) sum += static_cast<double>(loss.keep * loss.weight(c) * (shift - x));
      });
    }
    const T all = static_cast<T>(team.reduce(sum, Plus(), 0.0));
    if (team.member() == 0 && line.exists) losses[row] = all;
  });
}

/// The loss of a row that needs one element at most, or that `losses` holds, and its weight.
template <typename T, typename S>
__device__ __forceinline__ Sums row_sums(const ClassLoss<T, S>& loss, const T* losses,
                                         int64_t row) {
  if (!loss.has_classes()) return {static_cast<double>(losses[row]), 1};
  const int64_t c = loss.class_of(row);
  if (c < 0) return {0, 0};
  const T w = loss.weight(c);
  const T value = losses != nullptr
                      ? losses[row]
                      : loss.keep * w * (loss.shift(row) - loss.input.load(loss.at(row, c)));
  return {static_cast<double>(value), static_cast<double>(w)};
}

/// The sums of each piece of kLossPiece rows; `row_results` takes the losses where it has data.
template <typename T, typename S>
__global__ void sum_rows(ClassLoss<T, S> loss, const T* losses, Elements<T, AnyType> row_results,
                         Sums* pieces) {
  const int64_t rows = loss.lines.shape.outer * loss.lines.shape.inner;
  for (int64_t piece = blockIdx.x; piece * kLossPiece < rows; piece += gridDim.x) {
    const int64_t begin = piece * kLossPiece;
    const int64_t end = begin + kLossPiece < rows ? begin + kLossPiece : rows;
    Sums sums{0, 0};
    for (int64_t row = begin + threadIdx.x; row < end; row += blockDim.x) {
      const Sums one = row_sums(loss, losses, row);
      if (row_results.data != nullptr) row_results.store(row, static_cast<T>(one.loss));
      sums = Sums::Merge()(sums, one);
    }
    sums = block_reduce(sums, Sums::Merge(), Sums{0, 0});
    if (threadIdx.x == 0) pieces[piece] = sums;
  }
}

template <typename T>
__global__ void finish_loss(int64_t pieces, const Sums* sums, bool mean, T* total,
                            Elements<T, AnyType> out) {
  Sums all{0, 0};
  for (int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
    all = Sums::Merge()(all, sums[piece]);
  }
  all = block_reduce(all, Sums::Merge(), Sums{0, 0});
  if (threadIdx.x != 0) return;
  *total = static_cast<T>(all.total);
  if (out.data != nullptr) out.store(0, static_cast<T>(mean ? all.loss / all.total : all.loss));
}

/// The weights of all classes, added up.
template <typename T>
__global__ void sum_weights(const T* weights, int64_t n, T* total) {
  BlockedSum<T> sum;
  for (int64_t c = threadIdx.x; c < n; c += blockDim.x) {
    sum.add(weights == nullptr ? T{1} : weights[c]);
  }
  const double all = block_reduce(sum.total(), Plus(), 0.0);
  if (threadIdx.x == 0) *total = static_cast<T>(all);
}

/// The gradient that the losses get.
template <typename T>
struct LossGradient {
  Elements<T, AnyType> grad;
  bool per_row;
  bool mean;
  const T* total;
  const T* total_weight;  ///< of all classes, where there is smoothing

  __device__ __forceinline__ T scale(int64_t row) const {
    const T value = grad.load(per_row ? row : 0);
    return mean ? value / *total : value;
  }
};

template <typename T, typename S>
__global__ void loss_backward(ClassLoss<T, S> loss, LossGradient<T> gradient, Elements<T, S> out) {
  const Team team(loss.lines.teams);
  loss.lines.for_each(team, [&](const Line& line) {
    const int64_t row = line.number;
    const bool classes = loss.has_classes();
    const int64_t c = line.exists && classes ? loss.class_of(row) : -1;
    const bool counts = line.exists && (!classes || c >= 0);
    const T scale = counts ? gradient.scale(row) : T{0};
    T all = T{0};  // the terms of the row, added up
    if (!classes) {
      BlockedSum<T> terms;
      for_each_element<T>(loss.probabilities, team, line,
                          [&](T y, int64_t i, int64_t) { terms.add(loss.term(i, y)); });
      all = static_cast<T>(team.reduce(terms.total(), Plus(), 0.0));
    } else if (counts) {
      all = loss.keep * loss.weight(c);
      if (loss.spread != 0) all += loss.spread * *gradient.total_weight;
    }
    const T shift = counts ? loss.shift(row) : T{0};
    for (int64_t i = team.member(); i < line.n; i += team.members()) {
      const int64_t at = line.start + i * line.step;
      T result = T{0};
      if (scale != 0) {
        if (loss.log_sum_exp != nullptr) {
          result = scale * all * functors::math::exp(loss.input.load(at) - shift);
        }
        const T y = classes ? static_cast<T>(i == c) : loss.probabilities.load(at);
        result -= scale * loss.term(i, y);
      }
      out.store(at, result);
    }
  });
}

/// Calls f(T{}, S{}): the type to compute in, and the dtype of the input.
template <typename F>
void dispatch_loss(const LossArguments& a, F&& f) {
  dispatch_float_or_double(a.compute, [&](auto zero) {
    using T = decltype(zero);
    dispatch_elements<T>(a.input_dtype, [&](auto element) { f(T{}, element); });
  });
}

template <typename T, typename S>
void run_forward(const LossArguments& a) {
  const KernelDevice device;
  const ClassLoss<T, S> loss(a);
  const int64_t rows = a.shape.lines();
  const int64_t pieces = (rows + kLossPiece - 1) / kLossPiece;
  static_assert(sizeof(Sums) == 2 * sizeof(double));
  auto* const sums = reinterpret_cast<Sums*>(a.workspace);
  std::optional<Workspace> losses;
  if (loss.reads_rows() && rows > 0) {
    losses.emplace(static_cast<size_t>(rows) * sizeof(T));
    launch(&row_losses<T, S>, loss.lines.blocks(), kTeamThreads, 0, device.stream(), loss,
           losses->as<T>());
  }
  if (pieces > 0) {
    launch(&sum_rows<T, S>, blocks_for(pieces, 1), kTeamThreads, 0, device.stream(), loss,
           losses ? losses->as<T>() : nullptr, Elements<T, AnyType>(a.row_losses, a.loss_dtype),
           sums);
  }
  launch(&finish_loss<T>, 1, kTeamThreads, 0, device.stream(), pieces, sums, a.mean,
         static_cast<T*>(a.total), Elements<T, AnyType>(a.output, a.loss_dtype));
}

template <typename T, typename S>
void run_backward(const LossArguments& a) {
  const KernelDevice device;
  const ClassLoss<T, S> loss(a);
  const Workspace total_weight(sizeof(T));
  if (loss.spread != 0) {
    launch(&sum_weights<T>, 1, kTeamThreads, 0, device.stream(), loss.weights, a.shape.n,
           total_weight.as<T>());
  }
  const LossGradient<T> gradient{Elements<T, AnyType>(a.grad, a.grad_dtype), a.grad_per_row, a.mean,
                                 static_cast<const T*>(a.total), total_weight.as<T>()};
  launch(&loss_backward<T, S>, loss.lines.blocks(), kTeamThreads, 0, device.stream(), loss,
         gradient, Elements<T, S>(a.output, a.input_dtype));
}

void forward(const LossArguments& a) {
  dispatch_loss(a, [&]<typename T, typename S>(T, S) { run_forward<T, S>(a); });
}

void backward(const LossArguments& a) {
  dispatch_loss(a, [&]<typename T, typename S>(T, S) { run_backward<T, S>(a); });
}

template <typename T>
__global__ void sum_squares(StridedIndex<2> index, Operands<2, T> operands, uint32_t numel,
                            double* sums) {
  constexpr auto kPiece = static_cast<uint32_t>(kSquaresPiece);
  const uint32_t pieces = (numel + kPiece - 1) / kPiece;
  for (uint32_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const uint32_t begin = piece * kPiece;
    const uint32_t end = numel - begin < kPiece ? numel : begin + kPiece;
    BlockedSum<T> sum;
    for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const Offsets<2> offsets = index(i);
      T x[2];
      for (int k = 0; k < 2; ++k) {
        char* const from[1] = {operands[k].data + offsets[k]};
        T value[1] = {};
        load_elements<T>(operands[k].dtype, from, value);
        x[k] = value[0];
      }
      sum.add((x[0] - x[1]) * (x[0] - x[1]));
    }
    const double all = block_reduce(sum.total(), Plus(), 0.0);
    if (threadIdx.x == 0) sums[piece] = all;
  }
}

__global__ void finish_squares(int64_t pieces, const double* sums, double divisor,
                               Elements<double, AnyType> out) {
  double sum = 0;
  for (int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x) sum += sums[piece];
  sum = block_reduce(sum, Plus(), 0.0);
  if (threadIdx.x == 0) out.store(0, sum / divisor);
}

void squared_difference(const TensorIterator& it, const SquaredDifference& a) {
  const KernelDevice device;
  const auto pieces_of = [](const Piece& piece) {
    return (piece.numel() + kSquaresPiece - 1) / kSquaresPiece;
  };
  int64_t pieces = 0;
  for_each_piece(it, [&](const Piece& piece) { pieces += pieces_of(piece); });
  const Workspace sums(static_cast<size_t>(std::max<int64_t>(1, pieces)) * sizeof(double));
  double* to = sums.as<double>();
  dispatch_float_or_double(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    for_each_piece(it, [&](const Piece& piece) {
      launch(&sum_squares<T>, blocks_for(pieces_of(piece), 1), kTeamThreads, 0, device.stream(),
             StridedIndex<2>(piece), Operands<2, T>(piece), static_cast<uint32_t>(piece.numel()),
             to);
      to += pieces_of(piece);
    });
  });
  launch(&finish_squares, 1, kTeamThreads, 0, device.stream(), pieces, sums.as<double>(), a.divisor,
         Elements<double, AnyType>(a.output, a.output_dtype));
}

}  // namespace

extern const LossKernels loss_kernels = {&forward, &backward, &squared_difference};

}  // namespace ebb::cuda
