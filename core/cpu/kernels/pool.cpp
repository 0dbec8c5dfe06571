#include <ebb/core/ops/pool_kernels.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/kernels/storage_types.h>
#include <ebb/core/cpu/packing_buffer.h>
#include <ebb/core/parallel.h>

// Pooling, one plane (image and channel) after the other: threads share planes, so that windows
// that overlap add up in the same order whatever their number.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// The taps of one window along one dimension that lie inside the image: begin to end - 1.
struct Taps {
  int64_t start;  ///< the position of tap 0
  int64_t begin;
  int64_t end;
};

Taps taps_of(const PoolShape& s, int d, int64_t window) {
  const int64_t start = window * s.stride[d] - s.padding[d];
  const int64_t dilation = s.dilation[d];
  const int64_t begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const int64_t inside = s.in[d] - 1 - start;
  const int64_t end = inside < 0 ? begin : std::min(s.kernel[d], inside / dilation + 1);
  return {start, begin, std::max(begin, end)};
}

/// Calls f(plane) for all planes.
template <typename F>
void for_each_plane(const PoolShape& s, F&& f) {
  const int64_t work =
      std::max<int64_t>(1, s.out[0] * s.out[1] * s.kernel[0] * s.kernel[1] + s.in[0] * s.in[1]);
  parallel_for(0, s.planes, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) f(begin);
  });
}

/// Calls f(rows, columns, window) for the windows of a plane.
template <typename F>
void for_each_window(const PoolShape& s, F&& f) {
  for (int64_t y = 0; y < s.out[0]; ++y) {
    const Taps rows = taps_of(s, 0, y);
    for (int64_t x = 0; x < s.out[1]; ++x) f(rows, taps_of(s, 1, x), y * s.out[1] + x);
  }
}

template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return static_cast<float>(x) != static_cast<float>(x);
}

template <typename T>
bool is_larger(T a, T b) {
  if constexpr (ReducedFloat<T>)
    return static_cast<float>(a) > static_cast<float>(b);
  else
    return a > b;
}

template <typename T>
T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min();
  else
    return T(-std::numeric_limits<float>::infinity());
}

/// `set_offset(window, offset)` keeps the chosen tap.
template <typename T, typename SetOffset>
void max_plane(const PoolShape& s, const T* in, T* out, SetOffset&& set_offset) {
  for_each_window(s, [&](const Taps& rows, const Taps& columns, int64_t window) {
    T best = lowest<T>();
    int64_t where = rows.begin * s.kernel[1] + columns.begin;
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const T* row = in + (rows.start + r * s.dilation[0]) * s.in[1] + columns.start;
      for (int64_t c = columns.begin; c < columns.end; ++c) {
        const T x = row[c * s.dilation[1]];
        if (!is_larger(x, best) && !is_nan(x)) continue;
        best = x;
        where = r * s.kernel[1] + c;
      }
    }
    out[window] = best;
    set_offset(window, where);
  });
}

/// The common case of 2 x 2 windows side by side, without branches.
template <typename T>
void max_plane_2x2(const PoolShape& s, const T* in, T* out, uint8_t* offsets) {
  for (int64_t y = 0; y < s.out[0]; ++y) {
    const T* upper = in + 2 * y * s.in[1];
    const T* lower = upper + s.in[1];
    T* const to = out + y * s.out[1];
    uint8_t* const where = offsets + y * s.out[1];
    for (int64_t x = 0; x < s.out[1]; ++x) {
      T best = upper[2 * x];
      int offset = 0;
      const auto meet = [&](T candidate, int at) {
        const bool wins = candidate > best || candidate != candidate;
        best = wins ? candidate : best;
        offset = wins ? at : offset;
      };
      meet(upper[2 * x + 1], 1);
      meet(lower[2 * x], 2);
      meet(lower[2 * x + 1], 3);
      to[x] = best;
      where[x] = static_cast<uint8_t>(offset);
    }
  }
}

bool is_2x2(const PoolShape& s) {
  for (int d = 0; d < 2; ++d) {
    if (s.kernel[d] != 2 || s.stride[d] != 2 || s.padding[d] != 0 || s.dilation[d] != 1 ||
        2 * s.out[d] > s.in[d]) {
      return false;
    }
  }
  return true;
}

/// Calls f(T{}, Offset{}) with the types of the tensors; those of gradients are floating-point.
template <typename F>
void dispatch_max_gradient(const PoolArguments& a, F&& f) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    if (a.wide_offsets)
      f(zero, int32_t{});
    else
      f(zero, uint8_t{});
  });
}

/// The pixel that an offset of a window stands for; -1 where all its taps lie in the padding.
int64_t pixel_of(const PoolShape& s, int64_t y, int64_t x, int64_t offset) {
  const int64_t row = y * s.stride[0] - s.padding[0] + offset / s.kernel[1] * s.dilation[0];
  const int64_t column = x * s.stride[1] - s.padding[1] + offset % s.kernel[1] * s.dilation[1];
  const bool inside = row >= 0 && row < s.in[0] && column >= 0 && column < s.in[1];
  return inside ? row * s.in[1] + column : -1;
}

template <typename Offset, typename F>
void for_each_chosen(const PoolShape& s, const Offset* offsets, F&& f) {
  for (int64_t y = 0; y < s.out[0]; ++y) {
    for (int64_t x = 0; x < s.out[1]; ++x) {
      const int64_t window = y * s.out[1] + x;
      f(window, pixel_of(s, y, x, static_cast<int64_t>(offsets[window])));
    }
  }
}

