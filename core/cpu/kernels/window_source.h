#pragma once

#include <ebb/core/cpu/kernels/gemm.h>
#include <ebb/core/ops/conv_kernels.h>

// The windows of images, read by a matrix product as if they stood in a matrix (im2col), which is
// never made.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// How pixels of one plane (the lines) meet pixels of an image along one dimension: line x and
/// kernel tap t read image position x * step + start + t * tap, or zero where that is outside.
struct Reach {
  int64_t lines;
  int64_t size;
  int64_t taps;
  int64_t step;
  int64_t start;
  int64_t tap;

  /// The range of i below `count` for which line x + i lies inside the image.
  void clip(int64_t position, int64_t count, int64_t& begin, int64_t& end) const {
    if (step == 1) {  // without divisions, which would cost as much as the copy
      begin = std::clamp<int64_t>(-position, 0, count);
      end = std::clamp(size - position, begin, count);
      return;
    }
    begin = position >= 0 ? 0 : std::min(count, (-position + step - 1) / step);
    const int64_t last = size - 1 - position;
    end = last < 0 ? begin : std::max(begin, std::min(count, last / step + 1));
  }
};

/// to[i] = from[i] for i from begin to end - 1, zero for the others below `count` <= width.
template <int width, typename T, typename S>
void copy_clipped(T* to, const S* from, int64_t begin, int64_t end, int64_t count) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<S, float> && std::is_same_v<T, float> && width % 16 == 0) {
    const uint64_t inside = ((uint64_t{1} << end) - 1) & ~((uint64_t{1} << begin) - 1);
    const uint64_t written = (uint64_t{1} << count) - 1;
#pragma GCC unroll 4
    for (int i = 0; i < width; i += 16) {
      const __m512 x = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside >> i), from + i);
      _mm512_mask_storeu_ps(to + i, static_cast<__mmask16>(written >> i), x);
    }
    return;
  }
#endif
  for (int64_t i = 0; i < begin; ++i) to[i] = T{};
  for (int64_t i = begin; i < end; ++i) to[i] = widened<T>(from[i]);
  for (int64_t i = end; i < count; ++i) to[i] = T{};
}

/// Lines are the pixels of a plane, image after image; k runs over channel, row and column of the
/// kernel.
template <typename S>
struct WindowSource {
  const S* data;
  int64_t strides[4];
  Reach rows;
  Reach columns;

  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    if (depth == 0) return;
    if (lines < width) std::fill(to, to + depth * width, T{});
    for (int64_t done = 0; done < lines;) {
      const int64_t x = (first + done) % columns.lines;
      const int64_t count = std::min(lines - done, columns.lines - x);
      const int64_t y = (first + done) / columns.lines;
      const S* image = data + y / rows.lines * strides[0];
      pack_run<width>(to + done, image, y % rows.lines, x, count, k, depth);
      done += count;
    }
  }

 private:
  /// `count` neighbours in a row of the plane.
  template <int width, typename T>
  void pack_run(T* to, const S* image, int64_t y, int64_t x, int64_t count, int64_t k,
                int64_t depth) const {
    const int64_t taps = rows.taps * columns.taps;
    const S* channel = image + k / taps * strides[1];
    int64_t row = k % taps / columns.taps;
    int64_t column = k % columns.taps;
    for (int64_t p = 0; p < depth; ++p, to += width) {
      pack_tap<width>(to, channel, y * rows.step + rows.start + row * rows.tap,
                      x * columns.step + columns.start + column * columns.tap, count);
      if (++column < columns.taps) continue;
      column = 0;
      if (++row < rows.taps) continue;
      row = 0;
      channel += strides[1];
    }
  }

  template <int width, typename T>
  void pack_tap(T* to, const S* channel, int64_t row, int64_t column, int64_t count) const {
    int64_t begin = 0;
    int64_t end = 0;
    if (row >= 0 && row < rows.size) columns.clip(column, count, begin, end);
    const int64_t step = columns.step * strides[3];
    const S* from = channel + row * strides[2] + column * strides[3];
    if (step == 1) return copy_clipped<width>(to, from, begin, end, count);
    for (int64_t i = 0; i < begin; ++i) to[i] = T{};
    for (int64_t i = begin; i < end; ++i) to[i] = widened<T>(from[i * step]);
    for (int64_t i = end; i < count; ++i) to[i] = T{};
  }
};

/// The same windows the other way round: lines are channel, row and column of the kernel, k runs
/// over the pixels of the plane, image after image.
template <typename S>
struct TapSource {
  WindowSource<S> windows;

  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    if (lines < width) std::fill(to, to + depth * width, T{});
    const Reach& rows = windows.rows;
    const Reach& columns = windows.columns;
    const int64_t taps = rows.taps * columns.taps;
    for (int64_t i = 0; i < lines; ++i) {
      const int64_t line = first + i;
      const S* channel = windows.data + line / taps * windows.strides[1];
      pack_line<width>(to + i, channel, rows.start + line % taps / columns.taps * rows.tap,
                       columns.start + line % columns.taps * columns.tap, k, depth);
    }
  }

 private:
  template <int width, typename T>
  void pack_line(T* to, const S* channel, int64_t row, int64_t column, int64_t k,
                 int64_t depth) const {
    const Reach& rows = windows.rows;
    const Reach& columns = windows.columns;
    int64_t x = k % columns.lines;
    int64_t y = k / columns.lines % rows.lines;
    channel += k / (columns.lines * rows.lines) * windows.strides[0];
    while (depth > 0) {
      const int64_t count = std::min(depth, columns.lines - x);
      pack_run<width>(to, channel, y * rows.step + row, x * columns.step + column, count);
      to += count * width;
      depth -= count;
      x = 0;
      if (++y < rows.lines) continue;
      y = 0;
      channel += windows.strides[0];
    }
  }

  template <int width, typename T>
  void pack_run(T* to, const S* channel, int64_t row, int64_t column, int64_t count) const {
    int64_t begin = 0;
    int64_t end = 0;
    if (row >= 0 && row < windows.rows.size) windows.columns.clip(column, count, begin, end);
    const int64_t step = windows.columns.step * windows.strides[3];
    const S* from = channel + row * windows.strides[2] + column * windows.strides[3];
    for (int64_t i = 0; i < begin; ++i) to[i * width] = T{};
    if (step == 1) {
#pragma GCC unroll 4
      for (int64_t i = begin; i < end; ++i) to[i * width] = widened<T>(from[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) to[i * width] = widened<T>(from[i * step]);
    }
    for (int64_t i = end; i < count; ++i) to[i * width] = T{};
  }
};

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
