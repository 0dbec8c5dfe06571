#pragma once

#include <cmath>

#include <ebb/core/ops/norm_kernels.h>
#include <ebb/cuda/kernels/reduce_plan.h>
#include <ebb/cuda/kernels/reducers.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Batch norm on the device, in three kernels: sums over pieces of the channels, what follows from
// them for each channel, and a pass over all elements.

namespace ebb::cuda {

template <typename T, typename S>
Elements<T, S> elements(const TypedData& data) {
  return Elements<T, S>(data.data, data.dtype);
}

/// Element i, or `absent` where there are no elements.
template <typename T, typename S>
__device__ __forceinline__ T load_or(const Elements<T, S>& elements, int64_t i, T absent) {
  return elements.data == nullptr ? absent : elements.load(i);
}

/// One number per channel each, as far as they are there.
template <typename T>
struct ChannelNumbers {
  Elements<T, AnyType> weight;
  Elements<T, AnyType> bias;
  Elements<T, AnyType> running_mean;
  Elements<T, AnyType> running_var;
  T* mean;
  T* rstd;
  Elements<T, AnyType> grad_weight;
  Elements<T, AnyType> grad_bias;
  int64_t channels;
  bool training;
  double momentum;
  double eps;
  double count;  ///< elements of a channel

  explicit ChannelNumbers(const BatchNormArguments& a)
      : weight(elements<T, AnyType>(a.weight)),
        bias(elements<T, AnyType>(a.bias)),
        running_mean(elements<T, AnyType>(a.running_mean)),
        running_var(elements<T, AnyType>(a.running_var)),
        mean(static_cast<T*>(a.mean.data)),
        rstd(static_cast<T*>(a.rstd.data)),
        grad_weight(elements<T, AnyType>(a.grad_weight)),
        grad_bias(elements<T, AnyType>(a.grad_bias)),
        channels(a.channels),
        training(a.training),
        momentum(a.momentum),
        eps(a.eps),
        count(static_cast<double>(a.outer * a.inner)) {}

  /// What the running statistics, or the saved ones, say.
  __device__ __forceinline__ T mean_of(int64_t c) const {
    return training ? mean[c] : load_or(running_mean, c, T{0});
  }
  __device__ __forceinline__ T rstd_of(int64_t c) const {
    if (training) return rstd[c];
    const auto var = static_cast<double>(load_or(running_var, c, T{1}));
    return static_cast<T>(1 / std::sqrt(var + eps));
  }
};

/// The elements of the channels of [outer, channels, inner] as a reduction.
inline ReducePlan channel_plan(const BatchNormArguments& a) {
  ReducePlan plan;
  plan.outputs = a.channels;
  plan.count = a.outer * a.inner;
  const auto reduce = [&](int64_t size, int64_t stride) {
    if (size == 1 && plan.reduced.sizes.empty() && plan.count != 1) return;
    plan.reduced.sizes.push_back(size);
    plan.reduced.strides.push_back(stride);
  };
  reduce(a.outer, a.channels * a.inner);
  if (a.inner == 1) {
    plan.columns = a.channels;
    plan.column_stride = 1;
    plan.column_out_stride = 1;
    return plan;
  }
  reduce(a.inner, 1);
  plan.kept.sizes.push_back(a.channels);
  plan.kept.strides.push_back(a.inner);
  plan.kept_out_strides.push_back(1);
  return plan;
}

/// Calls f(channel, lane) for a warp each.
template <typename F>
__device__ __forceinline__ void for_each_channel(int64_t channels, F&& f) {
  const int64_t warps = int64_t{gridDim.x} * (blockDim.x / kWarpSize);
  for (int64_t c = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarpSize; c < channels;
       c += warps) {
    f(c, threadIdx.x % kWarpSize);
  }
}

/// What the lanes of a warp merge from the pieces of an output.
template <typename State, typename Merge>
__device__ __forceinline__ State merged_pieces(const State* states, int64_t output, int64_t outputs,
                                               int64_t pieces, uint32_t lane, State state,
                                               Merge merge) {
  for (int64_t piece = lane; piece < pieces; piece += kWarpSize) {
    state = merge(state, states[piece * outputs + output]);
  }
  return warp_reduce(state, merge);
}

template <typename T, typename S>
__global__ void measure_channels(DevicePlan plan, Elements<T, S> in, VarState* states) {
  const Team team(plan.teams);
  for_each_source<T>(plan, in, team,
                     [&](const auto& source, int64_t channel, const KeptOffsets&, int64_t piece) {
                       const VarState state = VarReducer<T, false>::reduce(source, team, 0);
                       if (team.member() == 0 && channel < plan.outputs) {
                         states[piece * plan.outputs + channel] = state;
                       }
                     });
}

/// (x - mean) * scale + shift
template <typename T>
struct ChannelMap {
  T mean;
  T scale;
  T shift;
};

template <typename T>
__device__ __forceinline__ ChannelMap<T> map_of(const ChannelNumbers<T>& numbers, int64_t c) {
  return {numbers.mean_of(c), numbers.rstd_of(c) * load_or(numbers.weight, c, T{1}),
          load_or(numbers.bias, c, T{0})};
}

template <typename T>
__global__ void map_channels(ChannelNumbers<T> numbers, ChannelMap<T>* maps) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t c = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; c < numbers.channels;
       c += step) {
    maps[c] = map_of(numbers, c);
  }
}

