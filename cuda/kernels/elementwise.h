#pragma once

#include <type_traits>

#include <ebb/core/ops/functors/functor.h>
#include <ebb/core/ops/functors/table.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/pack.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// How the device runs an elementwise functor. Where all operands have one dtype (float32, float64,
// int64 and the half types) and their rows are adjacent elements, numbers or one element repeated,
// a kernel for that dtype moves 16 bytes at a time. Everything else goes through one kernel for
// each compute type that converts when it loads and stores and finds elements by their strides.

namespace ebb::cuda {
namespace {

// The operand of a functor that is a mask (bool) beside others of one dtype; 0: none.
template <typename F>
constexpr int mask_operand = std::is_same_v<F, functors::Where>        ? 1
                             : std::is_same_v<F, functors::MaskedFill> ? 2
                                                                       : 0;

/// The dtype of operand i (0: the result) of functor F on tensors of type S.
template <typename F, typename S, int i>
using OperandType =
    std::conditional_t<i == 0, std::conditional_t<F::result == functors::Result::boolean, bool, S>,
                       std::conditional_t<i != 0 && i == mask_operand<F>, bool, S>>;

/// The type that functor F computing in T gives.
template <typename F, typename T>
using ResultType = std::conditional_t<F::result == functors::Result::boolean, bool, T>;

template <typename F, typename Op, typename T>
__device__ __forceinline__ auto apply(const Op& op, const T (&in)[F::arity]) {
  if constexpr (F::arity == 1) {
    return op(in[0]);
  } else if constexpr (F::arity == 2) {
    return op(in[0], in[1]);
  } else {
    static_assert(F::arity == 3);
    return op(in[0], in[1], in[2]);
  }
}

/// Elements that a thread of the strided kernel has under way.
constexpr int kItems = 4;

/// Any layouts and dtypes.
template <typename F, typename T>
__global__ void elementwise_strided(typename F::template Op<T> op,
                                    Operands<F::arity + 1, T> operands,
                                    StridedIndex<F::arity + 1> index, uint32_t numel) {
  constexpr int kOperands = F::arity + 1;
  const uint32_t block = blockDim.x * kItems;
  for (uint32_t i = blockIdx.x * block + threadIdx.x; i < numel; i += gridDim.x * block) {
    char* pointers[kOperands][kItems];
    bool exists[kItems];
    for (int k = 0; k < kItems; ++k) {
      const uint32_t element = i + static_cast<uint32_t>(k) * blockDim.x;
      exists[k] = element < numel;
      const Offsets<kOperands> offsets = index(exists[k] ? element : i);
      for (int j = 0; j < kOperands; ++j) pointers[j][k] = operands[j].data + offsets[j];
    }
    T in[F::arity][kItems];
    for (int j = 0; j < F::arity; ++j) {
      if (operands[j + 1].is_number) {
        for (int k = 0; k < kItems; ++k) in[j][k] = operands[j + 1].number;
      } else {
        load_elements<T>(operands[j + 1].dtype, pointers[j + 1], in[j]);
      }
    }
    using R = ResultType<F, T>;
    Stored<R> out[kItems];
    for (int k = 0; k < kItems; ++k) {
      T arguments[F::arity];
      for (int j = 0; j < F::arity; ++j) arguments[j] = in[j][k];
      out[k] = static_cast<Stored<R>>(apply<F>(op, arguments));
    }
    store_elements<R>(operands[0].dtype, pointers[0], out, exists);
  }
}

/// How an operand's rows lie.
enum class Row : uint8_t { packs, repeated, number };

template <int kOperands>
struct Rows {
  Row row[kOperands];
};

/// N elements of type S from there on, as they lie in memory, or the first of them N times.
template <typename S, int N>
__device__ __forceinline__ Pack<Stored<S>, N> load_pack(const char* from, Row row) {
  if (row == Row::packs) return *reinterpret_cast<const Pack<Stored<S>, N>*>(from);
  Pack<Stored<S>, N> pack = {};
  if (row == Row::number) return pack;
  const auto element = *reinterpret_cast<const Stored<S>*>(from);
  for (int k = 0; k < N; ++k) pack[k] = element;
  return pack;
}

/// Operands of dtype S (masks and boolean results: bool) whose rows are packs of 16 bytes of S.
/// After `packs` of them, which `index` finds, the elements up to `numel` are taken singly; these
/// exist where there is one dimension.
template <typename F, typename T, typename S>
class Packed {
 public:
  static constexpr int kOperands = F::arity + 1;
  static constexpr int kPack = kPackSize<Stored<S>>;
  using Op = typename F::template Op<T>;
  using R = OperandType<F, S, 0>;

