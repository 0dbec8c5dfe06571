#include <ebb/core/ops/norm_kernels.h>

#include <algorithm>
#include <cmath>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/kernels/lanes.h>
#include <ebb/core/cpu/kernels/lines.h>

// Batch norm takes channel by channel, layer norm row by row: the mean first, then the squares of
// the differences from it, then the result. Sums depend on shapes alone.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// Calls f(T{}) with float or double.
template <typename F>
void in_compute_type(ScalarType compute, F&& f) {
  if (compute == kDouble)
    f(double{});
  else
    f(float{});
}

template <typename T>
Reader<T> reader(const TypedData& data, ScalarType compute) {
  return Reader<T>(data.data, data.dtype, compute);
}

template <typename T>
Writer<T> writer(const TypedData& data, ScalarType compute) {
  return Writer<T>(data.data, data.dtype, compute);
}

/// Element i, or `absent` where there are no elements.
template <typename T>
T number(const TypedData& data, int64_t i, ScalarType compute, T absent) {
  if (!data) return absent;
  T value;
  reader<T>(data, compute).run_one(&value, i);
  return value;
}

template <typename T>
void set_number(const TypedData& data, int64_t i, ScalarType compute, double value) {
  if (!data) return;
  const T converted = static_cast<T>(value);
  writer<T>(data, compute).run(&converted, i, 1);
}

/// A block of the elements of one channel: rows of adjacent elements.
struct ChannelBlock {
  int64_t at;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  [[nodiscard]] int64_t count() const { return rows * columns; }
};

/// Calls f(block) for blocks of at most kBlock elements.
template <typename F>
void for_each_channel_block(const BatchNormArguments& a, int64_t channel, F&& f) {
  const int64_t stride = a.channels * a.inner;
  const int64_t columns = std::min(a.inner, kBlock);
  const int64_t rows = std::max<int64_t>(1, kBlock / std::max<int64_t>(1, a.inner));
  for (int64_t n = 0; n < a.outer; n += rows) {
    for (int64_t i = 0; i < a.inner; i += columns) {
      f(ChannelBlock{n * stride + channel * a.inner + i, std::min(rows, a.outer - n),
                     std::min(columns, a.inner - i), stride});
    }
  }
}

template <typename T>
const T* load_block(const Reader<T>& in, const ChannelBlock& block, T* buffer) {
  if (block.rows == 1) return in.run(buffer, block.at, block.columns);
  in.tile(buffer, block.at, block.rows, block.columns, block.row_stride);
  return buffer;
}

/// How the elements of a channel are normalized.
template <typename T>
struct Channel {
  T mean;
  T rstd;
};

template <typename T>
Channel<T> channel_of(const BatchNormArguments& a, int64_t channel) {
  if (a.training) {
    return {number(a.mean, channel, a.compute, T{0}), number(a.rstd, channel, a.compute, T{1})};
  }
  const double var = static_cast<double>(number(a.running_var, channel, a.compute, T{1}));
  return {number(a.running_mean, channel, a.compute, T{0}),
          static_cast<T>(1 / std::sqrt(var + a.eps))};
}

template <typename T>
void measure_channel(const BatchNormArguments& a, int64_t channel) {
  alignas(64) T buffer[kBlock];
  alignas(64) T squares[kBlock];
  const Reader<T> in = reader<T>(a.input, a.compute);
  const auto count = static_cast<double>(a.outer * a.inner);
  double sum = 0;
  for_each_channel_block(a, channel, [&](const ChannelBlock& block) {
    sum += lanes_sum(load_block(in, block, buffer), block.count());
  });
  const double mean = sum / count;
  const T center = static_cast<T>(mean);
  double squared = 0;
  for_each_channel_block(a, channel, [&](const ChannelBlock& block) {
    const T* x = load_block(in, block, buffer);
    for (int64_t i = 0; i < block.count(); ++i) squares[i] = (x[i] - center) * (x[i] - center);
    squared += lanes_sum(squares, block.count());
  });
  set_number<T>(a.mean, channel, a.compute, mean);
  set_number<T>(a.rstd, channel, a.compute, 1 / std::sqrt(squared / count + a.eps));
  const auto move = [&](const TypedData& running, double value) {
    const auto old = static_cast<double>(number(running, channel, a.compute, T{0}));
    set_number<T>(running, channel, a.compute, (1 - a.momentum) * old + a.momentum * value);
  };
  move(a.running_mean, mean);
  move(a.running_var, squared / (count - 1));
}

