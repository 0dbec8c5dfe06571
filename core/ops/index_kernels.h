#pragma once

#include <cstdint>

#include <ebb/core/ops/tensor_iterator.h>

namespace ebb {

/// Along the indexed dimension, which the iterator does not walk over.
struct IndexedDim {
  int64_t n;               ///< how many indices
  int64_t size;            ///< of the dimension that they index
  int64_t written_stride;  ///< in bytes, of operand 0
  int64_t index_stride;    ///< in bytes, of operand 1
  int64_t read_stride;     ///< in bytes, of operand 2
};

/// Reading and writing at int64 indices. The iterator walks over the lines: operand 0 is written,
/// operand 1 holds the indices, operand 2 is read. All indices are in range, unless the device has
/// no find_out_of_range: then its kernels report and skip those that are not.
struct IndexKernels {
  /// written[i] = read[index[i]] on each line.
  void (*gather)(const TensorIterator& lines, const IndexedDim& dim);
  /// written[index[i]] = read[i], the last one where an index occurs twice.
  void (*scatter)(const TensorIterator& lines, const IndexedDim& dim);
  /// written[index[i]] += alpha * read[i], in the order of i.
  void (*scatter_add)(const TensorIterator& lines, const IndexedDim& dim, const Scalar& alpha);
  /// Whether an element of operand 0 (int64) is not in [0, size); `found` becomes one such. May be
  /// null.
  bool (*find_out_of_range)(const TensorIterator& indices, int64_t size, int64_t* found);
  /// How many elements of operand 0 are not zero. `starts`, one more than there are pieces of
  /// `piece` positions, becomes how many come before those of each piece. The host waits for it.
  int64_t (*start_nonzero)(const TensorIterator& iterator, int64_t piece, int64_t* starts);
  /// The elements of operand 1 where operand 0 is not zero, one after another.
  void (*masked_select)(const TensorIterator& iterator, int64_t piece, const int64_t* starts,
                        void* out);
  /// The indices of the elements of operand 0 that are not zero, `sizes.size()` numbers each.
  void (*nonzero)(const TensorIterator& iterator, int64_t piece, const int64_t* starts,
                  IntArrayRef sizes, int64_t* out);
};

}  // namespace ebb
