#include <ebb/core/ops/conv_kernels.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/tensor_iterator.h>
#include <ebb/cuda/kernels/gemm.h>
#include <ebb/cuda/kernels/storage_types.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/kernels/windows.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Convolutions as matrix products, one for each group and image:
//
//   output [O, P]       = weight [O, C K]      x columns [C K, P]
//   columns [C K, P]    = weight^T [C K, O]    x grad_output [O, P],  then folded to grad_input
//   grad_weight [O, CK] = grad_output [O, N P] x columns^T [N P, C K]
//
// where the columns hold the windows of the input: P output pixels, K taps of the kernel. They lie
// in scratch memory of a bounded size, so the work is cut into chunks: some images, or some rows of
// one large image. Folding is a gather: each pixel adds up the windows that hold it.

namespace ebb::cuda {

namespace {

/// Bytes of scratch that a chunk may take, unless one row of one image needs more.
constexpr int64_t kChunkBytes = int64_t{32} << 20;

/// The images first_image to first_image + images - 1, of each the rows from first_row on.
struct Chunk {
  int64_t first_image;
  int64_t images;
  int64_t first_row;
  int64_t rows;
};

/// Calls f(chunk) for chunks that cover all images of `rows` rows; `rows_at_once` are as many as
/// have room in scratch.
template <typename F>
void for_each_chunk(int64_t images, int64_t rows, int64_t rows_at_once, F&& f) {
  const int64_t images_at_once = std::max<int64_t>(rows_at_once / rows, 1);
  const int64_t strip = std::clamp<int64_t>(rows_at_once, 1, rows);
  for (int64_t image = 0; image < images; image += images_at_once) {
    for (int64_t row = 0; row < rows; row += strip) {
      f(Chunk{image, std::min(images_at_once, images - image), row, std::min(strip, rows - row)});
    }
  }
}

WindowAxis axis_of(const ConvShape& s, int d) {
  return {s.in[d], s.out[d], s.kernel[d], s.stride[d], s.padding[d], s.dilation[d]};
}

/// The columns of a chunk: element (channel, tap) of window (image, row, column), rows counted from
/// the first of the chunk.
struct Columns {
  WindowAxis rows;
  WindowAxis columns;
  int64_t channels;
  int64_t first_row;
  int64_t image_stride;
  int64_t line_stride;  ///< from one tap or channel to the next

  Columns(const ConvShape& s, int64_t first_row, int64_t image_stride, int64_t line_stride)
      : rows(axis_of(s, 0)),
        columns(axis_of(s, 1)),
        channels(s.groups * s.in_channels),
        first_row(first_row),
        image_stride(image_stride),
        line_stride(line_stride) {}
  EBB_INLINE int64_t at(int64_t image, int64_t channel, int64_t row, int64_t column) const {
    return image * image_stride + channel * rows.kernel * columns.kernel * line_stride +
           (row - first_row) * columns.count + column;
  }
};

/// Copies the windows of a chunk of `rows` output rows to their columns; a thread for each window
/// of each channel.
template <typename S>
__global__ void unfold(Columns to, const S* image, int64_t image_stride, int64_t channel_stride,
                       int64_t row_stride, int64_t column_stride, int64_t rows, S* columns,
                       int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace window = place_of(i, rows, to.columns.count);
    const int64_t n = window.plane / to.channels;
    const int64_t channel = window.plane - n * to.channels;
    const int64_t row = to.first_row + window.row;
    const int64_t top = row * to.rows.stride - to.rows.padding;
    const int64_t left = window.column * to.columns.stride - to.columns.padding;
    const S* const from = image + n * image_stride + channel * channel_stride;
    S* out = columns + to.at(n, channel, row, window.column);
    for (int64_t r = 0; r < to.rows.kernel; ++r) {
      const int64_t y = top + r * to.rows.dilation;
      const bool has_row = y >= 0 && y < to.rows.size;
      for (int64_t c = 0; c < to.columns.kernel; ++c, out += to.line_stride) {
        const int64_t x = left + c * to.columns.dilation;
        const bool inside = has_row && x >= 0 && x < to.columns.size;
        *out = inside ? from[y * row_stride + x * column_stride] : static_cast<S>(0);
      }
    }
  }
}

/// Makes each pixel of `rows` input rows, from first_row on, the sum of its elements in all
/// windows; a thread for each pixel.
template <typename S>
__global__ void fold(Columns from, const Sum<S>* columns, S* image, int64_t first_row, int64_t rows,
                     int64_t numel) {
  const auto step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < numel;
       i += step) {
    const PlanePlace pixel = place_of(i, rows, from.columns.size);
    const int64_t n = pixel.plane / from.channels;
    const int64_t channel = pixel.plane - n * from.channels;
    const int64_t row = first_row + pixel.row;
    const WindowRange down = from.rows.windows(row, row);
    const WindowRange across = from.columns.windows(pixel.column, pixel.column);
    Sum<S> sum = 0;
    for (int64_t y = down.first; y < down.last; ++y) {
      const int64_t r = from.rows.tap(y, row);
      if (r < 0) continue;
      for (int64_t x = across.first; x < across.last; ++x) {
        const int64_t c = from.columns.tap(x, pixel.column);
        if (c < 0) continue;
        sum +=
            columns[from.at(n, channel, y, x) + (r * from.columns.kernel + c) * from.line_stride];
      }
    }
    image[(pixel.plane * from.rows.size + row) * from.columns.size + pixel.column] =
        static_cast<S>(sum);
  }
}