/// Writes mean and rstd, moves the running statistics, and maps the channels.
template <typename T>
__global__ void finish_channels(ChannelNumbers<T> numbers, int64_t pieces, const VarState* states,
                                ChannelMap<T>* maps) {
  using Reducer = VarReducer<T, false>;
  for_each_channel(numbers.channels, [&](int64_t c, uint32_t lane) {
    const VarState state = merged_pieces(states, c, numbers.channels, pieces, lane,
                                         Reducer::identity(), typename Reducer::Merge());
    if (lane != 0) return;
    numbers.mean[c] = static_cast<T>(state.mean);
    numbers.rstd[c] = static_cast<T>(1 / std::sqrt(state.squares / numbers.count + numbers.eps));
    const auto move = [&](const Elements<T, AnyType>& running, double value) {
      if (running.data == nullptr) return;
      const auto old = static_cast<double>(running.load(c));
      running.store(c, static_cast<T>((1 - numbers.momentum) * old + numbers.momentum * value));
    };
    move(numbers.running_mean, state.mean);
    move(numbers.running_var, state.squares / (numbers.count - 1));
    maps[c] = map_of(numbers, c);
  });
}

/// The channel of an element.
template <typename Index>
struct ChannelIndex {
  Divider<Index> inner;
  Divider<Index> channels;
  Index numel;

  explicit ChannelIndex(const BatchNormArguments& a)
      : inner(std::max<int64_t>(1, a.inner)),
        channels(a.channels),
        numel(static_cast<Index>(a.outer * a.channels * a.inner)) {}
  EBB_INLINE Index operator()(Index i) const {
    const Index row = inner.divide(i);
    return row - channels.divide(row) * channels.divisor;
  }
};

/// Calls f(element, channel) for all elements.
template <typename Index, typename F>
__device__ __forceinline__ void for_each_of_channels(const ChannelIndex<Index>& index, F&& f) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < index.numel;
       i += step) {
    f(static_cast<int64_t>(i), static_cast<int64_t>(index(i)));
  }
}

template <typename T, typename S, typename Index>
__global__ void apply_map(ChannelIndex<Index> index, Elements<T, S> in, const ChannelMap<T>* maps,
                          Elements<T, S> out) {
  for_each_of_channels(index, [&](int64_t i, int64_t c) {
    const ChannelMap<T> map = maps[c];
    out.store(i, (in.load(i) - map.mean) * map.scale + map.shift);
  });
}

/// Calls f with a ChannelIndex of 32 or 64 bits.
template <typename F>
void dispatch_channel_index(const BatchNormArguments& a, F&& f) {
  if (a.outer * a.channels * a.inner <= kMaxPieceNumel) return f(ChannelIndex<uint32_t>(a));
  f(ChannelIndex<uint64_t>(a));
}

template <typename T, typename S>
void run_batch_norm(const BatchNormArguments& a) {
  const KernelDevice device;
  const ChannelNumbers<T> numbers(a);
  const Workspace maps(static_cast<size_t>(a.channels) * sizeof(ChannelMap<T>));
  if (a.training) {
    const DevicePlan plan(channel_plan(a));
    const Workspace scratch(static_cast<size_t>(plan.pieces * a.channels) * sizeof(VarState));
    launch(&measure_channels<T, S>, plan.blocks(), kTeamThreads, 0, device.stream(), plan,
           elements<T, S>(a.input), scratch.as<VarState>());
    launch(&finish_channels<T>, blocks_for(a.channels * kWarpSize), kBlockThreads, 0,
           device.stream(), numbers, plan.pieces, scratch.as<VarState>(), maps.as<ChannelMap<T>>());
  } else {
    launch(&map_channels<T>, blocks_for(a.channels), kBlockThreads, 0, device.stream(), numbers,
           maps.as<ChannelMap<T>>());
  }
  dispatch_channel_index(a, [&]<typename Index>(const ChannelIndex<Index>& index) {
    launch(&apply_map<T, S, Index>, blocks_for(static_cast<int64_t>(index.numel)), kBlockThreads, 0,
           device.stream(), index, elements<T, S>(a.input), maps.as<ChannelMap<T>>(),
           elements<T, S>(a.output));
  });
}

