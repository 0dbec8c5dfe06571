#pragma once

#include <cstdint>

#include <ebb/core/ops/join.h>
#include <ebb/core/ops/tensor_iterator.h>
#include <ebb/core/tensor/scalar.h>

namespace ebb {

/// Matrices whose one triangle is kept. Operand 0 of the iterator is written, operand 1 read; both
/// may be the same memory.
struct TriangleArguments {
  /// Over the rows of all matrices in row-major order; an operand points to the first element.
  const TensorIterator& rows_iterator;
  int64_t rows;
  int64_t columns;
  int64_t column_strides[2];  ///< in bytes: of the output, of the input
  int64_t diagonal;
  ops::Triangle part;
};

/// Kernels that make or move elements in ways that a strided copy cannot.
struct ShapeKernels {
  void (*triangle)(const TriangleArguments& arguments);
  /// Element i of the contiguous operand 0 becomes start + i * step, computed in double if one of
  /// them is floating-point, else in int64.
  void (*arange)(const TensorIterator& iterator, const Scalar& start, const Scalar& step);
  /// The elements of the contiguous operand 0 become evenly spaced from start to end, computed in
  /// double and exact at both ends.
  void (*linspace)(const TensorIterator& iterator, double start, double end);
};

}  // namespace ebb
