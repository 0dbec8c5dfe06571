#include <ebb/core/ops/conv_kernels.h>

#include <ebb/core/cpu/kernels/conv_phases.h>
#include <ebb/core/cpu/kernels/direct_conv.h>
#include <ebb/core/cpu/kernels/storage_types.h>

// Convolutions as matrix products, one for each group, over the pixels of all images at once:
//
//   output      [O, N P]    = weight [O, C K]   x windows of the input [C K, N P]
//   grad_input  [C, N Q]    = weight^T [C, O K] x windows of grad_output [O K, N Q], by phases
//   grad_weight [O, C K]    = grad_output [O, N P] x windows of the input [N P, C K]
//
// where the windows are packed, or for some shapes read from a padded copy (direct_conv.h). P are
// the output, Q the input pixels and K the taps of the kernel.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// The windows of all images times the m rows of `a`.
template <typename S, typename T>
void multiply_windows(LeftPanels<T> a, int64_t m, const WindowSource<S>& b, int64_t channels,
                      int64_t batch, const Destination<S, T>& out) {
  if (suits_direct(b.rows, b.columns, channels, m)) {
    return multiply_directly(a, m, b, channels, batch, out);
  }
  const int64_t n = batch * b.rows.lines * b.columns.lines;
  const int64_t k = channels * b.rows.taps * b.columns.taps;
  const Blocks blocks = cut<T>(m, n, k, 1);
  parallel_for(0, blocks.count(), block_grain(blocks.rows, blocks.columns, k),
               [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) multiply(a, b, k, blocks[begin], out);
               });
}

Reach forward_reach(const ConvShape& s, int dim) {
  return {.lines = s.out[dim],
          .size = s.in[dim],
          .taps = s.kernel[dim],
          .step = s.stride[dim],
          .start = -s.padding[dim],
          .tap = s.dilation[dim]};
}

/// The windows of the channels of one group.
template <typename S>
WindowSource<S> windows_of(const ImageView& image, int64_t first_channel, const Reach& rows,
                           const Reach& columns) {
  const int64_t* strides = image.strides;
  return {static_cast<const S*>(image.data) + first_channel * strides[1],
          {strides[0], strides[1], strides[2], strides[3]},
          rows,
          columns};
}

template <typename S>
void forward_of(const ConvArguments& a) {
  using T = Accumulator<S>;
  const ConvShape& s = a.shape;
  const int64_t depth = s.in_channels * s.taps();
  const int64_t pixels = s.out_pixels();
  for (int64_t g = 0; g < s.groups; ++g) {
    const int64_t channel = g * s.out_channels;
    const MatrixSource<S> weight{static_cast<const S*>(a.matrix) + channel * depth, depth, 1};
    const WindowSource<S> windows =
        windows_of<S>(a.image, g * s.in_channels, forward_reach(s, 0), forward_reach(s, 1));
    Destination<S, T> out{.data = static_cast<S*>(a.output) + channel * pixels,
                          .row_stride = pixels,
                          .column_stride = 1,
                          .inner_columns = pixels,
                          .outer_stride = s.groups * s.out_channels * pixels};
    if (a.bias != nullptr) {
      out.beta = T{1};
      out.addend = static_cast<const S*>(a.bias) + channel;
      out.addend_row_stride = 1;
    }
    multiply_windows(weight, s.out_channels, windows, s.in_channels, s.batch, out);
  }
}

template <typename S>
void backward_input_of(const ConvArguments& a) {
  using T = Accumulator<S>;
  const ConvShape& s = a.shape;
  const int64_t pixels = s.in_pixels();
  for (int64_t g = 0; g < s.groups; ++g) {
    const S* weight =
        static_cast<const S*>(a.matrix) + g * s.out_channels * s.in_channels * s.taps();
    S* grad_input = static_cast<S*>(a.output) + g * s.in_channels * pixels;
    for_each_phase(s, [&](const Phase& rows, const Phase& columns) {
      const WindowSource<S> windows =
          windows_of<S>(a.image, g * s.out_channels, rows.reach, columns.reach);
      multiply_windows(PhaseWeight<S>{weight, s, rows, columns}, s.in_channels, windows,
                       s.out_channels, s.batch, phase_of_input<S, T>(grad_input, s, rows, columns));
    });
  }
}

/// A source from element `start` of k on.
template <typename Source>
struct Shifted {
  Source source;
  int64_t start;

  template <int width, typename T>
  void pack(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) const {
    source.template pack<width>(to, first, lines, start + k, depth);
  }
};

