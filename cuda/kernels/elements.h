#pragma once

#include <cstring>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/error.h>
#include <ebb/core/tensor/scalar_type.h>
#include <ebb/cuda/kernels/pack.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/runtime/device_code.h>

// Loads and stores of elements whose dtype is known at run time only: kernels compute in float,
// double or int64 and convert at the edges, so that there are three kernels for an op and not a
// hundred. All threads take the same branch.

namespace ebb::cuda {

using cpu::convert;
using cpu::Stored;

/// Calls f(T{}) with the C++ type of `type`: the device's switch over dtypes.
template <typename F>
__device__ __forceinline__ void dispatch_element(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Byte:
      return f(uint8_t{});
    case ScalarType::Char:
      return f(int8_t{});
    case ScalarType::Short:
      return f(int16_t{});
    case ScalarType::Int:
      return f(int32_t{});
    case ScalarType::Long:
      return f(int64_t{});
    case ScalarType::Half:
      return f(Half{});
    case ScalarType::Float:
      return f(float{});
    case ScalarType::Double:
      return f(double{});
    case ScalarType::Bool:
      return f(bool{});
    case ScalarType::BFloat16:
      return f(BFloat16{});
    case ScalarType::Undefined:
      break;
  }
  __builtin_unreachable();  // tensors have a dtype
}

/// The element at `from` as a number of type T.
template <typename T, typename From>
__device__ __forceinline__ T load_element(const char* from) {
  return convert<T, From>(*reinterpret_cast<const Stored<From>*>(from));
}

/// Makes the element at `to` the number `value`.
template <typename To, typename T>
__device__ __forceinline__ void store_element(char* to, Stored<T> value) {
  *reinterpret_cast<Stored<To>*>(to) = convert<To, T>(value);
}

/// N elements of that dtype as numbers of type T. All loads are on their way before the first is
/// used.
template <typename T, int N>
__device__ __forceinline__ void load_elements(ScalarType dtype, char* const (&from)[N],
                                              T (&to)[N]) {
  dispatch_element(dtype, [&](auto zero) {
    using From = decltype(zero);
    for (int k = 0; k < N; ++k) to[k] = load_element<T, From>(from[k]);
  });
}

/// Stores those of N numbers of type T (bool: bytes) that exist as elements of that dtype.
template <typename T, int N>
__device__ __forceinline__ void store_elements(ScalarType dtype, char* const (&to)[N],
                                               const Stored<T> (&values)[N],
                                               const bool (&exists)[N]) {
  dispatch_element(dtype, [&](auto zero) {
    using To = decltype(zero);
    for (int k = 0; k < N; ++k) {
      if (exists[k]) store_element<To, T>(to[k], values[k]);
    }
  });
}

/// The N adjacent elements from element `first` on, a multiple of N, as numbers of type T. `from` is
/// aligned as a pack.
template <typename T, int N>
__device__ __forceinline__ void load_run(ScalarType dtype, const char* from, int64_t first,
                                         T (&to)[N]) {
  dispatch_element(dtype, [&](auto zero) {
    using From = decltype(zero);
    const auto pack = reinterpret_cast<const Pack<Stored<From>, N>*>(from)[first / N];
    for (int k = 0; k < N; ++k) to[k] = convert<T, From>(pack[k]);
  });
}

/// The other way round.
template <typename T, int N>
__device__ __forceinline__ void store_run(ScalarType dtype, char* to, int64_t first,
                                          const T (&values)[N]) {
  dispatch_element(dtype, [&](auto zero) {
    using To = decltype(zero);
    Pack<Stored<To>, N> pack;
    for (int k = 0; k < N; ++k) pack[k] = convert<To, T>(values[k]);
    // Indexed as packs, so that the compiler sees their alignment.
    reinterpret_cast<Pack<Stored<To>, N>*>(to)[first / N] = pack;
  });
}

/// An operand of a kernel that computes in T: elements in device memory, or a number.
template <typename T>
struct Operand {
  char* data;
  T number;
  ScalarType dtype;
  bool is_number;
};

/// The operands of a kernel, as its argument.
template <int kOperands, typename T>
struct Operands {
  Operand<T> operand[kOperands];

  /// The first kOperands operands of a piece; the compute type of its iterator must be T where it
  /// has numbers.
  explicit Operands(const Piece& piece) {
    for (int i = 0; i < kOperands; ++i) {
      const bool is_number = piece.iterator().operand(i).is_scalar;
      operand[i] = {is_number ? nullptr : piece.data(i), T{}, piece.dtype(i), is_number};
      if (is_number) std::memcpy(&operand[i].number, piece.iterator().data(i), sizeof(T));
    }
  }
  EBB_INLINE const Operand<T>& operator[](int i) const { return operand[i]; }
};

}  // namespace ebb::cuda
