#pragma once

#include <cstdint>
#include <new>
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

/// The most bytes that a functor's numbers take.
inline constexpr size_t kMostOpBytes = 32;

/// What a functor has been compiled to: little, since its ops are many. Everything around its loops
/// is compiled once for all.
struct ElementwiseFunctor {
  /// Makes the functor's numbers from its parameters. Null if it has none.
  using Make = void (*)(void* op, const Scalar* parameters);
  struct InType {
    ElementwiseLoop::Function loop;  ///< null if it does not compute in the type
    Make make;
  };
  InType in_type[3];  ///< float, double, int64
  int8_t arity;
  bool boolean;  ///< whether its results are bool
};

/// Runs a functor over operands: adjacent ones of the compute type, if they are few, on the spot.
void run(const TensorIterator& iterator, const ElementwiseFunctor& functor,
         const Scalar* parameters);

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

template <typename F, typename T>
void make(void* op, const Scalar* parameters) {
  new (op) typename F::template Op<T>(parameters);
}

template <typename F, typename T>
constexpr ElementwiseFunctor::InType in_type() {
  if constexpr (functors::computes_in<F, T>) {
    using Op = typename F::template Op<T>;
    static_assert(sizeof(Op) <= kMostOpBytes && std::is_trivially_destructible_v<Op>);
    return {&apply<F, T>, std::is_empty_v<Op> ? nullptr : &make<F, T>};
  } else {
    return {nullptr, nullptr};
  }
}

template <typename F>
constexpr ElementwiseFunctor kFunctor = {{in_type<F, float>(), in_type<F, double>(),
                                          in_type<F, int64_t>()},
                                         F::arity,
                                         F::result == functors::Result::boolean};

/// The kernel of functor F.
template <typename F>
void elementwise(const TensorIterator& it, const Scalar* parameters) {
  run(it, kFunctor<F>, parameters);
}

/// The kernels of a list of functors (core/ops/functors/table.h), in its order.
template <ElementwiseFamily family, template <typename...> typename List, typename... Functors>
constexpr ElementwiseKernels<family> make_table(List<Functors...>) {
  static_assert(sizeof...(Functors) == kElementwiseKernels[static_cast<int>(family)]);
  return {{&elementwise<Functors>...}};
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
