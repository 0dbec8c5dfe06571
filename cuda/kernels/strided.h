#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include <ebb/core/export.h>
#include <ebb/core/ops/tensor_iterator.h>

// How kernels find the elements of strided operands. A TensorIterator may have 64 dimensions and
// any number of elements; on the host it is cut into pieces that a kernel can index with 32-bit
// numbers and few dimensions, nearly always one. On the device a StridedIndex makes the offsets of
// element i in all operands.

// Before a loop whose length is known on the device alone: unrolling it costs more code than it
// gains.
#if defined(__CUDA_ARCH__)
#define EBB_NO_UNROLL _Pragma("unroll 1")
#else
#define EBB_NO_UNROLL
#endif
// Before a loop of few steps that must be unrolled, because it indexes arrays that are to stay in
// registers.
#if defined(__CUDA_ARCH__)
#define EBB_UNROLL _Pragma("unroll")
#define EBB_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define EBB_UNROLL
#define EBB_UNROLL_BY_4
#endif

namespace ebb::cuda {

/// Dimensions that a kernel can index; an iterator with more is cut into pieces.
inline constexpr int kMaxPieceDims = 12;
/// Elements of a piece at most, so that 32-bit indices do, and the step of a grid does not make
/// them overflow. A multiple of any pack, so that a cut keeps the alignment.
inline constexpr int64_t kMaxPieceNumel = int64_t{1} << 30;

/// Threads of a block in kernels without shared memory.
inline constexpr int kBlockThreads = 256;
/// Blocks of a grid at most: kernels go through more elements by steps of the whole grid.
inline constexpr int64_t kMaxBlocks = int64_t{1} << 16;

/// The number of blocks, at least 1, for `count` threads of work.
inline uint32_t blocks_for(int64_t count, int64_t threads = kBlockThreads) {
  return static_cast<uint32_t>(std::clamp<int64_t>((count + threads - 1) / threads, 1, kMaxBlocks));
}

/// Quotients and remainders by a number that is known on the host.
template <typename Index>
struct Divider;

/// By multiplication, for dividends below 2^31 (Granlund and Montgomery, "Division by Invariant
/// Integers using Multiplication", PLDI 1994): n / d = (mulhi(n, m) + n) >> s with s = ceil(log2 d)
/// and m = floor(2^32 (2^s - d) / d) + 1.
template <>
struct Divider<uint32_t> {
  uint32_t divisor = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;

