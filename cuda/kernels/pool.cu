#include <ebb/core/ops/pool_kernels.h>

#include <limits>
#include <type_traits>

#include <ebb/core/half.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/cuda/kernels/storage_types.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/kernels/windows.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Pooling: a thread for each element of what is written. Gradients are gathered (each pixel looks
// for the windows that chose it or hold it), so that nothing is added by several threads and the
// sums have one order.

namespace ebb::cuda {

namespace {

/// The planes of a pooling, for the device.
struct Planes {
  WindowAxis rows;
  WindowAxis columns;

  explicit Planes(const PoolShape& s)
      : rows{s.in[0], s.out[0], s.kernel[0], s.stride[0], s.padding[0], s.dilation[0]},
        columns{s.in[1], s.out[1], s.kernel[1], s.stride[1], s.padding[1], s.dilation[1]} {}
  EBB_INLINE int64_t pixels() const { return rows.size * columns.size; }
  EBB_INLINE int64_t windows() const { return rows.count * columns.count; }
};

template <typename T>
EBB_INLINE bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return static_cast<float>(x) != static_cast<float>(x);
}

template <typename T>
EBB_INLINE bool is_larger(T a, T b) {
  if constexpr (ReducedFloat<T>)
    return static_cast<float>(a) > static_cast<float>(b);
  else
    return a > b;
}

template <typename T>
EBB_INLINE T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min();
  else
    return T(-std::numeric_limits<float>::infinity());
}

/// Which element of its window each result is: bytes, or int32 for large windows.
struct WindowOffsets {
  void* data;
  bool wide;

  EBB_INLINE int64_t load(int64_t i) const {
    return wide ? static_cast<int64_t>(static_cast<const int32_t*>(data)[i])
                : static_cast<int64_t>(static_cast<const uint8_t*>(data)[i]);
  }
  EBB_INLINE void store(int64_t i, int64_t offset) const {
    if (wide)
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(offset);
    else
      static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(offset);
  }
};

template <typename T>
__global__ void max_pool(Planes p, const T* input, T* output, WindowOffsets offsets,
                         int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace window = place_of(i, p.rows.count, p.columns.count);
    const WindowTaps rows = p.rows.taps(window.row);
    const WindowTaps columns = p.columns.taps(window.column);
    const T* const plane = input + window.plane * p.pixels();
    T best = lowest<T>();
    int64_t where = rows.begin * p.columns.kernel + columns.begin;
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const T* const row = plane + (rows.start + r * p.rows.dilation) * p.columns.size;
      for (int64_t c = columns.begin; c < columns.end; ++c) {
        const T x = row[columns.start + c * p.columns.dilation];
        if (!is_larger(x, best) && !is_nan(x)) continue;
        best = x;
        where = r * p.columns.kernel + c;
      }
    }
    output[i] = best;
    offsets.store(i, where);
  }
}

/// Calls f(window, tap) for the windows of its plane that hold a pixel, in their order; `tap`
/// counts the elements of the window row by row.
template <typename F>
__device__ __forceinline__ void for_each_window(const Planes& p, const PlanePlace& pixel, F&& f) {
  const WindowRange rows = p.rows.windows(pixel.row, pixel.row);
  const WindowRange columns = p.columns.windows(pixel.column, pixel.column);
  for (int64_t y = rows.first; y < rows.last; ++y) {
    const int64_t r = p.rows.tap(y, pixel.row);
    if (r < 0) continue;
    for (int64_t x = columns.first; x < columns.last; ++x) {
      const int64_t c = p.columns.tap(x, pixel.column);
      if (c >= 0) f(y, x, r * p.columns.kernel + c);
    }
  }
}

template <typename T>
__global__ void max_pool_backward(Planes p, const T* grad, T* output, WindowOffsets offsets,
                                  int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace pixel = place_of(i, p.rows.size, p.columns.size);
    const int64_t plane = pixel.plane * p.windows();
    Sum<T> sum = 0;
    for_each_window(p, pixel, [&](int64_t y, int64_t x, int64_t tap) {
      const int64_t window = plane + y * p.columns.count + x;
      if (offsets.load(window) == tap)
        sum = static_cast<Sum<T>>(sum + static_cast<Sum<T>>(grad[window]));
    });
    output[i] = static_cast<T>(sum);
  }
}

template <typename T>
__global__ void max_pool_gather(Planes p, const T* input, T* output, WindowOffsets offsets,
                                int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace window = place_of(i, p.rows.count, p.columns.count);
    const int64_t offset = offsets.load(i);
    const int64_t row =
        window.row * p.rows.stride - p.rows.padding + offset / p.columns.kernel * p.rows.dilation;
    const int64_t column = window.column * p.columns.stride - p.columns.padding +
                           offset % p.columns.kernel * p.columns.dilation;
    const bool inside = row >= 0 && row < p.rows.size && column >= 0 && column < p.columns.size;
    output[i] = inside ? input[window.plane * p.pixels() + row * p.columns.size + column]
                       : static_cast<T>(0);
  }
}

