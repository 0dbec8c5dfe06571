#include <cmath>
#include <utility>

#include <ebb/core/ops/functors/optimizer.h>
#include <ebb/core/ops/optimizer_kernels.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Steps of optimizers: rules that update an element of each operand in place. Contiguous tensors go
// in lists, many to a launch: a block takes a chunk of one tensor. Compiled without fused
// multiply-add, so that steps are those of the CPU.

namespace ebb::cuda {

namespace {

/// Multiplies a gradient by a number on the device, and notes whether it was finite. All who write
/// the note write the same.
template <typename T>
struct Unscale {
  static constexpr bool writes(int) { return true; }
  const float* inverse_scale;
  float* found;
  T factor = T(0);

  __device__ __forceinline__ void operator()(T& g) const {
    if (!(g - g == T(0))) *found = 1.0f;
    g *= factor;
  }
};

/// A rule as a thread uses it: with what it reads once.
template <typename Rule>
__device__ __forceinline__ Rule started(Rule rule) {
  return rule;
}
template <typename T>
__device__ __forceinline__ Unscale<T> started(Unscale<T> rule) {
  rule.factor = static_cast<T>(*rule.inverse_scale);
  return rule;
}

template <typename Rule, typename T, int N, size_t... I>
__device__ __forceinline__ void apply_rule(const Rule& rule, T (&x)[sizeof...(I)][N], int k,
                                           std::index_sequence<I...>) {
  rule(x[I][k]...);
}

/// N numbers of each operand.
template <int kOperands, typename Rule, typename T, int N>
__device__ __forceinline__ void apply_rule(const Rule& rule, T (&x)[kOperands][N]) {
  for (int k = 0; k < N; ++k) apply_rule(rule, x, k, std::make_index_sequence<kOperands>());
}

/// Any layouts and dtypes.
template <typename Rule, typename T, int kOperands>
__global__ void update_strided(Rule rule, Operands<kOperands, T> operands,
                               StridedIndex<kOperands> index, uint32_t numel) {
  const Rule f = started(rule);
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < numel; i += step) {
    const Offsets<kOperands> offsets = index(i);
    T x[kOperands][1] = {};
    for (int j = 0; j < kOperands; ++j) {
      char* const from[1] = {operands[j].data + offsets[j]};
      load_elements(operands[j].dtype, from, x[j]);
    }
    apply_rule<kOperands>(f, x);
    for (int j = 0; j < kOperands; ++j) {
      char* const to[1] = {operands[j].data + offsets[j]};
      if (Rule::writes(j)) store_elements<T>(operands[j].dtype, to, x[j], {true});
    }
  }
}

/// Elements that a thread takes at once, and a block.
constexpr int kRun = 4;
constexpr int64_t kChunk = 2 * kBlockThreads * kRun;

/// TensorLists as a kernel argument.
template <int kOperands>
struct ListArgument {
  int count;
  ScalarType dtype[kOperands];
  bool aligned[TensorLists::kMaxCount];              ///< for runs of elements, in all operands
  uint32_t first_block[TensorLists::kMaxCount + 1];  ///< of each tensor, and the end
  int64_t numel[TensorLists::kMaxCount];
  char* data[TensorLists::kMaxCount][kOperands];

  explicit ListArgument(const TensorLists& lists) : count(lists.count) {
    for (int i = 0; i < kOperands; ++i) dtype[i] = lists.dtype[i];
    int64_t blocks = 0;
    for (int k = 0; k < count; ++k) {
      first_block[k] = static_cast<uint32_t>(blocks);
      numel[k] = lists.numel[k];
      blocks += (numel[k] + kChunk - 1) / kChunk;
      aligned[k] = true;
      for (int i = 0; i < kOperands; ++i) {
        data[k][i] = lists.data[k * kOperands + i];
        aligned[k] = aligned[k] && suits_packs(data[k][i], kRun, element_size(dtype[i]));
      }
    }
    first_block[count] = static_cast<uint32_t>(blocks);
  }

  [[nodiscard]] EBB_INLINE uint32_t blocks() const { return first_block[count]; }
  /// The tensor that a block works on.
  [[nodiscard]] EBB_INLINE int tensor_of(uint32_t block) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first_block[middle] <= block ? low : high) = middle;
    }
    return low;
  }
};