  Divider() = default;
  /// 1 <= d <= 2^31.
  explicit Divider(int64_t d) : divisor(static_cast<uint32_t>(d)) {
    while ((uint64_t{1} << shift) < divisor) ++shift;
    const uint64_t excess = (uint64_t{1} << shift) - divisor;
    multiplier = static_cast<uint32_t>((excess << 32) / divisor + 1);
  }
  EBB_INLINE uint32_t divide(uint32_t n) const {
    const auto high = static_cast<uint32_t>((static_cast<uint64_t>(n) * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

/// By the division of the device, for dividends of 64 bits.
template <>
struct Divider<uint64_t> {
  uint64_t divisor = 1;

  Divider() = default;
  explicit Divider(int64_t d) : divisor(static_cast<uint64_t>(d)) {}
  EBB_INLINE uint64_t divide(uint64_t n) const { return n / divisor; }
};

/// One number for each operand.
template <int kOperands>
struct Offsets {
  int64_t bytes[kOperands];
  EBB_INLINE int64_t operator[](int operand) const { return bytes[operand]; }
};

/// A part of an iteration: its whole inner dimensions and a range of the next one, which are
/// positions [first, first + numel) of the iteration, innermost dimension fastest.
class Piece {
 public:
  Piece(const TensorIterator& iterator, char* const* pointers, int64_t first, int ndim,
        int64_t last_size)
      : iterator_(iterator), first_(first), ndim_(ndim), last_size_(last_size) {
    for (int i = 0; i < iterator.noperands(); ++i) pointers_[i] = pointers[i];
    numel_ = 1;
    for (int dim = 0; dim < ndim; ++dim) numel_ *= size(dim);
  }

  [[nodiscard]] const TensorIterator& iterator() const { return iterator_; }
  [[nodiscard]] int64_t first() const { return first_; }
  [[nodiscard]] int64_t numel() const { return numel_; }
  [[nodiscard]] int ndim() const { return ndim_; }
  /// The size of dimension `dim`, counted from the innermost.
  [[nodiscard]] int64_t size(int dim) const {
    return dim + 1 == ndim_ ? last_size_ : iterator_.size(dim);
  }
  /// The first element of operand i in this piece.
  [[nodiscard]] char* data(int i) const { return pointers_[i]; }
  [[nodiscard]] ScalarType dtype(int i) const { return iterator_.dtype(i); }
  /// The stride in bytes of operand i.
  [[nodiscard]] int64_t stride(int i, int dim) const { return iterator_.stride(i, dim); }
  /// Whether operand i is one run of adjacent elements.
  [[nodiscard]] bool is_contiguous(int i) const {
    return ndim_ == 1 && stride(i, 0) == static_cast<int64_t>(element_size(dtype(i)));
  }
  /// Whether operand i is one element, repeated.
  [[nodiscard]] bool is_repeated(int i) const {
    for (int dim = 0; dim < ndim_; ++dim) {
      if (stride(i, dim) != 0) return false;
    }
    return true;
  }

 private:
  const TensorIterator& iterator_;
  char* pointers_[TensorIterator::kMaxOperands];
  int64_t first_;
  int64_t numel_;
  int ndim_;
  int64_t last_size_;
};

/// Calls f(piece) for pieces of at most `max_numel` elements and kMaxPieceDims dimensions that make
/// up the iteration, in its order. Calls nothing where there are no elements.
template <typename F>
void for_each_piece(const TensorIterator& it, F&& f, int64_t max_numel = kMaxPieceNumel) {
  if (it.numel() == 0) return;
  int inner = 0;  // dimensions that each piece has whole
  int64_t inner_numel = 1;
  while (inner < it.ndim() && inner < kMaxPieceDims && inner_numel * it.size(inner) <= max_numel) {
    inner_numel *= it.size(inner++);
  }
  IteratorPosition position(it, 0);
  if (inner == it.ndim()) {
    return f(Piece(it, position.pointers(), 0, inner, it.size(inner - 1)));
  }
  // Where the dimensions are many, one position of the next one at a time.
  const bool takes_range = inner < kMaxPieceDims;
  const int64_t range = takes_range ? max_numel / inner_numel : 1;
  for (int64_t first = 0; first < it.numel();) {
    const int64_t n = std::min(range, it.size(inner) - position.index(inner));
    f(Piece(it, position.pointers(), first, takes_range ? inner + 1 : inner,
            takes_range ? n : it.size(inner - 1)));
    position.advance(inner, n);
    first += n * inner_numel;
  }
}

/// The offsets in bytes of element i in kOperands operands. A kernel argument: trivially copyable.
template <int kOperands, typename Index = uint32_t>
struct StridedIndex {
  int ndim;
  Divider<Index> sizes[kMaxPieceDims];
  int64_t strides[kMaxPieceDims][kOperands] = {};

  /// Of the first kOperands operands of a piece. Its innermost dimension is taken in steps of
  /// `pack` elements, of which its size must be a multiple unless it is the only one.
  explicit StridedIndex(const Piece& piece, int pack = 1) : ndim(piece.ndim()) {
    for (int i = 0; i < kOperands; ++i) set_operand(piece, i, i, pack);
    set_sizes(piece, pack);
  }
  /// Of these operands of a piece.
  StridedIndex(const Piece& piece, const int (&operands)[kOperands]) : ndim(piece.ndim()) {
    for (int i = 0; i < kOperands; ++i) set_operand(piece, i, operands[i], 1);
    set_sizes(piece, 1);
  }
  /// Over `count` dimensions of a piece alone, the first fastest; with none there is one position.
  StridedIndex(const Piece& piece, const int* dims, int count) : ndim(std::max(count, 1)) {
    for (int k = 0; k < count; ++k) {
      sizes[k] = Divider<Index>(piece.size(dims[k]));
      for (int i = 0; i < kOperands; ++i) strides[k][i] = piece.stride(i, dims[k]);
    }
  }

  EBB_INLINE Offsets<kOperands> operator()(Index i) const {
    Offsets<kOperands> offsets = {};
    EBB_NO_UNROLL
    for (int dim = 0; dim + 1 < ndim; ++dim) {
      const Index quotient = sizes[dim].divide(i);
      add(offsets, dim, i - quotient * sizes[dim].divisor);
      i = quotient;
    }
    add(offsets, ndim - 1, i);
    return offsets;
  }

 private:
  void set_operand(const Piece& piece, int i, int operand, int pack) {
    for (int dim = 0; dim < ndim; ++dim) {
      strides[dim][i] = piece.stride(operand, dim) * (dim == 0 ? pack : 1);
    }
  }
  void set_sizes(const Piece& piece, int pack) {
    for (int dim = 0; dim < ndim; ++dim) {
      const int64_t steps = piece.size(dim) / (dim == 0 ? pack : 1);
      sizes[dim] = Divider<Index>(std::max<int64_t>(steps, 1));
    }
  }

  EBB_INLINE void add(Offsets<kOperands>& offsets, int dim, Index index) const {
    for (int i = 0; i < kOperands; ++i) {
      offsets.bytes[i] += static_cast<int64_t>(index) * strides[dim][i];
    }
  }
};

}  // namespace ebb::cuda