/// The sum of the partial results of all pieces, in their order.
template <typename S, typename T>
void add_pieces(const T* partial, int64_t pieces, int64_t elements, S* output) {
  parallel_for(0, elements, 16384, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      T sum = partial[begin];
      for (int64_t piece = 1; piece < pieces; ++piece) sum += partial[piece * elements + begin];
      output[begin] = narrowed<S>(sum);
    }
  });
}

/// Piece by piece of the images, each to a partial result of its own.
template <typename S, typename T>
void weight_directly(const ConvArguments& a, const SplitSource<S>& grad,
                     const WindowSource<S>& windows, T* partial) {
  const int64_t m = a.shape.out_channels;
  const int64_t n = a.shape.in_channels * a.shape.taps();
  const int64_t images = (a.shape.batch + a.pieces - 1) / a.pieces;
  parallel_for(0, a.pieces, 1, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      DirectWeight<S, T> direct(grad, m, windows, a.shape.in_channels);
      const int64_t last = std::min(a.shape.batch, (begin + 1) * images);
      for (int64_t image = begin * images; image < last; ++image) direct.add(image);
      direct.store({.data = partial + begin * m * n, .row_stride = 1, .column_stride = n});
    }
  });
}

/// Piece by piece of the pixels of all images.
template <typename S, typename T>
void weight_in_blocks(const ConvArguments& a, const SplitSource<S>& grad,
                      const WindowSource<S>& windows, T* partial) {
  const int64_t m = a.shape.out_channels;
  const int64_t n = a.shape.in_channels * a.shape.taps();
  const TapSource<S> taps{windows};
  const int64_t depth = a.shape.batch * a.shape.out_pixels();
  const int64_t piece_depth = round_up((depth + a.pieces - 1) / a.pieces, kDepth);
  const bool turn = n < kTileColumns<T> && m > n;  // a transposed result fills the vectors better
  const Blocks blocks =
      turn ? cut<T>(n, m, piece_depth, a.pieces) : cut<T>(m, n, piece_depth, a.pieces);
  parallel_for(0, a.pieces * blocks.count(), 1, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      const int64_t piece = begin / blocks.count();
      const int64_t start = std::min(depth, piece * piece_depth);
      const int64_t count = std::min(piece_depth, depth - start);
      const Destination<T, T> out{.data = partial + piece * m * n,
                                  .row_stride = turn ? 1 : n,
                                  .column_stride = turn ? n : 1};
      const Block block = blocks[begin % blocks.count()];
      const Shifted<SplitSource<S>> left{grad, start};
      const Shifted<TapSource<S>> right{taps, start};
      if (turn)
        multiply(right, left, count, block, out);
      else
        multiply(left, right, count, block, out);
    }
  });
}

template <typename S, typename T>
void weight_of_group(const ConvArguments& a, int64_t g, T* partial) {
  const ConvShape& s = a.shape;
  const int64_t pixels = s.out_pixels();
  const int64_t m = s.out_channels;
  const SplitSource<S> grad{
      {static_cast<const S*>(a.matrix) + g * m * pixels, pixels, 1}, pixels, s.groups * m * pixels};
  const WindowSource<S> windows =
      windows_of<S>(a.image, g * s.in_channels, forward_reach(s, 0), forward_reach(s, 1));
  if (DirectWeight<S, T>::suits(windows, s.in_channels, m)) {
    weight_directly(a, grad, windows, partial);
  } else {
    weight_in_blocks(a, grad, windows, partial);
  }
}

template <typename S>
void backward_weight_of(const ConvArguments& a) {
  using T = Accumulator<S>;
  const int64_t elements = a.shape.out_channels * a.shape.in_channels * a.shape.taps();
  auto* const output = static_cast<S*>(a.output);
  auto* const partial = static_cast<T*>(a.workspace);
  for (int64_t g = 0; g < a.shape.groups; ++g) {
    weight_of_group<S>(a, g, partial);
    add_pieces(partial, a.pieces, elements, output + g * elements);
  }
}

void forward(const ConvArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) { forward_of<decltype(zero)>(a); });
}

void backward_input(const ConvArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) { backward_input_of<decltype(zero)>(a); });
}

void backward_weight(const ConvArguments& a) {
  dispatch_floating_storage(a.dtype, [&](auto zero) { backward_weight_of<decltype(zero)>(a); });
}

}  // namespace

extern const ConvKernels conv_kernels = {&forward, &backward_input, &backward_weight};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