void max(const PoolArguments& a) {
  dispatch_storage(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const PoolShape& s = a.shape;
    const bool simple = is_2x2(s) && !a.wide_offsets;
    for_each_plane(s, [&](int64_t plane) {
      const T* in = static_cast<const T*>(a.input) + plane * s.in[0] * s.in[1];
      T* out = static_cast<T*>(a.output) + plane * s.out[0] * s.out[1];
      const int64_t first = plane * s.out[0] * s.out[1];
      uint8_t* const bytes = static_cast<uint8_t*>(a.offsets) + first;
      int32_t* const wide = static_cast<int32_t*>(a.offsets) + first;
      if constexpr (std::is_floating_point_v<T>) {
        if (simple) return max_plane_2x2(s, in, out, bytes);
      }
      max_plane(s, in, out, [&](int64_t window, int64_t offset) {
        if (a.wide_offsets)
          wide[window] = static_cast<int32_t>(offset);
        else
          bytes[window] = static_cast<uint8_t>(offset);
      });
    });
  });
}

template <typename T>
void add_to(T& sum, T x) {
  if constexpr (ReducedFloat<T>)
    sum = T(static_cast<float>(sum) + static_cast<float>(x));
  else
    sum += x;
}

void max_backward(const PoolArguments& a) {
  dispatch_max_gradient(a, [&](auto zero, auto offset) {
    using T = decltype(zero);
    using Offset = decltype(offset);
    const PoolShape& s = a.shape;
    for_each_plane(s, [&](int64_t plane) {
      const T* grad = static_cast<const T*>(a.input) + plane * s.out[0] * s.out[1];
      T* out = static_cast<T*>(a.output) + plane * s.in[0] * s.in[1];
      const Offset* offsets = static_cast<const Offset*>(a.offsets) + plane * s.out[0] * s.out[1];
      std::fill(out, out + s.in[0] * s.in[1], T(0));
      for_each_chosen(s, offsets, [&](int64_t window, int64_t pixel) {
        if (pixel >= 0) add_to(out[pixel], grad[window]);
      });
    });
  });
}

void max_gather(const PoolArguments& a) {
  dispatch_max_gradient(a, [&](auto zero, auto offset) {
    using T = decltype(zero);
    using Offset = decltype(offset);
    const PoolShape& s = a.shape;
    for_each_plane(s, [&](int64_t plane) {
      const T* in = static_cast<const T*>(a.input) + plane * s.in[0] * s.in[1];
      T* out = static_cast<T*>(a.output) + plane * s.out[0] * s.out[1];
      const Offset* offsets = static_cast<const Offset*>(a.offsets) + plane * s.out[0] * s.out[1];
      for_each_chosen(s, offsets, [&](int64_t window, int64_t pixel) {
        out[window] = pixel >= 0 ? in[pixel] : T(0);
      });
    });
  });
}

/// What the sum of a window is divided by: its taps inside the image, or inside the padded image.
int64_t divisor_of(const PoolArguments& a, const Taps& rows, const Taps& columns) {
  if (a.divisor != 0) return a.divisor;
  if (!a.count_include_pad) return (rows.end - rows.begin) * (columns.end - columns.begin);
  const auto padded = [&](const Taps& taps, int d) {
    return std::min(taps.start + a.shape.kernel[d], a.shape.in[d] + a.shape.padding[d]) -
           taps.start;
  };
  return padded(rows, 0) * padded(columns, 1);
}

/// Sums are taken in float for the 16-bit types.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

void average(const PoolArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const PoolShape& s = a.shape;
    for_each_plane(s, [&](int64_t plane) {
      const T* in = static_cast<const T*>(a.input) + plane * s.in[0] * s.in[1];
      T* out = static_cast<T*>(a.output) + plane * s.out[0] * s.out[1];
      for_each_window(s, [&](const Taps& rows, const Taps& columns, int64_t window) {
        Sum<T> sum = 0;
        for (int64_t r = rows.begin; r < rows.end; ++r) {
          const T* row = in + (rows.start + r) * s.in[1] + columns.start;
          for (int64_t c = columns.begin; c < columns.end; ++c) {
            sum += static_cast<Sum<T>>(row[c]);
          }
        }
        out[window] = T(sum / static_cast<Sum<T>>(divisor_of(a, rows, columns)));
      });
    });
  });
}

/// Each pixel of the gradient is the sum over the windows that hold it, taken in their order.
template <typename T>
void spread(const PoolArguments& a, const T* grad, Sum<T>* out) {
  const PoolShape& s = a.shape;
  for_each_window(s, [&](const Taps& rows, const Taps& columns, int64_t window) {
    const Sum<T> share =
        static_cast<Sum<T>>(grad[window]) / static_cast<Sum<T>>(divisor_of(a, rows, columns));
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      Sum<T>* row = out + (rows.start + r) * s.in[1] + columns.start;
      for (int64_t c = columns.begin; c < columns.end; ++c) row[c] += share;
    }
  });
}

void average_backward(const PoolArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const PoolShape& s = a.shape;
    const int64_t pixels = s.in[0] * s.in[1];
    for_each_plane(s, [&](int64_t plane) {
      const T* grad = static_cast<const T*>(a.input) + plane * s.out[0] * s.out[1];
      T* out = static_cast<T*>(a.output) + plane * pixels;
      if constexpr (std::is_same_v<T, Sum<T>>) {
        std::fill(out, out + pixels, T{0});
        spread(a, grad, out);
      } else {
        auto* sums =
            static_cast<Sum<T>*>(packing_buffer(static_cast<size_t>(pixels) * sizeof(Sum<T>)));
        std::fill(sums, sums + pixels, Sum<T>{0});
        spread(a, grad, sums);
        for (int64_t i = 0; i < pixels; ++i) out[i] = T(sums[i]);
      }
    });
  });
}

}  // namespace

extern const PoolKernels pool_kernels = {&max, &max_backward, &max_gather, &average,
                                         &average_backward};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
