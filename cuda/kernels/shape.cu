#include <algorithm>

#include <ebb/core/ops/shape_kernels.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Compiled without fused multiply-add, so that ranges are those of the CPU.

namespace ebb::cuda {

namespace {

/// A part of the triangles of a stack of matrices: some rows, and of them a range of columns.
struct TriangleTask {
  char* to;
  const char* from;
  uint32_t numel;
  int64_t first_row;  ///< its number in the stack
  int64_t rows;       ///< of a matrix
  int64_t first_column;
  Divider<uint32_t> columns;
  int64_t to_stride;
  int64_t from_stride;
  int64_t diagonal;
  bool lower;
};

template <typename U>
__global__ void triangle_elements(TriangleTask task, StridedIndex<2> rows) {
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < task.numel; i += step) {
    const uint32_t row = task.columns.divide(i);
    const int64_t column = task.first_column + (i - row * task.columns.divisor);
    const int64_t distance = column - (task.first_row + row) % task.rows - task.diagonal;
    const bool kept = task.lower ? distance <= 0 : distance >= 0;
    const Offsets<2> offsets = rows(row);
    U* to = reinterpret_cast<U*>(task.to + offsets[0] + column * task.to_stride);
    if (kept) {
      *to = *reinterpret_cast<const U*>(task.from + offsets[1] + column * task.from_stride);
    } else {
      *to = U{0};
    }
  }
}

template <typename U>
void triangle_as(const TriangleArguments& args) {
  const KernelDevice device;
  const int64_t most = std::min(args.columns, kMaxPieceNumel);
  for (int64_t column = 0; column < args.columns; column += most) {
    const int64_t columns = std::min(most, args.columns - column);
    for_each_piece(
        args.rows_iterator,
        [&](const Piece& piece) {
          const TriangleTask task = {piece.data(0),
                                     piece.data(1),
                                     static_cast<uint32_t>(piece.numel() * columns),
                                     piece.first(),
                                     args.rows,
                                     column,
                                     Divider<uint32_t>(columns),
                                     args.column_strides[0],
                                     args.column_strides[1],
                                     args.diagonal,
                                     args.part == ops::Triangle::lower};
          launch(&triangle_elements<U>, blocks_for(task.numel), kBlockThreads, 0, device.stream(),
                 task, StridedIndex<2>(piece));
        },
        kMaxPieceNumel / columns);
  }
}

void triangle(const TriangleArguments& args) {
  switch (element_size(args.rows_iterator.dtype(0))) {
    case 1:
      return triangle_as<uint8_t>(args);
    case 2:
      return triangle_as<uint16_t>(args);
    case 4:
      return triangle_as<uint32_t>(args);
    default:
      return triangle_as<uint64_t>(args);
  }
}

struct FloatingRange {
  using Number = double;
  double start;
  double step;
  EBB_INLINE double operator()(int64_t i) const { return start + static_cast<double>(i) * step; }
};

/// In unsigned numbers: i * step may pass 2^63 where the sum does not.
struct IntegerRange {
  using Number = int64_t;
  uint64_t start;
  uint64_t step;
  EBB_INLINE int64_t operator()(int64_t i) const {
    return static_cast<int64_t>(start + static_cast<uint64_t>(i) * step);
  }
};

struct EvenlySpaced {
  using Number = double;
  double start;
  double end;
  double step;
  int64_t last;
  EBB_INLINE double operator()(int64_t i) const {
    return i < (last + 1) / 2 || last == 0 ? start + step * static_cast<double>(i)
                                           : end - step * static_cast<double>(last - i);
  }
};

/// Element i of the adjacent elements of that dtype becomes value(first + i).
template <typename F>
__global__ void generate_elements(F value, char* to, ScalarType dtype, int64_t first,
                                  uint32_t numel) {
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < numel; i += step) {
    dispatch_element(dtype, [&](auto zero) {
      using T = decltype(zero);
      reinterpret_cast<Stored<T>*>(to)[i] = convert<T, typename F::Number>(value(first + i));
    });
  }
}

template <typename F>
void generate(const TensorIterator& it, const F& value) {
  const KernelDevice device;
  for_each_piece(it, [&](const Piece& piece) {
    launch(&generate_elements<F>, blocks_for(piece.numel()), kBlockThreads, 0, device.stream(),
           value, piece.data(0), piece.dtype(0), piece.first(),
           static_cast<uint32_t>(piece.numel()));
  });
}

void arange(const TensorIterator& it, const Scalar& start, const Scalar& step) {
  if (start.is_floating_point() || step.is_floating_point()) {
    generate(it, FloatingRange{start.toDouble(), step.toDouble()});
  } else {
    generate(it, IntegerRange{static_cast<uint64_t>(start.toLong()),
                              static_cast<uint64_t>(step.toLong())});
  }
}

void linspace(const TensorIterator& it, double start, double end) {
  const int64_t last = it.numel() - 1;
  const double step = last > 0 ? (end - start) / static_cast<double>(last) : 0;
  generate(it, EvenlySpaced{start, end, step, last});
}

}  // namespace

extern const ShapeKernels shape_kernels = {&triangle, &arange, &linspace};

}  // namespace ebb::cuda