template <typename S>
S* element(const void* data, int64_t offset) {
  return static_cast<S*>(const_cast<void*>(data)) + offset;
}

/// Fills the columns of a chunk of the input.
template <typename S>
void unfold_chunk(const KernelDevice& device, const ConvArguments& a, const Chunk& chunk,
                  const Columns& to, S* columns) {
  const int64_t numel = chunk.images * to.channels * chunk.rows * to.columns.count;
  if (numel == 0) return;
  const int64_t(&strides)[4] = a.image.strides;
  launch(&unfold<S>, blocks_for(numel), kBlockThreads, 0, device.stream(), to,
         element<const S>(a.image.data, chunk.first_image * strides[0]), strides[0], strides[1],
         strides[2], strides[3], chunk.rows, columns, numel);
}

/// Copies the elements of a tensor with these sizes and strides, converting them.
void copy_elements(IntArrayRef sizes, void* to, ScalarType to_dtype, IntArrayRef to_strides,
                   const void* from, ScalarType from_dtype, IntArrayRef from_strides) {
  TensorIterator it(sizes);
  it.add(to, to_dtype, sizes, to_strides);
  it.add(const_cast<void*>(from), from_dtype, sizes, from_strides);
  it.set_compute_type(from_dtype);
  it.build();
  copy_kernels.copy(it);
}

/// Whether an output pixel is made of one input pixel, the one at its place.
bool is_pointwise(const ConvShape& s) {
  for (int d = 0; d < 2; ++d) {
    if (s.kernel[d] != 1 || s.stride[d] != 1 || s.padding[d] != 0) return false;
  }
  return true;
}

/// Some rows of a batch of images of `width` columns as matrices [channels, pixels]: as they lie,
/// or copied where rows are not one run.
template <typename S>
class Pixels {
 public:
  Pixels(const ImageView& image, const Chunk& chunk, int64_t groups, int64_t channels,
         int64_t width)
      : view_{.batch_strides = {}} {
    const int64_t(&strides)[4] = image.strides;
    const S* data =
        element<S>(image.data, chunk.first_image * strides[0] + chunk.first_row * strides[2]);
    const int64_t pixels = chunk.rows * width;
    if (chunk.rows == 1 || width == 1 || strides[2] == width * strides[3]) {
      view_.data = const_cast<S*>(data);
      view_.row_stride = strides[1];
      view_.column_stride = width == 1 ? strides[2] : strides[3];
      view_.batch_strides = {strides[0], channels * strides[1]};
      return;
    }
    const int64_t planes = groups * channels;
    copy_.emplace(static_cast<size_t>(chunk.images * planes * pixels) * sizeof(S));
    copy_elements({chunk.images, planes, chunk.rows, width}, copy_->data(), scalar_type_of<S>,
                  {planes * pixels, pixels, width, 1}, data, scalar_type_of<S>, strides);
    view_ = {copy_->data(), pixels, 1, {planes * pixels, channels * pixels}};
  }
  /// For batches [images, groups].
  [[nodiscard]] const MatrixView& view() const { return view_; }

 private:
  MatrixView view_;
  std::optional<Workspace> copy_;
};

/// How many rows of windows have room in scratch where each takes `lines` elements a window.
int64_t rows_at_once(const ConvShape& s, int64_t lines, size_t element_bytes) {
  const int64_t row = lines * s.out[1] * static_cast<int64_t>(element_bytes);
  return std::max<int64_t>(kChunkBytes / std::max<int64_t>(row, 1), 1);
}

