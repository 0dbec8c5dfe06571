#include <ebb/core/ops/reduce_kernels.h>

#include <algorithm>
#include <optional>
#include <vector>

#include <ebb/core/ops/copy_kernels.h>
#include <ebb/cuda/kernels/reduce_plan.h>
#include <ebb/cuda/kernels/reducers.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// A reduction is one kernel, or two where each output's elements are shared among several blocks:
// their states go to scratch, and a second kernel merges them.

namespace ebb::cuda {

namespace {

/// Where results go; `values` has no data and `indices` is null where they are not wanted.
template <typename T>
struct Results {
  Elements<T, AnyType> values;
  int64_t* indices;
  double parameter;
};

template <typename R, typename T>
__device__ __forceinline__ void write_result(const typename R::State& state, int64_t count,
                                             int64_t at, const Results<T>& results) {
  if (results.values.data != nullptr) {
    results.values.store(at, R::finish(state, count, results.parameter));
  }
  if constexpr (requires { state.index; }) {
    if (results.indices != nullptr) results.indices[at] = state.index;
  }
}

/// `states` takes the state of each piece, [pieces, outputs], where there are several.
template <typename R, typename T, typename S>
__global__ void reduce_elements(DevicePlan plan, Elements<T, S> in, Results<T> results,
                                typename R::State* states) {
  const Team team(plan.teams);
  for_each_source<T>(
      plan, in, team,
      [&](const auto& source, int64_t output, const KeptOffsets& offsets, int64_t piece) {
        const auto state = R::reduce(source, team, results.parameter);
        if (team.member() != 0 || output >= plan.outputs) return;
        if (plan.pieces > 1)
          states[piece * plan.outputs + output] = state;
        else
          write_result<R>(state, plan.count, offsets.out, results);
      });
}

/// A warp for each output.
template <typename R, typename T>
__global__ void merge_pieces(KeptIndex kept, int64_t outputs, int64_t pieces, int64_t count,
                             const typename R::State* states, Results<T> results) {
  const int64_t warps = int64_t{gridDim.x} * (blockDim.x / kWarpSize);
  const int64_t lane = threadIdx.x % kWarpSize;
  for (int64_t output = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarpSize;
       output < outputs; output += warps) {
    auto state = R::identity();
    for (int64_t piece = lane; piece < pieces; piece += kWarpSize) {
      state = typename R::Merge()(state, states[piece * outputs + output]);
    }
    state = warp_reduce(state, typename R::Merge());
    if (lane == 0) write_result<R>(state, count, kept(output).out, results);
  }
}

template <typename R, typename T>
void reduce_in(const ReducePlan& shape, const ReduceArguments& a) {
  using State = typename R::State;
  static_assert(sizeof(State) <= kReduceStateBytes);
  const KernelDevice device;
  const DevicePlan plan(shape);
  const Results<T> results{Elements<T, AnyType>(a.output, a.output_dtype), a.indices, a.parameter};
  std::optional<Workspace> scratch;
  if (plan.pieces > 1) {
    scratch.emplace(static_cast<size_t>(plan.pieces * plan.outputs) * sizeof(State));
  }
  State* const states = scratch ? scratch->as<State>() : nullptr;
  const auto run = [&](auto element) {
    using S = decltype(element);
    launch(&reduce_elements<R, T, S>, plan.blocks(), kTeamThreads, 0, device.stream(), plan,
           Elements<T, S>(a.input, a.input_dtype), results, states);
  };
  a.input_dtype == scalar_type_of<T> ? run(T{}) : run(AnyType());
  if (plan.pieces == 1) return;
  launch(&merge_pieces<R, T>, blocks_for(plan.outputs * kWarpSize), kBlockThreads, 0,
         device.stream(), plan.kept, plan.outputs, plan.pieces, plan.count, states, results);
}

using Run = void (*)(const ReducePlan& plan, const ReduceArguments& arguments);

/// The reductions that compute in T; null where there is none.
template <typename T>
struct Table {
  Run runs[kReduceOps] = {};