template <typename T>
void batch_norm_channel(const BatchNormArguments& a, int64_t channel) {
  if (a.training) measure_channel<T>(a, channel);
  alignas(64) T buffer[kBlock];
  const Channel<T> c = channel_of<T>(a, channel);
  const T scale = c.rstd * number(a.weight, channel, a.compute, T{1});
  const T shift = number(a.bias, channel, a.compute, T{0});
  const Reader<T> in = reader<T>(a.input, a.compute);
  const Writer<T> out = writer<T>(a.output, a.compute);
  for_each_channel_block(a, channel, [&](const ChannelBlock& block) {
    const T* x = load_block(in, block, buffer);
    for (int64_t i = 0; i < block.count(); ++i) buffer[i] = (x[i] - c.mean) * scale + shift;
    out.tile(buffer, block.at, block.rows, block.columns, block.row_stride);
  });
}

/// Sums over a channel: of the gradient, and of the gradient times the centered input.
template <typename T>
void sum_channel(const BatchNormArguments& a, int64_t channel, T mean, double& plain,
                 double& weighted) {
  alignas(64) T x_buffer[kBlock];
  alignas(64) T g_buffer[kBlock];
  const Reader<T> in = reader<T>(a.input, a.compute);
  const Reader<T> grad = reader<T>(a.grad_output, a.compute);
  for_each_channel_block(a, channel, [&](const ChannelBlock& block) {
    const T* x = load_block(in, block, x_buffer);
    const T* g = load_block(grad, block, g_buffer);
    plain += lanes_sum(g, block.count());
    for (int64_t i = 0; i < block.count(); ++i) x_buffer[i] = (x[i] - mean) * g[i];
    weighted += lanes_sum(x_buffer, block.count());
  });
}

template <typename T>
void batch_norm_backward_channel(const BatchNormArguments& a, int64_t channel) {
  const Channel<T> c = channel_of<T>(a, channel);
  const auto rstd = static_cast<double>(c.rstd);
  double plain = 0;
  double weighted = 0;
  if (a.training || a.grad_weight || a.grad_bias) {
    sum_channel<T>(a, channel, c.mean, plain, weighted);
  }
  set_number<T>(a.grad_weight, channel, a.compute, weighted * rstd);
  set_number<T>(a.grad_bias, channel, a.compute, plain);
  if (!a.grad_input) return;
  alignas(64) T x_buffer[kBlock];
  alignas(64) T g_buffer[kBlock];
  const auto count = static_cast<double>(a.outer * a.inner);
  const T scale = c.rstd * number(a.weight, channel, a.compute, T{1});
  const T offset = a.training ? static_cast<T>(plain / count) : T{0};
  const T slope = a.training ? static_cast<T>(weighted / count * rstd * rstd) : T{0};
  const Reader<T> in = reader<T>(a.input, a.compute);
  const Reader<T> grad = reader<T>(a.grad_output, a.compute);
  const Writer<T> out = writer<T>(a.grad_input, a.compute);
  for_each_channel_block(a, channel, [&](const ChannelBlock& block) {
    const T* g = load_block(grad, block, g_buffer);
    if (a.training) {
      const T* x = load_block(in, block, x_buffer);
      for (int64_t i = 0; i < block.count(); ++i) {
        x_buffer[i] = scale * (g[i] - offset - (x[i] - c.mean) * slope);
      }
    } else {
      for (int64_t i = 0; i < block.count(); ++i) x_buffer[i] = scale * g[i];
    }
    out.tile(x_buffer, block.at, block.rows, block.columns, block.row_stride);
  });
}