int64_t depth_of(const ConvShape& s) { return s.in_channels * s.taps(); }

/// The output of a chunk, from matrices [C K, pixels] for batches [images, groups].
template <typename S>
void multiply_forward(const KernelDevice& device, const ConvArguments& a, const Chunk& chunk,
                      const MatrixView& columns) {
  const ConvShape& s = a.shape;
  const int64_t depth = depth_of(s);
  const int64_t plane = s.out_pixels();
  const int64_t channels = s.groups * s.out_channels;
  MatmulArguments product{
      .m = s.out_channels,
      .n = chunk.rows * s.out[1],
      .k = depth,
      .batch = {chunk.images, s.groups},
      .dtype = a.dtype,
      .a = {element<S>(a.matrix, 0), depth, 1, {0, s.out_channels * depth}},
      .b = columns,
      .addend = {},
      .c = {element<S>(a.output, chunk.first_image * channels * plane + chunk.first_row * s.out[1]),
            plane,
            1,
            {channels * plane, s.out_channels * plane}}};
  if (a.bias != nullptr) {
    product.beta = 1;
    product.addend = {element<S>(a.bias, 0), 1, 0, {0, s.out_channels}};
  }
  multiply(device, product, a.dtype);
}

template <typename S>
void forward_of(const ConvArguments& a) {
  const KernelDevice device;
  const ConvShape& s = a.shape;
  if (is_pointwise(s)) {
    const Chunk all{0, s.batch, 0, s.out[0]};
    const Pixels<S> pixels(a.image, all, s.groups, s.in_channels, s.in[1]);
    return multiply_forward<S>(device, a, all, pixels.view());
  }
  const int64_t lines = s.groups * depth_of(s);
  for_each_chunk(s.batch, s.out[0], rows_at_once(s, lines, sizeof(S)), [&](const Chunk& chunk) {
    const int64_t pixels = chunk.rows * s.out[1];
    const Workspace columns(static_cast<size_t>(chunk.images * lines * pixels) * sizeof(S));
    unfold_chunk(device, a, chunk, Columns(s, chunk.first_row, lines * pixels, pixels),
                 columns.as<S>());
    multiply_forward<S>(device, a, chunk,
                        {columns.data(), pixels, 1, {lines * pixels, depth_of(s) * pixels}});
  });
}

/// weight^T times the rows of grad_output in a chunk, to matrices [C K, pixels] of type `dtype`.
template <typename S>
void multiply_backward(const KernelDevice& device, const ConvArguments& a, const Chunk& chunk,
                       const MatrixView& columns, ScalarType dtype) {
  const ConvShape& s = a.shape;
  const int64_t depth = depth_of(s);
  const Pixels<S> grad(a.image, chunk, s.groups, s.out_channels, s.out[1]);
  multiply(device,
           {.m = depth,
            .n = chunk.rows * s.out[1],
            .k = s.out_channels,
            .batch = {chunk.images, s.groups},
            .dtype = a.dtype,
            .a = {element<S>(a.matrix, 0), 1, depth, {0, s.out_channels * depth}},
            .b = grad.view(),
            .addend = {},
            .c = columns},
           dtype);
}

/// The gradient of the input rows of a chunk.
template <typename S>
void backward_input_of_chunk(const KernelDevice& device, const ConvArguments& a,
                             const Chunk& chunk) {
  using T = Sum<S>;
  const ConvShape& s = a.shape;
  const WindowRange range =
      axis_of(s, 0).windows(chunk.first_row, chunk.first_row + chunk.rows - 1);
  const int64_t rows = std::max<int64_t>(range.last - range.first, 0);
  const int64_t pixels = rows * s.out[1];
  const int64_t lines = s.groups * depth_of(s);
  const Workspace columns(static_cast<size_t>(chunk.images * lines * pixels) * sizeof(T));
  if (rows > 0) {
    multiply_backward<S>(device, a, {chunk.first_image, chunk.images, range.first, rows},
                         {columns.data(), pixels, 1, {lines * pixels, depth_of(s) * pixels}},
                         scalar_type_of<T>);
  }
  const int64_t planes = s.groups * s.in_channels;
  const int64_t numel = chunk.images * planes * chunk.rows * s.in[1];
  launch(&fold<S>, blocks_for(numel), kBlockThreads, 0, device.stream(),
         Columns(s, range.first, lines * pixels, pixels), static_cast<const T*>(columns.as<T>()),
         element<S>(a.output, chunk.first_image * planes * s.in_pixels()), chunk.first_row,
         chunk.rows, numel);
}