  constexpr Table() {
    set<FoldReducer<functors::SumFold<T>, T>>(ReduceOp::sum);
    set<FoldReducer<functors::ProdFold<T>, T>>(ReduceOp::prod);
    set<FoldReducer<functors::MaxFold<T>, T>>(ReduceOp::max);
    set<FoldReducer<functors::MinFold<T>, T>>(ReduceOp::min);
    set<FoldReducer<functors::AllFold<T>, T>>(ReduceOp::all);
    set<FoldReducer<functors::AnyFold<T>, T>>(ReduceOp::any);
    set<ArgReducer<T, true>>(ReduceOp::argmax);
    set<ArgReducer<T, false>>(ReduceOp::argmin);
    if constexpr (std::is_floating_point_v<T>) {
      set<FoldReducer<functors::MeanFold<T>, T>>(ReduceOp::mean);
      set<FoldReducer<functors::CountNonzeroFold<T>, T>>(ReduceOp::count_nonzero);
      set<FoldReducer<functors::SumAbsFold<T>, T>>(ReduceOp::sum_abs);
      set<FoldReducer<functors::Norm2Fold<T>, T>>(ReduceOp::norm2);
      set<FoldReducer<functors::NormPFold<T>, T>>(ReduceOp::norm_p);
      set<FoldReducer<functors::MaxAbsFold<T>, T>>(ReduceOp::max_abs);
      set<FoldReducer<functors::MinAbsFold<T>, T>>(ReduceOp::min_abs);
      set<VarReducer<T, false>>(ReduceOp::var);
      set<VarReducer<T, true>>(ReduceOp::std);
      set<LogSumExpReducer<T>>(ReduceOp::logsumexp);
    }
  }

 private:
  template <typename R>
  constexpr void set(ReduceOp op) {
    runs[static_cast<int>(op)] = &reduce_in<R, T>;
  }
};

void reduce_merged(const ReducePlan& plan, const ReduceArguments& a) {
  constexpr Table<float> kFloatTable;
  constexpr Table<double> kDoubleTable;
  constexpr Table<int64_t> kLongTable;
  const auto op = static_cast<size_t>(a.op);
  const Run run = a.compute == kFloat    ? kFloatTable.runs[op]
                  : a.compute == kDouble ? kDoubleTable.runs[op]
                                         : kLongTable.runs[op];
  if (run == nullptr) ebb::detail::raise_unsupported(a.compute);
  run(plan, a);
}

/// The same reduction of a copy: its rows, in the order of the outputs in memory, are their
/// elements.
void reduce_copy(const ReducePlan& plan, ReduceArguments a) {
  struct Dim {
    int64_t size, stride, out_stride;
  };
  std::vector<Dim> dims{{plan.columns, plan.column_stride, plan.column_out_stride}};
  for (size_t d = 0; d < plan.kept.sizes.size(); ++d) {
    dims.push_back({plan.kept.sizes[d], plan.kept.strides[d], plan.kept_out_strides[d]});
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim& x, const Dim& y) { return x.out_stride > y.out_stride; });
  for (size_t d = 0; d < plan.reduced.sizes.size(); ++d) {
    dims.push_back({plan.reduced.sizes[d], plan.reduced.strides[d], 0});
  }
  DimVector sizes;
  DimVector strides;
  for (const Dim& dim : dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.stride);
  }
  const Workspace copy(static_cast<size_t>(plan.outputs * plan.count) *
                       element_size(a.input_dtype));
  TensorIterator it(sizes);
  it.set_compute_type(a.input_dtype);
  it.add(copy.data(), a.input_dtype, sizes, contiguous_strides(sizes));
  it.add(const_cast<void*>(a.input), a.input_dtype, sizes, strides);
  it.build();
  copy_kernels.copy(it);
  a.input = copy.data();
  ReducePlan rows;
  rows.kept.sizes.push_back(plan.outputs);
  rows.kept.strides.push_back(plan.count);
  rows.kept_out_strides.push_back(1);
  rows.reduced.sizes.push_back(plan.count);
  rows.reduced.strides.push_back(1);
  rows.count = plan.count;
  rows.outputs = plan.outputs;
  reduce_merged(rows, a);
}

void reduce(const ReducePlan& plan, const ReduceArguments& a) {
  if (plan.kept.sizes.size() > kMaxReduceDims || plan.reduced.sizes.size() > kMaxReduceDims) {
    return reduce_copy(plan, a);
  }
  reduce_merged(plan, a);
}

}  // namespace

extern const ReduceKernels reduce_kernels = {&reduce};

}  // namespace ebb::cuda