/// Calls f(channel) for all channels.
template <typename F>
void for_each_channel(const BatchNormArguments& a, F&& f) {
  const int64_t work = std::max<int64_t>(1, 4 * a.outer * a.inner);
  parallel_for(0, a.channels, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) f(begin);
  });
}

void batch_norm(const BatchNormArguments& a) {
  in_compute_type(a.compute, [&](auto zero) {
    for_each_channel(a, [&](int64_t channel) { batch_norm_channel<decltype(zero)>(a, channel); });
  });
}

void batch_norm_backward(const BatchNormArguments& a) {
  in_compute_type(a.compute, [&](auto zero) {
    for_each_channel(
        a, [&](int64_t channel) { batch_norm_backward_channel<decltype(zero)>(a, channel); });
  });
}

/// Numbers of a block of weight or bias, or `absent` repeated.
template <typename T>
const T* load_or_fill(const TypedData& data, ScalarType compute, T* buffer, int64_t i,
                      int64_t count, T absent) {
  if (data) return reader<T>(data, compute).run(buffer, i, count);
  std::fill(buffer, buffer + count, absent);
  return buffer;
}

template <typename T>
void layer_norm_row(const LayerNormArguments& a, int64_t row) {
  alignas(64) T buffer[kBlock];
  alignas(64) T values[kBlock];
  alignas(64) T weights[kBlock];
  alignas(64) T biases[kBlock];
  const Reader<T> in = reader<T>(a.input, a.compute);
  const Writer<T> out = writer<T>(a.output, a.compute);
  const int64_t start = row * a.n;
  const auto count = static_cast<double>(a.n);
  double sum = 0;
  for_each_block(a.n,
                 [&](int64_t i, int64_t n) { sum += lanes_sum(in.run(buffer, start + i, n), n); });
  const T mean = static_cast<T>(sum / count);
  double squared = 0;
  for_each_block(a.n, [&](int64_t i, int64_t n) {
    const T* x = in.run(buffer, start + i, n);
    for (int64_t k = 0; k < n; ++k) values[k] = (x[k] - mean) * (x[k] - mean);
    squared += lanes_sum(values, n);
  });
  const T rstd = static_cast<T>(1 / std::sqrt(squared / count + a.eps));
  static_cast<T*>(a.mean.data)[row] = mean;
  static_cast<T*>(a.rstd.data)[row] = rstd;
  for_each_block(a.n, [&](int64_t i, int64_t n) {
    const T* x = in.run(buffer, start + i, n);
    const T* w = load_or_fill(a.weight, a.compute, weights, i, n, T{1});
    const T* b = load_or_fill(a.bias, a.compute, biases, i, n, T{0});
    for (int64_t k = 0; k < n; ++k) values[k] = (x[k] - mean) * rstd * w[k] + b[k];
    out.run(values, start + i, n);
  });
}

void layer_norm(const LayerNormArguments& a) {
  in_compute_type(a.compute, [&](auto zero) {
    parallel_for(0, a.rows, std::max<int64_t>(1, kGrain / (4 * a.n)),
                 [&](int64_t begin, int64_t end) {
                   for (; begin < end; ++begin) layer_norm_row<decltype(zero)>(a, begin);
                 });
  });
}

/// A row of the backward of layer norm, and what it adds to the gradients of weight and bias.
template <typename T>
struct LayerNormRow {
  const LayerNormArguments& a;
  const Reader<T> in = reader<T>(a.input, a.compute);
  const Reader<T> grad = reader<T>(a.grad_output, a.compute);
  alignas(64) T x_buffer[kBlock];
  alignas(64) T g_buffer[kBlock];
  alignas(64) T w_buffer[kBlock];
  alignas(64) T values[kBlock];

  explicit LayerNormRow(const LayerNormArguments& arguments) : a(arguments) {}