  __device__ __forceinline__ Packed(const Op& op, const Operands<kOperands, T>& operands,
                                    const Rows<kOperands>& rows)
      : op_(op), operands_(operands), rows_(rows) {}

  __device__ __forceinline__ void pack(const Offsets<kOperands>& offsets) const {
    // Declared for the highest arity; the compiler drops what a functor does not have.
    const auto a = load<1, kPack>(offsets);
    const auto b = load < F::arity >= 2 ? 2 : 1, kPack > (offsets);
    const auto c = load < F::arity >= 3 ? 3 : 1, kPack > (offsets);
    Pack<Stored<R>, kPack> out;
    for (int k = 0; k < kPack; ++k) out[k] = result(a[k], b[k], c[k]);
    *reinterpret_cast<Pack<Stored<R>, kPack>*>(operands_[0].data + offsets[0]) = out;
  }

  __device__ __forceinline__ void element(int64_t i) const {
    Offsets<kOperands> offsets;
    for (int j = 0; j < kOperands; ++j) {
      const auto size = static_cast<int64_t>(j == 0                 ? sizeof(Stored<R>)
                                             : j == mask_operand<F> ? 1
                                                                    : sizeof(Stored<S>));
      offsets.bytes[j] = row(j) == Row::packs ? i * size : 0;
    }
    const auto a = load<1, 1>(offsets);
    const auto b = load < F::arity >= 2 ? 2 : 1, 1 > (offsets);
    const auto c = load < F::arity >= 3 ? 3 : 1, 1 > (offsets);
    *reinterpret_cast<Stored<R>*>(operands_[0].data + offsets[0]) = result(a[0], b[0], c[0]);
  }

 private:
  template <int j, int N>
  __device__ __forceinline__ Pack<Stored<OperandType<F, S, j>>, N> load(
      const Offsets<kOperands>& offsets) const {
    return load_pack<OperandType<F, S, j>, N>(operands_[j].data + offsets[j], row(j));
  }
  template <int j>
  __device__ __forceinline__ T number(Stored<OperandType<F, S, j>> element) const {
    return row(j) == Row::number ? operands_[j].number : convert<T, OperandType<F, S, j>>(element);
  }
  /// The result and a single input are always packs.
  __device__ __forceinline__ Row row(int j) const {
    return F::arity == 1 || j == 0 ? Row::packs : rows_.row[j];
  }
  template <typename A, typename B, typename C>
  __device__ __forceinline__ Stored<R> result(A a, B b, C c) const {
    T in[F::arity];
    in[0] = number<1>(a);
    if constexpr (F::arity >= 2) in[1] = number<2>(b);
    if constexpr (F::arity >= 3) in[2] = number<3>(c);
    using Computed = ResultType<F, T>;
    return convert<R, Computed>(static_cast<Stored<Computed>>(apply<F>(op_, in)));
  }

