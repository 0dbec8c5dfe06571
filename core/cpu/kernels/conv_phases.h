#pragma once

#include <numeric>

#include <ebb/core/cpu/kernels/window_source.h>

// The gradient of a convolution's input. With strides above 1 the pixels of the input fall into
// phases, by their place between the steps of the kernel: those of one phase meet the same taps,
// and the gradient of the output at stride 1.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// The input pixels first, first + stride, ... along one dimension, and the taps that they meet.
struct Phase {
  int64_t first;
  int64_t tap;       ///< the first of the taps
  int64_t tap_step;  ///< from one tap to the next
  Reach reach;       ///< into the gradient of the output
};

inline Phase phase_of(const ConvShape& s, int dim, int64_t first) {
  const int64_t stride = s.stride[dim];
  const int64_t step = stride / std::gcd(stride, s.dilation[dim]);
  const auto position = [&](int64_t tap) { return first + s.padding[dim] - tap * s.dilation[dim]; };
  int64_t tap = 0;
  while (tap < std::min(step, s.kernel[dim]) && position(tap) % stride != 0) ++tap;
  const bool meets = tap < std::min(step, s.kernel[dim]);
  return {.first = first,
          .tap = tap,
          .tap_step = step,
          .reach = {.lines = (s.in[dim] - first + stride - 1) / stride,
                    .size = s.out[dim],
                    .taps = meets ? (s.kernel[dim] - 1 - tap) / step + 1 : 0,
                    .step = 1,
                    .start = meets ? position(tap) / stride : 0,
                    .tap = -(step * s.dilation[dim] / stride)}};
}

/// The weight [O, C, kernel] as rows of C, each running along O and the taps of a phase.
template <typename S>
struct PhaseWeight {
  const S* data;
  const ConvShape& shape;
  const Phase& rows;
  const Phase& columns;

  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    const int64_t taps = rows.reach.taps * columns.reach.taps;
    for (int64_t p = 0; p < depth; ++p, ++k, to += width) {
      const int64_t row = rows.tap + k % taps / columns.reach.taps * rows.tap_step;
      const int64_t column = columns.tap + k % columns.reach.taps * columns.tap_step;
      const S* from = data + (k / taps * shape.in_channels + first) * shape.taps() +
                      row * shape.kernel[1] + column;
      for (int64_t i = 0; i < lines; ++i) to[i] = widened<T>(from[i * shape.taps()]);
      for (int64_t i = lines; i < width; ++i) to[i] = T{};
    }
  }
};

/// Calls f(phase of the rows, phase of the columns) for all phases that have pixels.
template <typename F>
void for_each_phase(const ConvShape& s, F&& f) {
  for (int64_t y = 0; y < std::min(s.stride[0], s.in[0]); ++y) {
    const Phase rows = phase_of(s, 0, y);
    for (int64_t x = 0; x < std::min(s.stride[1], s.in[1]); ++x) f(rows, phase_of(s, 1, x));
  }
}

/// Where the pixels of a phase lie in the input, whose planes are contiguous.
template <typename S, typename T>
Destination<S, T> phase_of_input(S* data, const ConvShape& s, const Phase& rows,
                                 const Phase& columns) {
  const int64_t pixels = s.in_pixels();
  return {.data = data + rows.first * s.in[1] + columns.first,
          .row_stride = pixels,
          .column_stride = s.stride[1],
          .inner_columns = columns.reach.lines,
          .middle_columns = rows.reach.lines,
          .middle_stride = s.stride[0] * s.in[1],
          .outer_stride = s.groups * s.in_channels * pixels};
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