  void run(int64_t row, T* weight_sum, T* bias_sum) {
    const T mean = static_cast<const T*>(a.mean.data)[row];
    const T rstd = static_cast<const T*>(a.rstd.data)[row];
    const int64_t start = row * a.n;
    double plain = 0;     // sum of g w
    double weighted = 0;  // sum of g w (x - mean) rstd
    for_each_block(a.n, [&](int64_t i, int64_t n) {
      const T* x = in.run(x_buffer, start + i, n);
      const T* g = grad.run(g_buffer, start + i, n);
      const T* w = load_or_fill(a.weight, a.compute, w_buffer, i, n, T{1});
      T* const to_weight = weight_sum + i;
      T* const to_bias = bias_sum + i;
      EBB_INDEPENDENT
      for (int64_t k = 0; k < n; ++k) {
        to_weight[k] += g[k] * ((x[k] - mean) * rstd);
        to_bias[k] += g[k];
      }
      for (int64_t k = 0; k < n; ++k) values[k] = g[k] * w[k];
      plain += lanes_sum(values, n);
      for (int64_t k = 0; k < n; ++k) values[k] *= (x[k] - mean) * rstd;
      weighted += lanes_sum(values, n);
    });
    if (a.grad_input) write(start, mean, rstd, plain, weighted);
  }

 private:
  void write(int64_t start, T mean, T rstd, double plain, double weighted) {
    const Writer<T> out = writer<T>(a.grad_input, a.compute);
    const auto count = static_cast<double>(a.n);
    const T offset = static_cast<T>(plain / count);
    const T slope = static_cast<T>(weighted / count);
    for_each_block(a.n, [&](int64_t i, int64_t n) {
      const T* x = in.run(x_buffer, start + i, n);
      const T* g = grad.run(g_buffer, start + i, n);
      const T* w = load_or_fill(a.weight, a.compute, w_buffer, i, n, T{1});
      for (int64_t k = 0; k < n; ++k) {
        values[k] = rstd * (g[k] * w[k] - offset - (x[k] - mean) * rstd * slope);
      }
      out.run(values, start + i, n);
    });
  }
};

template <typename T>
void layer_norm_backward_of(const LayerNormArguments& a) {
  T* const sums = static_cast<T*>(a.workspace);  // per piece: of the weight, of the bias
  const int64_t rows = (a.rows + a.pieces - 1) / a.pieces;
  parallel_for(0, a.pieces, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, 8 * rows * a.n)),
               [&](int64_t begin, int64_t end) {
                 LayerNormRow<T> row(a);
                 for (; begin < end; ++begin) {
                   T* const piece = sums + begin * 2 * a.n;
                   std::fill(piece, piece + 2 * a.n, T{0});
                   const int64_t last = std::min(a.rows, (begin + 1) * rows);
                   for (int64_t r = begin * rows; r < last; ++r) row.run(r, piece, piece + a.n);
                 }
               });
  const auto add_up = [&](const TypedData& grad, const T* first) {
    if (!grad) return;
    T total[256];
    for (int64_t i = 0; i < a.n; i += 256) {
      const int64_t n = std::min<int64_t>(256, a.n - i);
      std::fill(total, total + n, T{0});
      for (int64_t piece = 0; piece < a.pieces; ++piece) {
        const T* from = first + piece * 2 * a.n + i;
        for (int64_t k = 0; k < n; ++k) total[k] += from[k];
      }
      writer<T>(grad, a.compute).run(total, i, n);
    }
  };
  add_up(a.grad_weight, sums);
  add_up(a.grad_bias, sums + a.n);
}

void layer_norm_backward(const LayerNormArguments& a) {
  in_compute_type(a.compute, [&](auto zero) { layer_norm_backward_of<decltype(zero)>(a); });
}

}  // namespace

extern const NormKernels norm_kernels = {&batch_norm, &batch_norm_backward, &layer_norm,
                                         &layer_norm_backward};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
