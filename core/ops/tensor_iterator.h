#pragma once

#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/parallel.h>
#include <ebb/core/tensor/scalar.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb {

/// How many elements a thread should get at least: below that a loop stays on the calling thread.
inline constexpr int64_t kGrain = 32768;

/// Walks over the elements of several operands at once, each with strides of its own; stride 0
/// repeats an element. Serves elementwise ops (outputs first, inputs broadcast) and reductions (the
/// output has stride 0 along what is reduced). Plain data, so that a device can copy it.
///
/// Made in three steps:
///
///   TensorIterator it(sizes);              // the common shape
///   it.add(output); it.add(input);         // operands, each expandable to it
///   it.build();                            // drops, orders and merges dimensions
///
/// After build() dimension 0 is the innermost; dimensions of size one are gone, dimensions that are
/// one run for all operands are merged, and the smallest strides come first (of the first operand
/// that tells two dimensions apart).
class EBB_API TensorIterator {
 public:
  static constexpr int kMaxOperands = 6;
  static constexpr int kMaxDims = 64;

  struct Operand {
    char* data;
    ScalarType dtype;
    bool is_scalar;  ///< a number held by the iterator, in the compute type
  };

  /// An iterator over `sizes` (row-major, outermost first). Throws for more than 64 dimensions.
  explicit TensorIterator(IntArrayRef sizes);
  TensorIterator(const TensorIterator&) = delete;  // scalar operands point into it
  TensorIterator& operator=(const TensorIterator&) = delete;

  /// Adds a tensor whose sizes expand to the iterator's.
  void add(const TensorBase& tensor) {
    add(tensor.data_ptr(), tensor.scalar_type(), tensor.sizes(), tensor.strides());
  }
  /// Adds memory with sizes that expand to the iterator's and strides in elements, which may be
  /// negative or zero.
  void add(void* data, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides);
  /// Adds a number, repeated everywhere. set_compute_type comes first.
  void add(const Scalar& value);
  /// The type that kernels compute in: float, double or int64, from any dtype.
  void set_compute_type(ScalarType dtype) { compute_type_ = ebb::compute_type(dtype); }

  enum class Order { by_strides, row_major };
  /// `Order::row_major` keeps the order of the dimensions, so that position i of the loop is the
  /// logical element i (random numbers need that).
  void build(Order order = Order::by_strides);

  /// The whole of the above for tensors that all are contiguous and of equal sizes: one dimension.
  struct Contiguous {};
  TensorIterator(Contiguous, int64_t numel) noexcept : ndim_(1), numel_(numel), sizes_{numel} {}
  void add_contiguous(void* data, ScalarType dtype) noexcept {
    operands_[noperands_] = {static_cast<char*>(data), dtype, false};
    strides_[noperands_++][0] = static_cast<int64_t>(element_size(dtype));
  }

  [[nodiscard]] int ndim() const noexcept { return ndim_; }
  [[nodiscard]] int64_t numel() const noexcept { return numel_; }
  [[nodiscard]] int noperands() const noexcept { return noperands_; }
  [[nodiscard]] ScalarType compute_type() const noexcept { return compute_type_; }
  [[nodiscard]] const Operand& operand(int i) const noexcept { return operands_[i]; }
  [[nodiscard]] char* data(int i) const noexcept { return operands_[i].data; }
  [[nodiscard]] ScalarType dtype(int i) const noexcept { return operands_[i].dtype; }
  /// The size of dimension `dim`, counted from the innermost.
  [[nodiscard]] int64_t size(int dim) const noexcept { return sizes_[dim]; }
  /// The stride in bytes of operand i.
  [[nodiscard]] int64_t stride(int i, int dim) const noexcept { return strides_[i][dim]; }
  [[nodiscard]] const int64_t* strides(int i) const noexcept { return strides_[i]; }
  /// Whether operand i is one run of adjacent elements.
  [[nodiscard]] bool is_contiguous(int i) const noexcept {
    return ndim_ == 1 && strides_[i][0] == static_cast<int64_t>(element_size(operands_[i].dtype));
  }

 private:
  void drop_ones();
  void order_by_strides();
  void merge();
  [[nodiscard]] int compare_strides(int dim0, int dim1) const;
  void swap_dims(int dim0, int dim1);

  int ndim_ = 0;
  int noperands_ = 0;
  ScalarType compute_type_ = ScalarType::Float;
  int64_t numel_ = 1;
  Operand operands_[kMaxOperands];
  alignas(8) char scalars_[kMaxOperands][8];
  int64_t sizes_[kMaxDims];
  int64_t strides_[kMaxOperands][kMaxDims];
};

/// Where a loop over an iterator stands: indices, and a pointer into each operand.
class IteratorPosition {
 public:
  /// At the linear position `start` (innermost dimension fastest).
  __attribute__((always_inline)) IteratorPosition(const TensorIterator& iterator, int64_t start) noexcept
      : iterator_(iterator) {
    for (int i = 0; i < iterator.noperands(); ++i) pointers_[i] = iterator.data(i);
    for (int dim = 0; dim < iterator.ndim(); ++dim) {
      index_[dim] = start % iterator.size(dim);
      start /= iterator.size(dim);
      for (int i = 0; i < iterator.noperands(); ++i) {
        pointers_[i] += index_[dim] * iterator.stride(i, dim);
      }
    }
  }
  [[nodiscard]] char* const* pointers() const noexcept { return pointers_; }
  [[nodiscard]] char* pointer(int i) const noexcept { return pointers_[i]; }
  [[nodiscard]] int64_t index(int dim) const noexcept { return index_[dim]; }
  /// Moves by `steps` along dimension `dim`, which must not lead beyond its end; the dimensions
  /// below stand at 0. At the end of a dimension the next one moves.
  __attribute__((always_inline)) void advance(int dim, int64_t steps) noexcept {
    for (; dim < iterator_.ndim(); ++dim, steps = 1) {
      index_[dim] += steps;
      const bool wraps = index_[dim] == iterator_.size(dim) && dim + 1 < iterator_.ndim();
      const int64_t moved = wraps ? steps - iterator_.size(dim) : steps;
      for (int i = 0; i < iterator_.noperands(); ++i) {
        pointers_[i] += moved * iterator_.stride(i, dim);
      }
      if (!wraps) return;
      index_[dim] = 0;
    }
  }

 private:
  const TensorIterator& iterator_;
  char* pointers_[TensorIterator::kMaxOperands];
  int64_t index_[TensorIterator::kMaxDims];
};

/// Calls f(pointers, n) for the runs along dimension 0 that make up the positions [begin, end);
/// operand i of a run starts at pointers[i] and steps by iterator.stride(i, 0).
template <typename F>
void for_each_run(const TensorIterator& iterator, int64_t begin, int64_t end, F&& f) {
  if (begin >= end) return;
  IteratorPosition position(iterator, begin);
  while (begin < end) {
    const int64_t rest = iterator.size(0) - position.index(0);
    const int64_t n = rest < end - begin ? rest : end - begin;
    f(position.pointers(), n);
    position.advance(0, n);
    begin += n;
  }
}

/// for_each_run over all positions, on several threads where there are at least `grain` for each.
template <typename F>
void parallel_for_each_run(const TensorIterator& iterator, F&& f, int64_t grain = kGrain) {
  parallel_for(0, iterator.numel(), grain,
               [&](int64_t begin, int64_t end) { for_each_run(iterator, begin, end, f); });
}

}  // namespace ebb