  const Op& op_;
  const Operands<kOperands, T>& operands_;
  const Rows<kOperands>& rows_;
};

template <typename F, typename T, typename S>
__global__ void elementwise_packed(typename F::template Op<T> op,
                                   Operands<F::arity + 1, T> operands, Rows<F::arity + 1> rows,
                                   StridedIndex<F::arity + 1> index, uint32_t packs,
                                   uint32_t numel) {
  const Packed<F, T, S> packed(op, operands, rows);
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t threads = gridDim.x * blockDim.x;
  for (uint32_t i = thread; i < packs; i += threads) packed.pack(index(i));
  for (uint32_t i = packs * packed.kPack + thread; i < numel; i += threads) packed.element(i);
}

/// Sets `rows` if the packed kernel for S can run the piece.
template <typename F, typename S>
bool find_rows(const Piece& piece, Rows<F::arity + 1>& rows) {
  for (int i = 0; i <= F::arity; ++i) {
    const ScalarType dtype = i == 0                 ? scalar_type_of<OperandType<F, S, 0>>
                             : i == mask_operand<F> ? kBool
                                                    : scalar_type_of<S>;
    const bool needs_packs = i == 0 || F::arity == 1;
    if (piece.iterator().operand(i).is_scalar && !needs_packs) {
      rows.row[i] = Row::number;
      continue;
    }
    const int64_t stride = piece.stride(i, 0);
    const bool adjacent = stride == static_cast<int64_t>(element_size(dtype));
    if (piece.dtype(i) != dtype || !(adjacent || (stride == 0 && !needs_packs))) return false;
    rows.row[i] = adjacent ? Row::packs : Row::repeated;
  }
  return true;
}

/// Whether all packs of a piece with these rows are aligned.
template <int kOperands>
bool is_aligned(const Piece& piece, const Rows<kOperands>& rows, int pack) {
  for (int i = 0; i < kOperands; ++i) {
    if (rows.row[i] != Row::packs) continue;
    const size_t size = element_size(piece.dtype(i));
    if (!suits_packs(piece.data(i), pack, size)) return false;
    for (int dim = 1; dim < piece.ndim(); ++dim) {
      if (!suits_packs(piece.stride(i, dim), pack, size)) return false;
    }
  }
  return piece.ndim() == 1 || piece.size(0) % pack == 0;
}

/// Whether the packed kernel for S ran the piece.
template <typename F, typename T, typename S>
bool run_packed(const Piece& piece, const typename F::template Op<T>& op, cudaStream_t stream) {
  constexpr int kPack = Packed<F, T, S>::kPack;
  Rows<F::arity + 1> rows;
  if (!find_rows<F, S>(piece, rows)) return false;
  const bool aligned = is_aligned(piece, rows, kPack);
  if (!aligned && piece.ndim() > 1) return false;
  const auto numel = static_cast<uint32_t>(piece.numel());
  const uint32_t packs = aligned ? numel / kPack : 0;
  launch(&elementwise_packed<F, T, S>, blocks_for(packs > 0 ? packs : numel), kBlockThreads, 0,
         stream, op, Operands<F::arity + 1, T>(piece), rows,
         StridedIndex<F::arity + 1>(piece, kPack), packs, numel);
  return true;
}

/// Whether a packed kernel ran the piece: the one of its first tensor's dtype.
template <typename F, typename T>
bool run_packed(const Piece& piece, const typename F::template Op<T>& op, cudaStream_t stream) {
  int first = 1;
  while (first < F::arity &&
         (first == mask_operand<F> || piece.iterator().operand(first).is_scalar))
    ++first;
  const ScalarType dtype = piece.dtype(first);
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == kHalf) return run_packed<F, T, Half>(piece, op, stream);
    if (dtype == kBFloat16) return run_packed<F, T, BFloat16>(piece, op, stream);
  }
  return dtype == scalar_type_of<T> && run_packed<F, T, T>(piece, op, stream);
}

template <typename F, typename T>
void elementwise_in(const TensorIterator& it, const Scalar* parameters) {
  if constexpr (functors::computes_in<F, T>) {
    const typename F::template Op<T> op(parameters);
    const KernelDevice device;
    for_each_piece(it, [&](const Piece& piece) {
      if (run_packed<F, T>(piece, op, device.stream())) return;
      launch(&elementwise_strided<F, T>, blocks_for(piece.numel(), kBlockThreads * kItems),
             kBlockThreads, 0, device.stream(), op, Operands<F::arity + 1, T>(piece),
             StridedIndex<F::arity + 1>(piece), static_cast<uint32_t>(piece.numel()));
    });
  } else {
    ebb::detail::raise_unsupported(it.dtype(1));
  }
}

/// The kernel of functor F.
template <typename F>
void elementwise(const TensorIterator& it, const Scalar* parameters) {
  switch (it.compute_type()) {
    case kFloat:
      return elementwise_in<F, float>(it, parameters);
    case kDouble:
      return elementwise_in<F, double>(it, parameters);
    default:
      return elementwise_in<F, int64_t>(it, parameters);
  }
}

/// The kernels of a list of functors (core/ops/functors/table.h), in its order.
template <ElementwiseFamily family, template <typename...> typename List, typename... Functors>
constexpr ElementwiseKernels<family> make_table(List<Functors...>) {
  static_assert(sizeof...(Functors) == kElementwiseKernels[static_cast<int>(family)]);
  return {{&elementwise<Functors>...}};
}

}  // namespace
}  // namespace ebb::cuda