/// What the sum of a window is divided by: `fixed` if that is not 0, else its taps inside the
/// image, or inside the padded image.
struct Divisor {
  int64_t fixed;
  bool count_padding;

  EBB_INLINE int64_t operator()(const Planes& p, int64_t y, int64_t x) const {
    if (fixed != 0) return fixed;
    return taps(p.rows, y) * taps(p.columns, x);
  }

 private:
  EBB_INLINE int64_t taps(const WindowAxis& axis, int64_t window) const {
    const WindowTaps taps = axis.taps(window);
    if (!count_padding) return taps.end - taps.begin;
    const int64_t end = taps.start + axis.kernel;
    const int64_t limit = axis.size + axis.padding;
    return (end < limit ? end : limit) - taps.start;
  }
};

template <typename T>
__global__ void average_pool(Planes p, const T* input, T* output, Divisor divisor, int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace window = place_of(i, p.rows.count, p.columns.count);
    const WindowTaps rows = p.rows.taps(window.row);
    const WindowTaps columns = p.columns.taps(window.column);
    const T* const plane = input + window.plane * p.pixels();
    Sum<T> sum = 0;
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const T* const row = plane + (rows.start + r) * p.columns.size + columns.start;
      for (int64_t c = columns.begin; c < columns.end; ++c) sum += static_cast<Sum<T>>(row[c]);
    }
    output[i] = T(sum / static_cast<Sum<T>>(divisor(p, window.row, window.column)));
  }
}

template <typename T>
__global__ void average_pool_backward(Planes p, const T* grad, T* output, Divisor divisor,
                                      int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace pixel = place_of(i, p.rows.size, p.columns.size);
    const T* const plane = grad + pixel.plane * p.windows();
    Sum<T> sum = 0;
    for_each_window(p, pixel, [&](int64_t y, int64_t x, int64_t) {
      sum += static_cast<Sum<T>>(plane[y * p.columns.count + x]) /
             static_cast<Sum<T>>(divisor(p, y, x));
    });
    output[i] = T(sum);
  }
}

int64_t windows_of(const PoolArguments& a) {
  return a.shape.planes * a.shape.out[0] * a.shape.out[1];
}
int64_t pixels_of(const PoolArguments& a) { return a.shape.planes * a.shape.in[0] * a.shape.in[1]; }

/// Launches a kernel of max pooling that writes `numel` elements.
template <typename T>
void launch_max(void (*kernel)(Planes, const T*, T*, WindowOffsets, int64_t),
                const PoolArguments& a, int64_t numel) {
  const KernelDevice device;
  launch(kernel, blocks_for(numel), kBlockThreads, 0, device.stream(), Planes(a.shape),
         static_cast<const T*>(a.input), static_cast<T*>(a.output),
         WindowOffsets{a.offsets, a.wide_offsets}, numel);
}

void max(const PoolArguments& a) {
  dispatch_storage(a.dtype, [&](auto zero) {
    launch_max<decltype(zero)>(&max_pool<decltype(zero)>, a, windows_of(a));
  });
}

void max_backward(const PoolArguments& a) {
  dispatch_storage(a.dtype, [&](auto zero) {
    launch_max<decltype(zero)>(&max_pool_backward<decltype(zero)>, a, pixels_of(a));
  });
}

void max_gather(const PoolArguments& a) {
  dispatch_storage(a.dtype, [&](auto zero) {
    launch_max<decltype(zero)>(&max_pool_gather<decltype(zero)>, a, windows_of(a));
  });
}

template <typename T>
void launch_average(void (*kernel)(Planes, const T*, T*, Divisor, int64_t), const PoolArguments& a,
                    int64_t numel) {
  const KernelDevice device;
  launch(kernel, blocks_for(numel), kBlockThreads, 0, device.stream(), Planes(a.shape),
         static_cast<const T*>(a.input), static_cast<T*>(a.output),
         Divisor{a.divisor, a.count_include_pad}, numel);
}

void average(const PoolArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    launch_average<decltype(zero)>(&average_pool<decltype(zero)>, a, windows_of(a));
  });
}

void average_backward(const PoolArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    launch_average<decltype(zero)>(&average_pool_backward<decltype(zero)>, a, pixels_of(a));
  });
}

}  // namespace

extern const PoolKernels pool_kernels = {&max, &max_backward, &max_gather, &average,
                                         &average_backward};

}  // namespace ebb::cuda