/// As many input rows as need `rows` rows of windows at most, or one.
int64_t input_rows(const ConvShape& s, int64_t rows) {
  if (rows >= s.out[0]) return std::max(rows / s.out[0], int64_t{1}) * s.in[0];
  const int64_t reach = ((s.kernel[0] - 1) * s.dilation[0] + s.stride[0]) / s.stride[0];
  return std::max<int64_t>((rows - reach) * s.stride[0], 1);
}

template <typename S>
void backward_input_of(const ConvArguments& a) {
  const KernelDevice device;
  const ConvShape& s = a.shape;
  if (is_pointwise(s)) {
    const int64_t plane = s.in_pixels();
    return multiply_backward<S>(
        device, a, {0, s.batch, 0, s.out[0]},
        {a.output, plane, 1, {s.groups * s.in_channels * plane, s.in_channels * plane}}, a.dtype);
  }
  const int64_t windows = rows_at_once(s, s.groups * depth_of(s), sizeof(Sum<S>));
  for_each_chunk(s.batch, s.in[0], input_rows(s, windows),
                 [&](const Chunk& chunk) { backward_input_of_chunk<S>(device, a, chunk); });
}

/// Adds the products of a chunk to the sums [G O, C K] of type `dtype`.
template <typename S>
void add_weight_of_chunk(const KernelDevice& device, const ConvArguments& a, const Chunk& chunk,
                         void* sums, ScalarType dtype, bool is_first) {
  const ConvShape& s = a.shape;
  const int64_t depth = depth_of(s);
  const int64_t lines = s.groups * depth;
  const int64_t channels = s.groups * s.out_channels;
  const int64_t rows = chunk.rows * s.out[1];
  const int64_t pixels = chunk.images * rows;
  const Workspace columns(static_cast<size_t>(lines * pixels) * sizeof(S));
  unfold_chunk(device, a, chunk, Columns(s, chunk.first_row, rows, pixels), columns.as<S>());

  // The pixels of all images as one row for each channel.
  const int64_t plane = s.out_pixels();
  MatrixView grad{
      element<S>(a.matrix, chunk.first_image * channels * plane + chunk.first_row * s.out[1]),
      plane,
      1,
      {s.out_channels * plane}};
  std::optional<Workspace> gathered;
  if (chunk.images > 1) {
    gathered.emplace(static_cast<size_t>(channels * pixels) * sizeof(S));
    copy_elements({channels, chunk.images, rows}, gathered->data(), a.dtype, {pixels, rows, 1},
                  grad.data, a.dtype, {plane, channels * plane, 1});
    grad = {gathered->data(), pixels, 1, {s.out_channels * pixels}};
  }
  const MatrixView result{sums, depth, 1, {s.out_channels * depth}};
  multiply(device,
           {.m = s.out_channels,
            .n = depth,
            .k = pixels,
            .batch = {s.groups},
            .dtype = a.dtype,
            .beta = is_first ? 0 : 1,
            .a = grad,
            .b = {columns.data(), 1, pixels, {depth * pixels}},
            .addend = result,
            .c = result},
           dtype);
}

template <typename S>
void backward_weight_of(const ConvArguments& a) {
  const KernelDevice device;
  const ConvShape& s = a.shape;
  const int64_t lines = s.groups * (depth_of(s) + s.out_channels);
  const int64_t rows = rows_at_once(s, lines, sizeof(S));
  const int64_t elements = s.groups * s.out_channels * depth_of(s);
  // 16-bit results of several chunks are added up in float32.
  constexpr ScalarType kSum = scalar_type_of<Sum<S>>;
  std::optional<Workspace> sums;
  if (a.dtype != kSum && rows < s.batch * s.out[0]) {
    sums.emplace(static_cast<size_t>(elements) * sizeof(Sum<S>));
  }
  void* const target = sums ? sums->data() : a.output;
  bool is_first = true;
  const auto add = [&](const Chunk& chunk) {
    add_weight_of_chunk<S>(device, a, chunk, target, sums ? kSum : a.dtype,
                           std::exchange(is_first, false));
  };
  if (s.batch == 0) return add({0, 0, 0, s.out[0]});  // zeros
  for_each_chunk(s.batch, s.out[0], rows, add);
  if (sums) copy_elements({elements}, a.output, a.dtype, {1}, target, kSum, {1});
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

}  // namespace ebb::cuda