/// Sums over a channel: of the gradient, and of the gradient times the centered input.
struct GradientSums {
  double plain;
  double weighted;
  struct Merge {
    __device__ __forceinline__ GradientSums operator()(const GradientSums& a,
                                                       const GradientSums& b) const {
      return {a.plain + b.plain, a.weighted + b.weighted};
    }
  };
};

template <typename T, typename S>
__global__ void sum_channels(DevicePlan plan, Elements<T, S> in, Elements<T, S> grad,
                             ChannelNumbers<T> numbers, GradientSums* sums) {
  const Team team(plan.teams);
  for_each_source<T>(plan, grad, team,
                     [&](const auto& source, int64_t channel, const KeptOffsets&, int64_t piece) {
                       const bool exists = channel < plan.outputs;
                       const T mean = exists ? numbers.mean_of(channel) : T{0};
                       BlockedSum<T> plain;
                       BlockedSum<T> weighted;
                       source.for_each([&](T g, int64_t, int64_t at) {
                         plain.add(g);
                         weighted.add((in.load(at) - mean) * g);
                       });
                       const GradientSums all =
                           team.reduce(GradientSums{plain.total(), weighted.total()},
                                       GradientSums::Merge(), GradientSums{0, 0});
                       if (team.member() == 0 && exists) {
                         sums[piece * plan.outputs + channel] = all;
                       }
                     });
}

/// The gradient of the input: scale * (g - offset - (x - mean) * slope).
template <typename T>
struct ChannelGradient {
  T scale;
  T offset;
  T slope;
  T mean;
};

/// Without sums (null) they count as 0 and only the gradient of the input is wanted.
template <typename T>
__global__ void finish_channel_sums(ChannelNumbers<T> numbers, int64_t pieces,
                                    const GradientSums* sums, ChannelGradient<T>* gradients) {
  for_each_channel(numbers.channels, [&](int64_t c, uint32_t lane) {
    GradientSums all{0, 0};
    if (sums != nullptr) {
      all = merged_pieces(sums, c, numbers.channels, pieces, lane, all, GradientSums::Merge());
    }
    if (lane != 0) return;
    const T rstd = numbers.rstd_of(c);
    const auto wide = static_cast<double>(rstd);
    if (numbers.grad_weight.data != nullptr) {
      numbers.grad_weight.store(c, static_cast<T>(all.weighted * wide));
    }
    if (numbers.grad_bias.data != nullptr) {
      numbers.grad_bias.store(c, static_cast<T>(all.plain));
    }
    const double shares = numbers.training ? 1 / numbers.count : 0;
    gradients[c] = {rstd * load_or(numbers.weight, c, T{1}), static_cast<T>(all.plain * shares),
                    static_cast<T>(all.weighted * shares * wide * wide), numbers.mean_of(c)};
  });
}

template <typename T, typename S, typename Index>
__global__ void apply_gradient(ChannelIndex<Index> index, bool training, Elements<T, S> in,
                               Elements<T, S> grad, const ChannelGradient<T>* gradients,
                               Elements<T, S> out) {
  for_each_of_channels(index, [&](int64_t i, int64_t c) {
    const ChannelGradient<T> channel = gradients[c];
    const T g = grad.load(i);
    out.store(i, training ? channel.scale *
                                (g - channel.offset - (in.load(i) - channel.mean) * channel.slope)
                          : channel.scale * g);
  });
}

template <typename T, typename S>
void run_batch_norm_backward(const BatchNormArguments& a) {
  const KernelDevice device;
  const ChannelNumbers<T> numbers(a);
  const DevicePlan plan(channel_plan(a));
  const Workspace gradients(static_cast<size_t>(a.channels) * sizeof(ChannelGradient<T>));
  const Workspace scratch(static_cast<size_t>(plan.pieces * a.channels) * sizeof(GradientSums));
  const bool summed = a.training || a.grad_weight || a.grad_bias;
  if (summed) {
    launch(&sum_channels<T, S>, plan.blocks(), kTeamThreads, 0, device.stream(), plan,
           elements<T, S>(a.input), elements<T, S>(a.grad_output), numbers,
           scratch.as<GradientSums>());
  }
  launch(&finish_channel_sums<T>, blocks_for(a.channels * kWarpSize), kBlockThreads, 0,
         device.stream(), numbers, plan.pieces, summed ? scratch.as<GradientSums>() : nullptr,
         gradients.as<ChannelGradient<T>>());
  if (!a.grad_input || plan.count == 0) return;
  dispatch_channel_index(a, [&]<typename Index>(const ChannelIndex<Index>& index) {
    launch(&apply_gradient<T, S, Index>, blocks_for(static_cast<int64_t>(index.numel)),
           kBlockThreads, 0, device.stream(), index, a.training, elements<T, S>(a.input),
           elements<T, S>(a.grad_output), gradients.as<ChannelGradient<T>>(),
           elements<T, S>(a.grad_input));
  });
}

}  // namespace ebb::cuda