template <int N, typename Rule, typename T, int kOperands>
__device__ __forceinline__ void update_run(const Rule& rule, const ListArgument<kOperands>& list,
                                           int tensor, int64_t i) {
  T x[kOperands][N] = {};
  for (int j = 0; j < kOperands; ++j) {
    load_run(list.dtype[j], list.data[tensor][j], i, x[j]);
  }
  apply_rule<kOperands>(rule, x);
  for (int j = 0; j < kOperands; ++j) {
    if (Rule::writes(j)) store_run(list.dtype[j], list.data[tensor][j], i, x[j]);
  }
}

template <typename Rule, typename T, int kOperands>
__global__ void update_list(Rule rule, ListArgument<kOperands> list) {
  const Rule f = started(rule);
  for (uint32_t block = blockIdx.x; block < list.blocks(); block += gridDim.x) {
    const int tensor = list.tensor_of(block);
    const int64_t begin = (block - list.first_block[tensor]) * kChunk;
    const int64_t rest = list.numel[tensor] - begin;
    const int64_t end = begin + (rest < kChunk ? rest : kChunk);
    const int64_t step = int64_t{blockDim.x} * kRun;
    for (int64_t i = begin + int64_t{threadIdx.x} * kRun; i < end; i += step) {
      if (list.aligned[tensor] && i + kRun <= end) {
        update_run<kRun, Rule, T>(f, list, tensor, i);
      } else {
        for (int64_t k = i; k < i + kRun && k < end; ++k) {
          update_run<1, Rule, T>(f, list, tensor, k);
        }
      }
    }
  }
}

template <typename T, int kOperands, typename Rule>
void run_list(const TensorLists& lists, const Rule& rule) {
  const KernelDevice device;
  const ListArgument<kOperands> list(lists);
  launch(&update_list<Rule, T, kOperands>, blocks_for(list.blocks(), 1), kBlockThreads, 0,
         device.stream(), rule, list);
}

enum class NormOrder : uint8_t { one, two, infinity };

/// What a norm adds up, in double: sums, or the largest magnitude, where NaN wins.
struct NormTerms {
  NormOrder order;

  EBB_INLINE double term(double x) const { return order == NormOrder::two ? x * x : std::fabs(x); }
  EBB_INLINE double operator()(double a, double b) const {
    if (order != NormOrder::infinity) return a + b;
    return a != a || a > b ? a : b;
  }
  EBB_INLINE double finish(double all) const {
    return order == NormOrder::two ? std::sqrt(all) : all;
  }
};

/// The terms of each block's chunk, put together.
template <typename T>
__global__ void norm_chunks(NormTerms terms, ListArgument<1> list, double* chunks) {
  for (uint32_t block = blockIdx.x; block < list.blocks(); block += gridDim.x) {
    const int tensor = list.tensor_of(block);
    const int64_t begin = (block - list.first_block[tensor]) * kChunk;
    const int64_t rest = list.numel[tensor] - begin;
    const int64_t end = begin + (rest < kChunk ? rest : kChunk);
    double all = 0;
    const int64_t step = int64_t{blockDim.x} * kRun;
    for (int64_t i = begin + int64_t{threadIdx.x} * kRun; i < end; i += step) {
      if (list.aligned[tensor] && i + kRun <= end) {
        T x[kRun] = {};
        load_run(list.dtype[0], list.data[tensor][0], i, x);
        for (int k = 0; k < kRun; ++k) all = terms(all, terms.term(static_cast<double>(x[k])));
      } else {
        for (int64_t k = i; k < i + kRun && k < end; ++k) {
          T x[1] = {};
          load_run(list.dtype[0], list.data[tensor][0], k, x);
          all = terms(all, terms.term(static_cast<double>(x[0])));
        }
      }
    }
    all = block_reduce(all, terms, 0.0);
    if (threadIdx.x == 0) chunks[block] = all;
  }
}

/// A block for each tensor puts its chunks together.
__global__ void finish_norms(NormTerms terms, ListArgument<1> list, const double* chunks,
                             double* norms) {
  const int tensor = static_cast<int>(blockIdx.x);
  double all = 0;
  for (uint32_t i = list.first_block[tensor] + threadIdx.x; i < list.first_block[tensor + 1];
       i += blockDim.x) {
    all = terms(all, chunks[i]);
  }
  all = block_reduce(all, terms, 0.0);
  if (threadIdx.x == 0) norms[tensor] = terms.finish(all);
}

