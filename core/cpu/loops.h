#pragma once

#include <cstdint>
#include <type_traits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/ops/functors/functor.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/tensor_iterator.h>

// How the CPU runs an elementwise functor. The functor is instantiated for float, double and int64
// as one loop over adjacent elements, which the compiler vectorises. Operands of another dtype, or
// not adjacent, are loaded into blocks that stay in cache, and results are stored from such a
// block: the loading and storing (convert.cpp) is compiled once for all functors.

// The iterations of a loop do not depend on each other, though pointers may be equal.
#if defined(__clang__)
#define EBB_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EBB_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace ebb::cpu::EBB_CPU_CAPABILITY {

/// A tile of a tensor: `rows` rows of `columns` elements, strides in bytes.
struct Tile {
  int64_t columns;
  int64_t rows;
  int64_t column_stride;
  int64_t row_stride;
};

/// Reads the elements of a tile into adjacent numbers of a compute type, converting them; and the
/// other way round.
using Load = void (*)(void* to, const char* from, const Tile& tile);
using Store = void (*)(char* to, const void* from, const Tile& tile);

/// The loads into a compute type (float, double or int64) from each dtype.
const Load* loads(ScalarType compute_type);
/// The stores of a compute type, or of bool, to each dtype. Floating point to integer goes towards
/// zero through int64, NaN and what does not fit in int64 gives its least number; narrower integers
/// wrap around.
const Store* stores(ScalarType from);

/// A loop over n adjacent elements with its functor's numbers.
struct ElementwiseLoop {
  using Function = void (*)(const void* op, void* out, const void* const* in, int64_t n);
  Function function;
  const void* op;
  int arity;
  ScalarType result;  ///< what the loop writes: the compute type or bool
};

/// Runs a loop over any operands: converting, broadcasting, on several threads.
void run(const TensorIterator& iterator, const ElementwiseLoop& loop);

namespace {

template <typename F, typename T>
void apply(const void* op, void* out, const void* const* in, int64_t n) {
  using Op = typename F::template Op<T>;
  using R = std::conditional_t<F::result == functors::Result::boolean, uint8_t, T>;
  const Op f = *static_cast<const Op*>(op);
  R* const result = static_cast<R*>(out);
  const T* const a = static_cast<const T*>(in[0]);
  if constexpr (F::arity == 1) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) result[i] = static_cast<R>(f(a[i]));
  } else if constexpr (F::arity == 2) {
    const T* const b = static_cast<const T*>(in[1]);
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) result[i] = static_cast<R>(f(a[i], b[i]));
  } else {
    static_assert(F::arity == 3);
    const T* const b = static_cast<const T*>(in[1]);
    const T* const c = static_cast<const T*>(in[2]);
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) result[i] = static_cast<R>(f(a[i], b[i], c[i]));
  }
}

/// Up to that many elements a number among the operands is repeated on the stack.
constexpr int64_t kFewElements = 32;

/// Whether all operands are adjacent, or numbers beside few elements, and of the types that the
/// loop works on: what needs no blocks.
template <int arity>
bool is_direct(const TensorIterator& it, ScalarType result) {
  if (it.dtype(0) != result || !it.is_contiguous(0)) return false;
  for (int i = 1; i <= arity; ++i) {
    const bool fits =
        it.is_contiguous(i) || (it.operand(i).is_scalar && it.numel() <= kFewElements);
    if (!fits || it.dtype(i) != it.compute_type()) return false;
  }
  return true;
}

template <typename F, typename T>
void elementwise_in(const TensorIterator& it, const Scalar* parameters) {
  if constexpr (functors::computes_in<F, T>) {
    const typename F::template Op<T> op(parameters);
    const ScalarType result = F::result == functors::Result::boolean ? kBool : scalar_type_of<T>;
    if (it.numel() <= kGrain && is_direct<F::arity>(it, result)) {
      const void* in[F::arity];
      T repeated[F::arity][kFewElements];
      for (int i = 0; i < F::arity; ++i) {
        in[i] = it.data(i + 1);
        if (it.is_contiguous(i + 1)) continue;
        const T number = *static_cast<const T*>(in[i]);
        for (int64_t k = 0; k < it.numel(); ++k) repeated[i][k] = number;
        in[i] = repeated[i];
      }
      apply<F, T>(&op, it.data(0), in, it.numel());
      return;
    }
    run(it, {&apply<F, T>, &op, F::arity, result});
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
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