void norm_list(const TensorLists& lists, double p, double* norms) {
  const KernelDevice device;
  const ListArgument<1> list(lists);
  const Workspace chunks(list.blocks() * sizeof(double));
  const NormTerms terms = {p == 1 ? NormOrder::one : p == 2 ? NormOrder::two : NormOrder::infinity};
  auto* partial = static_cast<double*>(chunks.data());
  const auto kernel = lists.compute_type == kDouble ? &norm_chunks<double> : &norm_chunks<float>;
  launch(kernel, blocks_for(list.blocks(), 1), kBlockThreads, 0, device.stream(), terms, list,
         partial);
  launch(&finish_norms, list.count, kBlockThreads, 0, device.stream(), terms, list, partial, norms);
}

/// The list that a single iteration makes, if its operands are contiguous.
bool make_list(const TensorIterator& it, TensorLists& lists) {
  lists.noperands = it.noperands();
  lists.compute_type = it.compute_type();
  lists.count = 1;
  lists.numel[0] = it.numel();
  for (int i = 0; i < it.noperands(); ++i) {
    if (!it.is_contiguous(i)) return false;
    lists.dtype[i] = it.dtype(i);
    lists.data[i] = it.data(i);
  }
  return true;
}

template <typename T, int kOperands, typename Rule>
void run_iterator(const TensorIterator& it, const Rule& rule) {
  TensorLists lists;
  if (make_list(it, lists)) return run_list<T, kOperands>(lists, rule);
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    launch(&update_strided<Rule, T, kOperands>, blocks_for(piece.numel()), kBlockThreads, 0,
           device.stream(), rule, Operands<kOperands, T>(piece), StridedIndex<kOperands>(piece),
           static_cast<uint32_t>(piece.numel()));
  });
}

/// Calls f(T{}) with the compute type.
template <typename F>
void in_compute_type(ScalarType type, F&& f) {
  if (type == kDouble) {
    f(double{});
  } else {
    f(float{});
  }
}

void sgd(const TensorIterator& it, const ops::SgdStep& step) {
  in_compute_type(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    const functors::SgdUpdate<T> rule(step);
    it.noperands() == 2 ? run_iterator<T, 2>(it, rule) : run_iterator<T, 3>(it, rule);
  });
}

void sgd_list(const TensorLists& lists, const ops::SgdStep& step) {
  in_compute_type(lists.compute_type, [&](auto zero) {
    using T = decltype(zero);
    const functors::SgdUpdate<T> rule(step);
    lists.noperands == 2 ? run_list<T, 2>(lists, rule) : run_list<T, 3>(lists, rule);
  });
}

void adam(const TensorIterator& it, const ops::AdamStep& step) {
  in_compute_type(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    const functors::AdamUpdate<T> rule(step);
    it.noperands() == 4 ? run_iterator<T, 4>(it, rule) : run_iterator<T, 5>(it, rule);
  });
}

void adam_list(const TensorLists& lists, const ops::AdamStep& step) {
  in_compute_type(lists.compute_type, [&](auto zero) {
    using T = decltype(zero);
    const functors::AdamUpdate<T> rule(step);
    lists.noperands == 4 ? run_list<T, 4>(lists, rule) : run_list<T, 5>(lists, rule);
  });
}

void factored(const TensorIterator& it, const ops::FactoredStep& step) {
  in_compute_type(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    const functors::FactoredUpdate<T> rule(step);
    it.noperands() == 4 ? run_iterator<T, 4>(it, rule) : run_iterator<T, 5>(it, rule);
  });
}

void unscale(const TensorIterator& it, const float* inverse_scale, float* found) {
  in_compute_type(it.compute_type(), [&](auto zero) {
    using T = decltype(zero);
    run_iterator<T, 1>(it, Unscale<T>{inverse_scale, found});
  });
}

void unscale_list(const TensorLists& lists, const float* inverse_scale, float* found) {
  in_compute_type(lists.compute_type, [&](auto zero) {
    using T = decltype(zero);
    run_list<T, 1>(lists, Unscale<T>{inverse_scale, found});
  });
}

}  // namespace

extern const OptimizerKernels optimizer_kernels = {
    .sgd = &sgd,
    .adam = &adam,
    .factored = &factored,
    .unscale = &unscale,
    .sgd_list = &sgd_list,
    .adam_list = &adam_list,
    .unscale_list = &unscale_list,
    .norm_list = &norm_list,
};

}  // namespace ebb::cuda
